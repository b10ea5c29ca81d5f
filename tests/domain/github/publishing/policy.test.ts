import { describe, expect, test } from 'vitest';
import { pathMatcher } from '../../../../src/domain/changes/path-policy.ts';
import {
  type DraftFacts,
  draftReasons,
  judgeProtected,
  type ProtectedRules,
  publishable,
} from '../../../../src/domain/github/publishing/policy.ts';
import { finishedRun } from '../../../support/runs/finished-run.ts';

describe('which runs may be published', () => {
  test.each([
    ['done', { name: 'no_change', exitCode: 0, reason: 'So it is.' }],
    [
      'verify_failed',
      {
        name: 'verify_failed',
        reason: 'The run ended as verify_failed without changing a file: So it is.',
      },
    ],
  ] as const)(
    'a run that ended as %s without a change has nothing to publish, unless it merges',
    (outcome, expected) => {
      const run = finishedRun({ outcome, reason: 'So it is.', changedFiles: [] });
      expect(publishable(run, true)).toMatchObject(expected);
      const head = 'a'.repeat(40);
      const followUp = {
        pullRequest: 1,
        marker: '12345678',
        branch: 'patchsmith/x',
        head,
        base: { branch: 'main', sha: head },
        trigger: 'conflict' as const,
        round: 1,
        threads: [],
        merge: head,
      };
      expect(publishable({ ...run, followUp }, true)).toEqual({ unfinished: false });
    },
  );

  test.each([
    ['limit_reached', 7],
    ['deadline', 124],
    ['interrupted', 130],
    ['interrupted', 143],
    ['blocked', 5],
    ['provider_error', 4],
    ['internal_error', 1],
    ['publish_failed', 11],
  ] as const)(
    '%s only when it is asked for, else the end of the run is that of the publication: exit %i',
    (outcome, exitCode) => {
      const errorCode = 'ERR_LIMIT_ITERATIONS';
      const run = finishedRun({ outcome, exitCode, reason: 'Used all 25 iterations.', errorCode });
      expect(publishable(run, true)).toEqual({ unfinished: true });
      expect(publishable(run, false)).toEqual({
        name: outcome,
        exitCode,
        errorCode,
        reason: `The run ended as ${outcome}, so its patch is unfinished work: Used all 25 iterations. Publish it as a draft with --publish-unfinished.`,
      });
    },
  );

  test('a violation of the policy never is', () => {
    const run = finishedRun({
      outcome: 'policy_violation',
      reason: 'Not allowed: LICENSE.',
      errorCode: 'ERR_FORBIDDEN_PATH',
    });
    expect(publishable(run, true)).toEqual({
      name: 'policy_violation',
      exitCode: 8,
      reason: 'Not allowed: LICENSE.',
      errorCode: 'ERR_FORBIDDEN_PATH',
    });
  });

  test.each([
    ['that has not ended', finishedRun({ status: 'running', outcome: null }), 'ERR_RUN_NOT_ENDED'],
    ['that is done and has no patch', finishedRun({ patch: null }), 'ERR_NOTHING_TO_PUBLISH'],
  ])('a run %s is refused', (_, run, errorCode) => {
    expect(publishable(run, true)).toMatchObject({ exitCode: 2, errorCode });
  });
});

test('an unfinished run that has no patch is what it was, with the exit code that belongs to that', () => {
  const blocked = finishedRun({ outcome: 'blocked', exitCode: 0, reason: 'Unclear.', changedFiles: [] });
  expect(publishable(blocked, true)).toEqual({
    name: 'blocked',
    exitCode: 5,
    reason: 'The run ended as blocked, and has no patch: Unclear.',
    errorCode: null,
  });
  const late = finishedRun({ outcome: 'deadline', patch: null });
  expect(publishable(late, true)).toMatchObject({ exitCode: 124 });
});

describe('protected files', () => {
  const rules = (part: Partial<ProtectedRules> = {}): ProtectedRules => ({
    mode: 'refuse',
    isAccepted: pathMatcher([]),
    principles: ['docs/how[we]work.md'],
    ...part,
  });

  test.each([['package-lock.json'], ['src/.github/x'], ['docs/howework.md'], ['README.md']])(
    '%s is none',
    (path) => {
      expect(judgeProtected([path], rules())).toEqual({ refused: [], drafts: [] });
    },
  );

  test.each(['Makefile', 'package.json', 'src/mise/a.ts', 'setup.py', 'nvm.sh', 'lefthook.ts'])(
    '%s is ordinary code',
    (path) => {
      expect(judgeProtected([path], rules({ mode: 'auto' }))).toEqual({ refused: [], drafts: [] });
    },
  );

  test('they are accepted by glob, make a draft, or are allowed', () => {
    const files = ['.github/workflows/ci.yml', 'AGENTS.md'];
    expect(judgeProtected(files, rules({ isAccepted: pathMatcher(['AGENTS.md']) }))).toMatchObject({
      refused: ['.github/workflows/ci.yml'],
    });
    expect(judgeProtected(files, rules({ mode: 'draft' }))).toEqual({
      refused: [],
      drafts: ['.github/workflows/ci.yml', 'AGENTS.md'],
    });
    expect(judgeProtected(files, rules({ mode: 'allow' }))).toEqual({ refused: [], drafts: [] });
  });
});

describe('a pull request is a draft', () => {
  const facts = (part: Partial<DraftFacts> = {}): DraftFacts => ({
    setting: 'auto',
    unfinished: false,
    protectedPaths: [],
    verification: 'passed',
    wasDenied: false,
    ...part,
  });

  test.each<[Partial<DraftFacts>, string[]]>([
    [{}, []],
    [{ setting: 'always' }, ['a draft was requested']],
    [{ verification: 'none' }, ['nothing was verified']],
    [{ verification: 'failed' }, ['verification failed']],
    [{ verification: 'preexisting' }, ['everything that was verified had already failed before the work']],
    [
      { verification: 'otherwise' },
      ['some of its files were verified with different contents than the patch has'],
    ],
    [{ wasDenied: true }, ['something that the run asked for was denied to it']],
    [{ verification: 'failed', wasDenied: true, setting: 'never' }, []],
    [
      { unfinished: true, protectedPaths: ['AGENTS.md'], setting: 'never' },
      [
        'the run ended before its work was done',
        'it changes protected files: one tells agents what to do in later runs',
      ],
    ],
  ])('%j: %j', (part, reasons) => {
    expect(draftReasons(facts(part))).toEqual(reasons);
  });
});
