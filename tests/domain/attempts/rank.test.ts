import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/domain/attempts/attempts.ts';
import { chosenAmong } from '../../../src/domain/attempts/rank.ts';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import { OutcomeName } from '../../../src/domain/run/exit-code.ts';

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
