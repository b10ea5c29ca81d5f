import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AttemptFacts, withAttempts } from '../../../src/domain/attempts/attempts.ts';
import { attemptOf, chosenAmong } from '../../../src/domain/attempts/rank.ts';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import { OutcomeName } from '../../../src/domain/run/exit-code.ts';
import { emptyResult } from '../../../src/engine/finish/result.ts';

const DONE: AttemptFacts = {
  number: 1,
  path: '/run/attempts/1',
  outcome: 'done',
  exitCode: 0,
  reason: '',
  errorCode: null,
  failedChecks: 0,
  unverified: 0,
  weakenedTests: 0,
  denied: 0,
  files: 1,
  binaryFiles: 0,
  lines: 10,
  patchBytes: 300,
  iterations: 2,
  tokens: noUsage,
  costUsd: 0,
  estimated: false,
  models: [],
  hosts: [],
};

/** The number of the one that is chosen, and why. */
function chosen(...different: readonly Partial<AttemptFacts>[]) {
  const [first = DONE, ...others] = different.map((facts, at) => ({ ...DONE, number: at + 1, ...facts }));
  const { best, why } = chosenAmong([first, ...others], (one) => one);
  return [best.number, why];
}

const attempt = fc.record({
  outcome: fc.constantFrom(...OutcomeName.options),
  failedChecks: fc.nat(2),
  unverified: fc.nat(1),
  weakenedTests: fc.nat(2),
  denied: fc.nat(2),
  lines: fc.nat(4),
  patchBytes: fc.nat(4),
});

describe('the best of several attempts', () => {
  test.each([
    [
      'is one that is done, however small the others are',
      [{ outcome: 'blocked', lines: 0 }, {}, { outcome: 'verify_failed' }],
      2,
      '1 of 3 ended as done',
    ],
    [
      'is not one that changed nothing, when another did',
      [{ outcome: 'no_change', lines: 0, patchBytes: 0 }, {}],
      2,
      '1 of 2 ended as done',
    ],
    ['passes its checks', [{ failedChecks: 1, lines: 1 }, {}], 2, '1 of 2 passed every check'],
    ['was checked as it is', [{ unverified: 1 }, {}], 2, '1 of 2 passed every check'],
    [
      'weakens no test',
      [{ weakenedTests: 1, lines: 1 }, {}, {}],
      2,
      '2 of 3 weakened no test, then the first of 2 that are alike',
    ],
    [
      'made no text into something else, with fewer lines than none',
      [{ binaryFiles: 1, lines: 0, patchBytes: 9_000 }, { lines: 3 }, { lines: 2 }],
      3,
      '2 of 3 changed text alone, then 1 of 2 made the smallest change (2 lines in 1 file)',
    ],
    ['had nothing denied', [{ denied: 3, lines: 1 }, { denied: 1 }], 2, '1 of 2 had the least denied'],
    [
      'is the smallest',
      [{}, { lines: 3, files: 2 }, { lines: 4 }],
      2,
      '1 of 3 made the smallest change (3 lines in 2 files)',
    ],
    [
      'is the smaller patch where the lines are as many, as with binary files',
      [{}, { patchBytes: 299 }],
      2,
      '1 of 2 made the smallest change (10 lines in 1 file)',
    ],
    ['is the first where they are alike', [{}, {}], 1, 'the first of 2 that are alike'],
    [
      'is the first of those that ran into a limit, whatever they had by then',
      [{ outcome: 'limit_reached' }, { outcome: 'limit_reached', lines: 0 }],
      1,
      'the first of 2 that are alike',
    ],
    ['is the only one', [{ outcome: 'blocked' }], 1, 'the only one'],
  ] as const)('%s', (_what, different, number, why) => {
    expect(chosen(...(different as readonly Partial<AttemptFacts>[]))).toEqual([number, why]);
  });

  test('does not depend on the order in which they are looked at, and no other one is better in the first fact that tells them apart', () => {
    fc.assert(
      fc.property(fc.array(attempt, { minLength: 1, maxLength: 5 }), fc.nat(), (facts, turn) => {
        const all = facts.map((one, at): AttemptFacts => ({ ...DONE, number: at + 1, ...one }));
        const at = turn % all.length;
        const [first = DONE, ...others] = all;
        const [other = DONE, ...rest] = [...all.slice(at), ...all.slice(0, at)];
        const { best } = chosenAmong([first, ...others], (one) => one);
        const again = chosenAmong([other, ...rest], (one) => one).best;
        expect({ ...again, number: 0 }).toEqual({ ...best, number: 0 });
        const isDone = all.some(({ outcome }) => outcome === 'done');
        expect(best.outcome === 'done').toBe(isDone);
        for (const one of all.filter(({ outcome }) => outcome === best.outcome)) {
          const checks = one.failedChecks + one.unverified - best.failedChecks - best.unverified;
          const facts = [checks, one.weakenedTests - best.weakenedTests, one.denied - best.denied];
          expect(facts.find((difference) => difference !== 0) ?? 0).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

test('the facts of an attempt are those of its result', () => {
  const change = { path: 'a', kind: 'modify', additions: 2, deletions: 1 } as const;
  const facts = attemptOf(
    {
      ...emptyResult('r', '1'),
      outcome: 'done',
      exitCode: 0,
      changedFiles: [change, { ...change, path: 'b', additions: null, deletions: null }],
      flags: [
        { path: 'a', flag: 'tests_skipped', detail: '' },
        { path: 'a', flag: 'ci', detail: '' },
      ],
      deniedCount: 2,
      patch: { path: '/p', sha256: '', bytes: 9 },
    },
    { number: 2, path: '/run' },
  );
  expect(facts).toEqual({
    ...DONE,
    number: 2,
    binaryFiles: 1,
    path: '/run',
    files: 2,
    lines: 3,
    weakenedTests: 1,
    denied: 2,
    patchBytes: 9,
    iterations: 0,
  });
});

test('what a run has spent is the sum of all its attempts, by model', () => {
  const tokens = { ...noUsage, input: 1 };
  const use = {
    provider: 'p',
    model: 'm',
    turns: 1,
    tokens,
    costUsd: 2,
    replaced: null,
    role: 'work',
  } as const;
  const spent = { tokens, costUsd: 2, estimated: false, models: [use] };
  const other = { ...DONE, number: 2, ...spent, models: [use, { ...use, model: 'n' }] };
  const attempts = {
    asked: 3,
    chosen: 1,
    why: '',
    list: [DONE, other, { ...other, number: 3, costUsd: 'unknown' as const }],
  };
  const sum = withAttempts(spent, attempts);
  expect(sum).toMatchObject({
    costUsd: 'unknown',
    tokens: { input: 3 },
    models: [
      { model: 'm', turns: 3, costUsd: 6 },
      { model: 'n', turns: 2 },
    ],
  });
  expect(withAttempts(spent, { ...attempts, list: [DONE, other] }).costUsd).toBe(4);
});
