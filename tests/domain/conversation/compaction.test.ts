import { describe, expect, test } from 'vitest';
import {
  type CompactionSettings,
  defaultCompactAt,
  dueCompaction,
  windowOf,
} from '../../../src/domain/conversation/compaction.ts';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import { summaryTokens } from '../../../src/domain/run/budget.ts';
import type { RunAction, RunStarted } from '../../../src/domain/run/events.ts';
import type { RunState } from '../../../src/domain/run/state.ts';
import { stopReason } from '../../../src/domain/run/stop-reason.ts';
import { call, completed, limits, stateAfter, turn } from '../../support/runs/events.ts';

const settings: CompactionSettings = { strategy: 'summarize', at: 10_000 };
const summary = (state: RunState): RunAction => {
  const due = dueCompaction(state, state.compaction);
  if (due === null) throw new Error('Nothing is due.');
  const answer = turn({ text: 'what was', usage: { ...noUsage, cacheRead: 9_000, output: 500 } });
  return {
    ...{ type: 'context.compacted', ...due, tokens: state.counted?.tokens ?? 0, text: 'what was' },
    ...(answer.type === 'turn.completed' ? { turn: answer.turn } : {}),
  };
};

/** So many rounds, of which the last answer has brought the conversation to so many tokens. */
function rounds(count: number, tokens: number, name = 'c'): RunAction[] {
  return Array.from({ length: count }, (_, at) => [
    turn({
      calls: [call(`${name}${at}`)],
      usage: { ...noUsage, cacheRead: Math.round((tokens * (at + 1)) / count) - 100, output: 100 },
    }),
    completed(`${name}${at}`, `${name}${at} ok`),
  ]).flat();
}

const play = (
  actions: readonly RunAction[],
  part: Partial<CompactionSettings> = {},
  start: Partial<RunStarted> = {},
) => stateAfter(actions, { compaction: { ...settings, ...part }, ...start });
const due = (state: RunState) => dueCompaction(state, state.compaction);

describe('a compaction', () => {
  test('is due when the provider itself has counted so many tokens, cached ones included', () => {
    expect(due(play(rounds(6, 9_999)))).toBeNull();
    expect(due(play(rounds(6, 10_000)))).toEqual({ how: 'summarize', why: 'tokens', cut: 7 });
    expect(due(play(rounds(6, 10_000), { strategy: 'server' }))).toMatchObject({ how: 'server' });
    expect(due(play(rounds(6, 10_000_000), { strategy: 'none' }))).toBeNull();
  });

  test('waits until there is something to summarise before the last six messages', () => {
    expect(due(play(rounds(3, 20_000)))).toBeNull();
    expect(due(play(rounds(4, 20_000)))).toMatchObject({ cut: 3 });
  });

  test('is followed by the next one only after the conversation has grown by half of what is allowed', () => {
    const actions = rounds(6, 10_000);
    const compacted = [...actions, summary(play(actions))];
    expect(play(compacted)).toMatchObject({
      counted: null,
      conversation: { segment: 1 },
      compaction: { base: null, done: [{ dropped: 6, kept: 6, tokens: 10_000, iteration: 6 }] },
    });
    // A segment that is large from its beginning.
    const large = (tokens: number) =>
      play([...compacted, ...rounds(1, 9_000, 'd'), ...rounds(1, tokens, 'e')]);
    expect(due(play(compacted))).toBeNull();
    expect(due(large(13_999))).toBeNull();
    expect(due(large(14_000))).toMatchObject({ how: 'summarize' });
  });

  test('that failed is tried again after a quarter of what is allowed, and one without room in the caps never', () => {
    const actions = rounds(6, 10_000);
    const failed = (kind: 'outage' | 'budget'): RunAction => ({
      type: 'compaction.failed',
      kind,
      message: 'm',
    });
    const then = (kind: 'outage' | 'budget', tokens: number) =>
      play([...actions, failed(kind), ...rounds(1, tokens, 'd')]);
    expect(due(play([...actions, failed('outage')]))).toBeNull();
    expect([due(then('outage', 12_499)), due(then('outage', 12_500))]).toMatchObject([null, { cut: 9 }]);
    expect(due(then('budget', 1_000_000))).toBeNull();
    expect(then('outage', 12_500)).toMatchObject({ providerFailure: null, compaction: { failures: 1 } });
  });

  test('counts its tokens and its money like any other request', () => {
    const actions = rounds(6, 10_000);
    const before = play(actions);
    const after = play([...actions, summary(before)]);
    expect(after.usage.output - before.usage.output).toBe(500);
    expect((after.costUsd ?? 0) - (before.costUsd ?? 0)).toBeCloseTo(9_000 * 0.1e-6 + 500 * 10e-6);
    expect(after.compaction.done[0]?.costUsd).toBeCloseTo(9_000 * 0.1e-6 + 500 * 10e-6);
    expect(after.iterations).toBe(before.iterations);
  });

  test('is not made after the last answer was announced', () => {
    const reached: RunAction = {
      type: 'budget.reached',
      limit: 'tokens',
      value: 1,
      used: 1,
      needed: 1,
      text: 'last',
    };
    expect(due(play([...rounds(6, 10_000), reached]))).toBeNull();
  });
});

