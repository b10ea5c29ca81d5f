import { expect, test } from 'vitest';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import { dayOf, type SpentEntry, sumOf, sumsBy } from '../../../src/domain/runs.ts';

const run = (part: Partial<SpentEntry>): SpentEntry => ({
  model: 'm',
  plan: 'p',
  day: '2026-11-20',
  tokens: { ...noUsage, input: 20, cacheRead: 80, output: 5 },
  costUsd: 0.1,
  estimated: false,
  ...part,
});

test('known costs are added up, and an unknown one is neither 0 nor forgotten', () => {
  expect(sumOf([run({}), run({ costUsd: 0.2, estimated: true }), run({ costUsd: null })])).toEqual({
    entries: 3,
    tokens: { ...noUsage, input: 60, cacheRead: 240, output: 15 },
    totalTokens: 315,
    cacheShare: 0.8,
    costUsd: 0.3,
    unknownCosts: 1,
    estimated: true,
  });
  expect(sumOf([run({ costUsd: null })])).toMatchObject({ costUsd: 'unknown', unknownCosts: 1 });
  expect(sumOf([])).toMatchObject({ costUsd: 0, cacheShare: null, totalTokens: 0 });
});

test('sums by model begin with the dearest, those by day with the first, whatever the names are', () => {
  const runs = [
    run({ model: '__proto__', day: '2026-11-21' }),
    run({ model: 'dear', costUsd: 9, day: '2026-11-20' }),
    run({ model: null, costUsd: null, day: null }),
    run({ model: '__proto__', day: '2026-11-20' }),
  ];
  const named = (group: 'model' | 'day') => sumsBy(group, runs).map(({ name, entries }) => [name, entries]);
  expect(named('model')).toEqual([
    [null, 1],
    ['dear', 1],
    ['__proto__', 2],
  ]);
  expect(named('day')).toEqual([
    [null, 1],
    ['2026-11-20', 2],
    ['2026-11-21', 1],
  ]);
  expect([dayOf(Date.UTC(2026, 10, 20, 23, 59)), dayOf(null), dayOf(1e300)]).toEqual([
    '2026-11-20',
    null,
    null,
  ]);
});
