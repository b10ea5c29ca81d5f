import { describe, expect, test } from 'vitest';
import { NO_DENIALS, withDenials } from '../../../src/domain/review/denied.ts';
import { decideOutcome, type OutcomeFacts } from '../../../src/domain/run/decide-outcome.ts';
import type { StopReason } from '../../../src/domain/run/limits.ts';

const completed: StopReason = { why: 'completed', summary: '' };
const facts = (stop: StopReason, more: Partial<OutcomeFacts> = {}): OutcomeFacts => ({
  stop,
  changedFiles: 2,
  setupChanged: 0,
  merges: false,
  answered: false,
  verified: 1,
  verifyIn: 'worktree',
  unverified: [],
  preexisting: 0,
  ifNoChanges: 'ok',
  denied: NO_DENIALS,
  ifDenied: 'report',
  unreviewed: null,
  unwritable: null,
  withheld: null,
  publishFailure: null,
  unmade: null,
  forbiddenPaths: [],
  hiddenPaths: [],
  gitDirsInDoubt: [],
  ...more,
});

const DENIED = withDenials(NO_DENIALS, [
  { kind: 'missing_tool', what: 'eslint', calls: ['a'], why: 'not found' },
]);

describe('decideOutcome', () => {
  test.each<[string, OutcomeFacts, string, number]>([
    ['finished with changes', facts(completed), 'done', 0],
    ['finished without changes', facts(completed, { changedFiles: 0 }), 'no_change', 0],
    [
      'finished without changes, which is an error',
      facts(completed, { changedFiles: 0, ifNoChanges: 'error' }),
      'no_change',
      3,
    ],
    [
      'a merge that needed no change',
      facts(completed, { changedFiles: 0, merges: true, ifNoChanges: 'error' }),
      'done',
      0,
    ],
    ['something denied', facts(completed, { denied: DENIED }), 'done', 0],
    [
      'something denied, which is an error',
      facts(completed, { denied: DENIED, ifDenied: 'error', changedFiles: 0 }),
      'policy_violation',
      8,
    ],
    [
      'a work tree that takes nothing',
      facts(completed, { changedFiles: 0, unwritable: 'EROFS' }),
      'internal_error',
      1,
    ],
    ['a provider failure', facts({ why: 'provider', kind: 'outage', message: 'x' }), 'provider_error', 4],
    ['blocked by the model', facts({ why: 'blocked', by: 'model', reason: 'x' }), 'blocked', 5],
    ['a refusal', facts({ why: 'blocked', by: 'refusal', reason: '' }), 'blocked', 5],
    ['a limit', facts({ why: 'limit', limit: 'iterations', value: 25, used: 25 }), 'limit_reached', 7],
    ['a protected path', facts(completed, { forbiddenPaths: ['LICENSE'] }), 'policy_violation', 8],
    ['a hidden path', facts(completed, { hiddenPaths: ['src/a.txt'] }), 'policy_violation', 8],
    ['a git dir that may be a copy', facts(completed, { gitDirsInDoubt: ['x/.git'] }), 'policy_violation', 8],
    ['failed verification', facts({ why: 'verify_failed', commands: ['npm test'] }), 'verify_failed', 9],
    ['a patch that cannot be proven', facts(completed, { publishFailure: 'x' }), 'publish_failed', 11],
    ['the deadline', facts({ why: 'deadline', valueMs: 1, usedMs: 2 }), 'deadline', 124],
    ['SIGINT', facts({ why: 'interrupted', signal: 'SIGINT' }), 'interrupted', 130],
    ['SIGTERM', facts({ why: 'interrupted', signal: 'SIGTERM' }), 'interrupted', 143],
  ])('%s', (_, given, name, exitCode) => {
    expect(decideOutcome(given)).toMatchObject({ name, exitCode });
  });

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

  test('a sentence of the provider continues with what became of the work', () => {
    const stop = { why: 'provider', kind: 'outage', message: 'It is down.' } as const;
    expect(decideOutcome(facts(stop)).reason).toBe('It is down; the patch so far has 2 files.');
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
    const given = facts(stop, { changedFiles: 0, publishFailure: 'The patch cannot be written to x.' });
    expect(decideOutcome(given).reason).toBe('Stopped by SIGINT; The patch cannot be written to x.');
  });
});

test('commands that failed as before the run are reported along with those that passed', () => {
  const reasonOf = (more: Partial<OutcomeFacts>) => decideOutcome(facts(completed, more)).reason;
  expect(reasonOf({ preexisting: 1 })).toBe(
    '2 files changed, 1 verify command passed, 1 failed as before the run.',
  );
  expect(reasonOf({ verified: 0, preexisting: 2 })).toBe(
    '2 files changed, 2 verify commands failed as before the run.',
  );
});
