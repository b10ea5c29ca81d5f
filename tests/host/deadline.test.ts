import { describe, expect, test } from 'vitest';
import { openInterrupt, raceAbort } from '../../src/host/deadline.ts';

const sigint = { cause: 'signal', signal: 'SIGINT' } as const;
const never = new Promise<string>(() => undefined);

describe('what stops a run', () => {
  test('is a signal of the process, with its reason', () => {
    const signals = new AbortController();
    const { signal, stopClock } = openInterrupt({ interrupt: signals.signal }, 60_000);
    signals.abort(sigint);
    expect(signal.reason).toEqual(sigint);
    stopClock();
  });

  test('is the deadline', async () => {
    const { signal } = openInterrupt({ interrupt: new AbortController().signal }, 5);
    expect(await raceAbort(signal, never)).toBeNull();
    expect(signal.reason).toEqual({ cause: 'deadline' });
  });
});

test('work is waited for unless it is aborted before or meanwhile', async () => {
  const controller = new AbortController();
  expect(await raceAbort(controller.signal, Promise.resolve('done'))).toBe('done');
  const waiting = raceAbort(controller.signal, never);
  controller.abort();
  expect(await waiting).toBeNull();
  expect(await raceAbort(controller.signal, Promise.reject(new Error('too late to matter')))).toBeNull();
});
