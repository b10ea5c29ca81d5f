/** What the vendor counts and bills, from its own pages; the product has a table of its own. */

import type { Usage } from '../../../src/domain/conversation/conversation.ts';

/** No tokens at all. */
export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };

type Kind = keyof Usage;
const KINDS = Object.keys(noUsage) as Kind[];

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return Object.fromEntries(KINDS.map((kind) => [kind, a[kind] + b[kind]])) as unknown as Usage;
}

/** All tokens, cached or not. */
export function totalTokens(usage: Usage): number {
  return KINDS.reduce((sum, kind) => sum + usage[kind], 0);
}

/** USD per million tokens: input, output, cache read, cache write for five minutes and for an hour. */
const PRICES: Readonly<Record<string, readonly number[]>> = {
  'claude-sonnet-5-5': [2, 10, 0.1, 2.5, 4],
  'claude-opus-5-5': [4, 20, 0.2, 5, 8],
  'claude-haiku-5-5': [0.1, 0.5, 0.01, 0.125, 0.2],
  'claude-haiku-5-5 over 100,000': [0.5, 2.5, 0.05, 0.625, 1],
  'claude-sonnet-4-6': [3, 15, 0.3, 3.75, 6],
  'claude-sonnet-4-5': [3, 15, 0.3, 3.75, 6],
};

/** The bill for one answer in USD; null for a model that has no price. */
export function costOf(model: string, usage: Usage): number | null {
  if (totalTokens(usage) === 0) return 0;
  const isLong = totalTokens(usage) - usage.output > 100_000;
  const prices = (isLong ? PRICES[`${model} over 100,000`] : undefined) ?? PRICES[model];
  if (prices === undefined) return null;
  return KINDS.reduce((sum, kind, at) => sum + (usage[kind] * (prices[at] ?? 0)) / 1e6, 0);
}
