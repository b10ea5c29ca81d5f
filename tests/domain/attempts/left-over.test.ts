import { expect, test } from 'vitest';
import { ofWholeRun, withLeftOver } from '../../../src/domain/attempts/attempts.ts';
import { TWO_ATTEMPTS } from '../../support/runs/finished-run.ts';

const usage = { input: 0, output: 10_000, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
const [one, two] = TWO_ATTEMPTS.list;
if (one === undefined || two === undefined) throw new Error('There are two attempts.');
const attempts = (costUsd: number | 'unknown') => ({
  chosen: 1,
  list: [
    { ...one, number: 1 },
    { ...two, number: 2, tokens: usage, costUsd },
  ],
});
const stop = (limit: 'cost_usd' | 'tokens', value: number, used: number, needed: number) =>
  ({ why: 'limit', limit, value, used, needed }) as const;
const caps = { maxCostUsd: 4, maxTotalTokens: null };

test('what the others did not spend is added to the share of the chosen one', () => {
  expect(withLeftOver(caps, attempts(0.5), stop('cost_usd', 2, 1.9, 0.3))).toEqual({
    maxCostUsd: 3.5,
    maxTotalTokens: null,
  });
  const both = { maxCostUsd: 4, maxTotalTokens: 100_000 };
  expect(withLeftOver(both, attempts(0.5), stop('tokens', 50_000, 49_000, 9_000))).toEqual({
    maxCostUsd: 3.5,
    maxTotalTokens: 90_000,
  });
});

test.each([
  ['another reason', caps, 0.5, { why: 'completed', summary: '' }],
  ['another limit', caps, 0.5, { why: 'limit', limit: 'iterations', value: 25, used: 25 }],
  ['a cost that is not known', caps, 'unknown', stop('cost_usd', 2, 1.9, 0.3)],
  ['too little for the next request', caps, 1.9, stop('cost_usd', 2, 1.9, 0.3)],
  ['no end at all', caps, 0.5, null],
] as const)('nothing is left over for %s', (_, shared, costUsd, why) => {
  expect(withLeftOver(shared, attempts(costUsd), why)).toBeNull();
});

test('a cap is reported as the cap of the whole run', () => {
  const own = stop('cost_usd', 0.3, 0.1, 0.3);
  expect(ofWholeRun(own, attempts(0.1))).toEqual({ ...own, value: 0.4, used: 0.2 });
  const tokens = stop('tokens', 5_000, 4_000, 2_000);
  expect(ofWholeRun(tokens, attempts('unknown'))).toEqual({ ...tokens, value: 15_000, used: 14_000 });
  const iterations = { why: 'limit', limit: 'iterations', value: 25, used: 25 } as const;
  for (const [reached, list] of [
    [own, attempts('unknown')],
    [own, null],
    [iterations, attempts(0.1)],
  ] as const)
    expect(ofWholeRun(reached, list)).toEqual(reached);
});
