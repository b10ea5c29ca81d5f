import { describe, expect, test } from 'vitest';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import { divergenceOf, withoutTimes } from '../../../src/domain/journal/divergence.ts';
import type { RunAction, RunEvent } from '../../../src/domain/run/events.ts';
import { call, commandEnd, started, turn } from '../../support/runs/events.ts';

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
  test('whenever they happened and however long they took', () => {
    expect(
      said(ran('[exit code 0]'), { ...ran('[exit code 0]', { durationMs: 9 }), durationMs: 3 } as RunAction),
    ).toBe(null);
    expect(said(ran('ok 1 in 0.31s'), ran('ok 1 in 12.5s'))).toBe(null);
  });

  test('whichever run, version and machine they belong to', () => {
    expect(
      said(started, { ...started, runId: 'r2', patchsmith: '9', root: '/elsewhere', sandbox: 'namespaces' }),
    ).toBe(null);
  });

  test('whatever was reserved for a request, and whoever may read the files of the copy', () => {
    const sent = (input: number): RunAction => ({ type: 'request.sent', reserved: { ...noUsage, input } });
    expect(said(sent(3_327), sent(3_328))).toBe(null);
    const removed = (state: object): RunAction => {
      const before = { mode: '100644', blob: '1'.repeat(40), size: 3, ...state } as const;
      const source = { by: 'setup' } as const;
      const change = { path: 'key', kind: 'delete', before, after: null, source, iteration: 0 } as const;
      return { type: 'change.recorded', changes: [change] };
    };
    expect(said(removed({ isPrivate: true }), removed({}))).toBe(null);
  });

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

  test('another tree to begin with', () => {
    const base = { commit: null, tree: 't0', branch: null, dirty: false, objectFormat: 'sha1' } as const;
    const other = { ...started, base: { ...base, tree: 't1' } };
    expect(said({ ...started, base }, other)).toBe(
      `event 7 (run.started), base.tree: expected "t0", got "t1"`,
    );
  });

  test('another event, or none', () => {
    const start: RunAction = { type: 'tool.started', call: call('c'), iteration: 1 };
    expect(said(start, turn({ text: 'hi' }))).toBe(
      'event 7: expected tool.started read_file c, got turn.completed',
    );
    expect(said(start, undefined)).toBe('event 7: expected tool.started read_file c, got nothing more');
    expect(said(undefined, start)).toBe('event 7: expected nothing more, got tool.started read_file c');
  });

  test('another compaction, or another reason why there was none', () => {
    const compacted: RunAction = {
      ...{ type: 'context.compacted', how: 'summarize', why: 'tokens', tokens: 9_000, cut: 5 },
      text: 'what was',
    };
    expect(said(compacted, { ...compacted, tokens: 9_001 })).toBe(null);
    expect(said(compacted, { ...compacted, text: 'what is' })).toBe(
      'event 7 (context.compacted), text: expected "what was", got "what is"',
    );
    expect(said(compacted, { ...compacted, cut: 7 })).toBe(
      'event 7 (context.compacted), cut: expected 5, got 7',
    );
    const failed: RunAction = { type: 'compaction.failed', kind: 'no_summary', message: 'empty' };
    expect(said(failed, { ...failed, kind: 'budget' })).toBe(
      'event 7 (compaction.failed), kind: expected "no_summary", got "budget"',
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
