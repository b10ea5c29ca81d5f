import { describe, expect, test } from 'vitest';
import { divergenceOf, withoutTimes } from '../../../src/domain/journal/divergence.ts';
import type { RunAction, RunEvent } from '../../../src/domain/run/events.ts';
import { commandEnd } from '../../support/runs/events.ts';

const event = (action: RunAction, seq = 7): RunEvent => ({ ...action, seq, at: seq * 1_000 });

const ran = (text: string, end: Partial<ReturnType<typeof commandEnd>> = {}): RunAction => ({
  type: 'tool.completed',
  call: 'c',
  outcome: { status: 'ok', text, command: { ...commandEnd(0), ...end } },
  durationMs: 10,
});

const said = (expected: RunAction | undefined, got: RunAction | undefined) =>
  divergenceOf(expected && event(expected), got && { ...event(got), at: 0 });

describe('events of two runs are the same', () => {
  test('when a command was cut short, however far it had come', () => {
    expect(said(ran('half', { interrupted: true }), ran('', { interrupted: true }))).toBe(null);
    const outcome = { status: 'failed', reason: 'interrupted', text: 'Not run.' } as const;
    const notRun: RunAction = { type: 'tool.completed', call: 'c', outcome, durationMs: 0 };
    expect(said(ran('half', { interrupted: true }), notRun)).toBe(null);
    expect(said(ran('whole'), notRun)).not.toBe(null);
  });
});

describe('a divergence names', () => {
  test('the event, the field, and both values from a little before they part', () => {
    const long = 'x'.repeat(50);
    expect(said(ran(`${long}a`), ran(`${long}b`))).toBe(
      `event 7 (tool.completed c), outcome.text: expected "…${'x'.repeat(20)}a", got "…${'x'.repeat(20)}b"`,
    );
    expect(said(ran('a'), ran('a', { exitCode: 3 }))).toBe(
      'event 7 (tool.completed c), outcome.command.exitCode: expected 0, got 3',
    );
  });
});

test.each([
  ['2026-11-21T11:40:00.123Z', '<time>'],
  ['2026-11-21 11:40:00 +0100 a', '<time> a'],
  ['-rw-r--r-- 1 u u 5 Nov 21 11:40 a', '-rw-r--r-- 1 u u 5 <time> a'],
  ['-rw-r--r-- 1 u u 5 Jan  1  2024 a', '-rw-r--r-- 1 u u 5 <time> a'],
  ['  duration_ms: 1.5', '  duration_ms: <time>'],
  ['# duration_ms 1234.5', '# duration_ms <time>'],
  ['Ran 3 tests in 0.012s', 'Ran 3 tests in <time>'],
  ['Time: 2.1 seconds, 5 ms', 'Time: <time>, <time>'],
  ['11:40:00 done', '<time> done'],
  ['3 files, 12 tests, v1.2.3, 5 men, 0x5s', '3 files, 12 tests, v1.2.3, 5 men, 0x5s'],
])('in %j only times are blanked', (text, blanked) => {
  expect(withoutTimes(text)).toBe(blanked);
});
