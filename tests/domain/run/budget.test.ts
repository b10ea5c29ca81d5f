/** Scripted conversations against an API that counts, caches and fails as it likes: what they come to, and what was allowed. */

import { describe, expect, test } from 'vitest';
import { noUsage, totalTokens, type Usage } from '../../../src/domain/conversation/conversation.ts';
import { conversationTokens, nextRequest } from '../../../src/domain/run/budget.ts';
import type { RunAction } from '../../../src/domain/run/events.ts';
import { advance } from '../../../src/domain/run/fold/advance.ts';
import { reservedPrice } from '../../../src/domain/run/pricing.ts';
import { type RunState, startOf } from '../../../src/domain/run/state.ts';
import { stopReason } from '../../../src/domain/run/stop-reason.ts';
import { MESSAGES } from '../../../src/prompts.ts';
import { call, completed, limits, started, turn } from '../../support/runs/events.ts';

const CONVERSATIONS = 100;
const MODELS = ['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5'];

/** Mulberry32: the same numbers each time. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Played {
  readonly state: RunState;
  readonly caps: { maxTotalTokens: number | null; maxCostUsd: number | null };
  /** Tokens by which the estimate of a prompt was too low, at most; 0 when it never was. */
  readonly short: number;
  readonly turns: number;
}

/** `bytesPerToken` is how dense the text of this conversation is. */
function play(seed: number, bytesPerToken: number): Played {
  const random = numbersFrom(seed);
  const upTo = (most: number): number => Math.floor(random() * most);
  const text = (most: number): string => 'a'.repeat(1 + upTo(most));
  const model = MODELS[upTo(MODELS.length)] ?? '';
  const caps = {
    maxTotalTokens: random() < 0.3 ? null : 5_000 + upTo(random() < 0.5 ? 60_000 : 1_000_000),
    maxCostUsd: random() < 0.3 ? null : 0.001 + random() * (random() < 0.5 ? 0.2 : 3),
  };
  const modelSettings = { ...started.modelSettings, maxOutputTokens: 8_192 + upTo(24_000) };
  const opening = { model, system: text(6_000), prompt: text(20_000), modelSettings };
  let state = startOf({ ...started, ...opening, seq: 1, at: 0 });
  let short = 0;
  const add = (action: RunAction): void => {
    state = advance(state, { ...action, seq: state.seq + 1, at: 0 });
  };
  const usageOf = (most: number): Usage => {
    const known = state.counted?.tokens ?? 0;
    const added = newBytes(state);
    const prompt = known + Math.ceil(added / bytesPerToken);
    short = Math.max(short, prompt - known - added / 2);
    const hit = random() < 0.7 ? known : 0;
    const written = random() < 0.9 ? prompt - hit : 0;
    const output = Math.min(most, 1 + upTo(random() < 0.8 ? 2_000 : 40_000));
    return { ...noUsage, input: prompt - hit - written, cacheRead: hit, cacheWrite: written, output };
  };
  const stops = () => stopReason({ ...state, cutOffsInARow: 0, repeats: 0 }, capped(caps)) !== null;
  for (let n = 1; !stops(); n += 1) {
    if (n > 1_000) throw new Error(`The conversation of seed ${seed} has no end.`);
    const next = nextRequest(state, caps);
    if (next.status === 'last_turn') add({ type: 'budget.reached', ...next.cap, text: MESSAGES.lastTurn });
    if (next.status !== 'ask') continue;
    const usage = usageOf(next.maxOutputTokens);
    if (random() < 0.2) {
      const failure = { attempt: 2, kind: 'stream', status: null, cause: 'x', waitMs: 1 } as const;
      add({ type: 'turn.retried', ...failure, spent: { usage, estimated: true } });
      continue;
    }
    const isCut = usage.output === next.maxOutputTokens;
    add(turn({ model, usage, ...(isCut ? { text: 'x', stop: 'max_tokens' } : { calls: [call(`c${n}`)] }) }));
    if (isCut) add({ type: 'message.added', text: 'Go on.' });
    else add(completed(`c${n}`, text(random() < 0.8 ? 4_000 : 40_000)));
  }
  return { state, caps, short, turns: state.iterations };
}

function newBytes({ conversation: { system, messages }, counted }: RunState): number {
  const added = messages.slice(counted?.messages ?? 0).map(({ content }) => JSON.stringify(content));
  return added.join('').length + (counted === null ? system.length : 0);
}

const capped = (caps: Played['caps']) => ({ ...limits, ...caps, maxIterations: 60 });

/** What the caps were exceeded by, in tokens and in the tokens of a prompt that the money would have bought. */
function exceededBy({ state, caps: { maxTotalTokens, maxCostUsd } }: Played): number {
  const tokens = maxTotalTokens === null ? 0 : totalTokens(state.usage) - maxTotalTokens;
  const perToken = reservedPrice(state.model, state.lastPromptTokens, null)?.prompt ?? Number.NaN;
  const usd = maxCostUsd === null ? 0 : (state.costUsd ?? Number.NaN) - maxCostUsd;
  return Math.max(tokens, usd / perToken);
}

const seeds = Array.from({ length: CONVERSATIONS }, (_, seed) => seed);

describe('a cap', () => {
  test.each([2, 3, 4.5])('is never exceeded with text of %d bytes a token', (bytesPerToken) => {
    const played = seeds.map((seed) => play(seed, bytesPerToken));
    expect(Math.max(...played.map(exceededBy))).toBeLessThanOrEqual(1e-6);
    expect(played.reduce((sum, { turns }) => sum + turns, 0)).toBeGreaterThan(2 * CONVERSATIONS);
  });

  test.each([1, 1.5])(
    'is exceeded by no more than the estimate is short, with text of %d bytes a token',
    (dense) => {
      for (const played of seeds.map((seed) => play(seed, dense)))
        expect(exceededBy(played)).toBeLessThanOrEqual(played.short + 1);
    },
  );

  test('is used up for the most part', () => {
    const shares = seeds.map((seed) => {
      const { state, caps } = play(seed, 4);
      return Math.max(
        totalTokens(state.usage) / (caps.maxTotalTokens ?? Number.POSITIVE_INFINITY),
        (state.costUsd ?? 0) / (caps.maxCostUsd ?? Number.POSITIVE_INFINITY),
      );
    });
    const sorted = shares.filter((share) => share > 0).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeGreaterThan(0.6);
  });
});

test('an image counts by its size in pixels, not by its bytes', () => {
  const image = { mediaType: 'image/png' as const, width: 1_500, height: 1_000, data: 'A'.repeat(4_000_000) };
  let state = startOf({ ...started, seq: 1, at: 0 });
  const add = (action: RunAction): void => {
    state = advance(state, { ...action, seq: state.seq + 1, at: 0 });
  };
  const before = conversationTokens(state);
  add(turn({ calls: [call('c1')], usage: noUsage }));
  add({
    ...{ type: 'tool.completed', call: 'c1', durationMs: 0 },
    outcome: { status: 'ok', text: 'An image.', images: [image, image] },
  });
  expect(conversationTokens({ ...state, counted: null }) - before).toBeGreaterThan(4_000);
  expect(conversationTokens({ ...state, counted: null }) - before).toBeLessThan(4_500);
});
