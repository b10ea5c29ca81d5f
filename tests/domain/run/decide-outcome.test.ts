import { describe, expect, test } from 'vitest';
import { decideOutcome, type OutcomeFacts } from '../../../src/domain/run/decide-outcome.ts';
import type { StopReason } from '../../../src/domain/run/limits.ts';

const filesChanged = (count: number): NonNullable<OutcomeFacts['changedFiles']> =>
  Array(count).fill({ path: 'a.txt', kind: 'modify', additions: 1, deletions: 0 });
const completed: StopReason = { why: 'completed', summary: '' };
const facts = (stop: StopReason, more: Partial<OutcomeFacts> = {}): OutcomeFacts => {
  return { stop, changedFiles: filesChanged(2), ...more };
};

describe('decideOutcome', () => {
  test('a limit says which, its value and its use, and that the work is kept', () => {
    const { reason } = decideOutcome(facts({ why: 'limit', limit: 'tokens', value: 1000, used: 1203 }));
    expect(reason).toBe('Used 1,203 tokens of 1,000 (--max-total-tokens); the patch so far has 2 files.');
  });

  test('a conversation that no longer fits says how large it was', () => {
    const stop = { why: 'limit', limit: 'context_window', value: 62_000, used: 62_000 } as const;
    expect(decideOutcome(facts(stop)).reason).toContain('(the last prompt that fitted had 62,000 tokens)');
  });

  test('a limit that the next request does not fit into says what that could have come to', () => {
    const tokens = { why: 'limit', limit: 'tokens', value: 9_000, used: 4_000, needed: 6_100 } as const;
    expect(decideOutcome(facts(tokens)).reason).toBe(
      'Used 4,000 tokens of 9,000 (--max-total-tokens), and the next request could take 6,100; the patch so far has 2 files.',
    );
    const cost = { why: 'limit', limit: 'cost_usd', value: 0.5, used: 0.45, needed: 0.061 } as const;
    expect(decideOutcome(facts(cost)).reason).toContain(
      'Spent $0.4500 of $0.5 (--max-cost-usd), and the next request could cost $0.0610; ',
    );
  });

  test('of many paths that may not change the first ten are named, and the others counted', () => {
    const paths = Array.from({ length: 12 }, (_, at) => `src/${at}.txt`);
    const { reason } = decideOutcome(facts(completed, { forbiddenPaths: paths }));
    expect(reason).toContain(`${paths.slice(0, 10).join(', ')} and 2 more files.`);
  });

  test('an interrupted run is interrupted, whatever became of the patch', () => {
    const given = facts({ why: 'interrupted', signal: 'SIGINT' }, { publishFailure: 'x' });
    expect(decideOutcome(given).name).toBe('interrupted');
  });

  test('an interrupted run without a written patch says so, rather than that nothing was changed', () => {
    const stop = { why: 'interrupted', signal: 'SIGINT' } as const;
    const given = facts(stop, { changedFiles: [], publishFailure: 'The patch cannot be written to x.' });
    expect(decideOutcome(given).reason).toBe('Stopped by SIGINT; The patch cannot be written to x.');
  });
});