describe('a full window', () => {
  const tooLarge: RunAction = { type: 'turn.failed', kind: 'too_large', message: 'prompt is too long' };
  const full = turn({ text: 'half a', stop: 'context_window' });
  const cut = (at: number): RunAction => ({
    ...{ type: 'context.compacted', how: 'cut', why: 'window', tokens: 9_000, cut: at, text: 'cut' },
  });

  test('ends a run without compaction, as it did', () => {
    const ended = [tooLarge, full].map((event) => play([...rounds(6, 9_000), event], { strategy: 'none' }));
    for (const state of ended) expect(stopReason(state, limits)).toMatchObject({ limit: 'context_window' });
  });

  test('is cut by half in whole rounds, and the answer that did not fit is requested again', () => {
    for (const event of [tooLarge, full]) {
      const state = play([...rounds(6, 9_000), event]);
      expect(stopReason(state, limits)).toBeNull();
      expect(due(state)).toEqual({ how: 'cut', why: 'window', cut: 7 });
      const after = play([...rounds(6, 9_000), event, cut(7)]);
      expect([due(after), stopReason(after, limits)]).toEqual([null, null]);
      expect(after.conversation.messages).toHaveLength(7);
      // It is known by now how much fits.
      expect(after.compaction.window).toBe(9_000);
    }
  });

  test('is cut until one round is left, and then the run ends', () => {
    const actions = [...rounds(4, 9_000), tooLarge, cut(5), tooLarge, cut(3), tooLarge];
    expect(stopReason(play(actions), limits)).toMatchObject({ why: 'limit', limit: 'context_window' });
  });

  test('moves the next compaction to three fifths of what fitted', () => {
    const actions = [...rounds(6, 9_000), tooLarge, cut(7)];
    const at = (tokens: number) =>
      due(play([...actions, ...rounds(1, 1_000, 'd'), ...rounds(1, tokens, 'e')]));
    expect([at(5_399), at(5_400)]).toMatchObject([null, { why: 'tokens' }]);
  });
});

describe('the room for a summary', () => {
  test('is what the caps leave after the request that follows it', () => {
    const state = play(rounds(6, 10_000));
    expect(summaryTokens(state, limits)).toBe(16_384);
    const used = 35_000;
    const capped = (maxTotalTokens: number) =>
      summaryTokens({ ...state, usage: { ...noUsage, input: used } }, { ...limits, maxTotalTokens });
    expect(capped(used + 20_000)).toBeNull();
    const room = capped(used + 2 * 12_000 + 3 * 4_096) ?? 0;
    expect(room).toBeGreaterThanOrEqual(4_096);
    expect(room).toBeLessThan(8_000);
  });
});

test('a small window has its share, a large and an unknown one the same 80,000 tokens', () => {
  const at = ['claude-sonnet-5-5', 'claude-sonnet-4-5-20250929', 'qwen3-coder', 'gpt-4o'].map((model) =>
    defaultCompactAt(windowOf(model)),
  );
  expect(at).toEqual([80_000, 80_000, 80_000, 76_800]);
  expect(defaultCompactAt(32_000)).toBe(19_200);
});
