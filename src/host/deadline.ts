/** Everything that stops a run from outside, as one signal: the process's signals and the deadline. */

import type { Interruption } from '../domain/run/limits.ts';
import type { ProcessParts } from './process-parts.ts';

/** What cuts a run short: a signal or the deadline. */
export interface Interrupt {
  /** Its reason is an `Interruption`. */
  readonly signal: AbortSignal;
  /** A signal that aborts this much later, for what remains to be done after the interrupt. */
  after(graceMs: number): AbortSignal;
  /** Cancels the deadline, so that it no longer keeps the process alive. */
  stopClock(): void;
}

/** `deadlineMs` is at most 2^31 - 1, the longest delay of a timer. */
export function openInterrupt(
  { interrupt: signals, askIn }: Pick<ProcessParts, 'interrupt' | 'askIn'>,
  deadlineMs: number,
): Interrupt {
  const deadline = new AbortController();
  const passed: Interruption = { cause: 'deadline' };
  const timer = setTimeout(() => deadline.abort(passed), deadlineMs);
  const takeBack = askIn?.(deadlineMs);
  const signal = AbortSignal.any([signals, deadline.signal]);
  const timers = [timer];
  return {
    signal,
    after(graceMs) {
      const later = new AbortController();
      const start = () => timers.push(setTimeout(() => later.abort(signal.reason), graceMs));
      if (signal.aborted) start();
      else signal.addEventListener('abort', start, { once: true });
      return later.signal;
    },
    stopClock() {
      for (const one of timers) clearTimeout(one);
      takeBack?.();
    },
  };
}

/** Resolves with null if the signal aborts before the work has ended; the work goes on, but its result is ignored. */
export async function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T | null> {
  if (signal.aborted) {
    work.catch(() => undefined);
    return null;
  }
  let stop = (): void => undefined;
  const aborted = new Promise<null>((resolve) => {
    stop = () => resolve(null);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
