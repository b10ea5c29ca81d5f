import { describe, expect, test } from 'vitest';
import type { ChangedFile } from '../../../../src/domain/changes/change.ts';
import { pathMatcher } from '../../../../src/domain/changes/path-policy.ts';
import {
  type DraftFacts,
  draftReasons,
  judgeProtected,
  type ProtectedRules,
  publishable,
  verificationOf,
} from '../../../../src/domain/github/publishing/policy.ts';
import type { OutcomeName } from '../../../../src/domain/run/exit-code.ts';
import { finishedRun, report } from '../../../support/runs/finished-run.ts';

describe('which runs may be published', () => {
  test.each<OutcomeName>(['done', 'verify_failed'])('%s is', (outcome) => {
    expect(publishable(finishedRun({ outcome }), false)).toEqual({ unfinished: false });
  });

  test('a run without changes has nothing to publish, which is not a failure', () => {
    const run = finishedRun({ outcome: 'no_change', exitCode: 3, reason: 'No file.', changedFiles: [] });
    expect(publishable(run, true)).toEqual({
      name: 'no_change',
      exitCode: 0,
      reason: 'No file.',
      errorCode: null,
    });
  });

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
  const modified = (path: string): ChangedFile => ({ path, kind: 'modify', additions: 1, deletions: 0 });

  test.each([
    ['.github/workflows/ci.yml'],
    ['.github'],
    ['CODEOWNERS'],
    ['docs/CODEOWNERS'],
    ['AGENTS.md'],
    ['packages/a/AGENTS.md'],
    ['CLAUDE.md'],
    ['docs/Claude.MD'],
    ['.patchsmith.yml'],
    ['.GitHub/patchsmith/plan.md'],
    ['docs/how[we]work.md'],
  ])('%s is one', (path) => {
    expect(judgeProtected([modified(path)], rules())).toMatchObject({ refused: [path] });
  });

  test.each([['package-lock.json'], ['src/.github/x'], ['docs/howework.md'], ['README.md']])(
    '%s is none',
    (path) => {
      expect(judgeProtected([modified(path)], rules())).toEqual({ refused: [], drafts: [] });
    },
  );

  test.each([
    ...[
      'sub/.npmrc',
      '.pnpmfile.mjs',
      'pnpm-workspace.yaml',
      '.yarnrc.yml',
      '.yarn/plugins/a.cjs',
      'pip.conf',
    ],
    ...['rust-toolchain', '.Cargo/config.toml', 'a/.mvn/extensions.xml', 'gradle/wrapper/gradle-wrapper.jar'],
    ...['.tool-versions', '.config/mise/config.toml', 'global.json', '.python-version', '.bazelversion'],
    ...['.husky/pre-commit', '.githooks/pre-push', '.lefthook-local.toml', 'lefthook.yml', '.envrc'],
    ...['.devcontainer/a.sh', '.vscode/mcp.json', 'a.code-workspace', '.claude/settings.json', '.mcp.json'],
  ])('%s is one for a draft', (path) => {
    expect(judgeProtected([modified(path)], rules({ mode: 'auto' }))).toEqual({
      refused: [],
      drafts: [path],
    });
    expect(judgeProtected([modified(path)], rules({ mode: 'refuse' })).refused).toEqual([path]);
  });

  test.each(['.gitlab-ci.yml', 'Jenkinsfile', '.circleci/config.yml', 'azure-pipelines-2.yml', 'AGENTS.md'])(
    '%s is refused where nothing is set',
    (path) => {
      const both = [modified('.npmrc'), modified(path)];
      expect(judgeProtected(both, rules({ mode: 'auto' }))).toMatchObject({ refused: [path] });
      expect(judgeProtected(both, rules({ mode: 'draft' })).refused).toEqual([]);
    },
  );

  test.each(['Makefile', 'package.json', 'src/mise/a.ts', 'setup.py', '.nvmrc', 'lefthook.ts'])(
    '%s is ordinary code',
    (path) => {
      expect(judgeProtected([modified(path)], rules({ mode: 'auto' }))).toEqual({ refused: [], drafts: [] });
    },
  );

  test('the old name of a rename counts', () => {
    const renamed: ChangedFile = { ...modified('x.yml'), kind: 'rename', from: '.github/dependabot.yml' };
    expect(judgeProtected([renamed], rules()).refused).toEqual(['.github/dependabot.yml']);
  });

  test('they are accepted by glob, make a draft, or are allowed', () => {
    const files = [modified('.github/workflows/ci.yml'), modified('AGENTS.md')];
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

describe('what verification comes to', () => {
  const red = report('npm run lint', 1, 'error: no');
  test('passed with one success, though others failed as before', () => {
    const run = finishedRun({ verify: [report('npm test', 0), red], verifyBaseline: [red] });
    expect(verificationOf(run)).toBe('passed');
    expect(verificationOf({ ...run, unverified: ['a.ts'] })).toBe('otherwise');
  });
  test('failed with a new failure', () => {
    expect(verificationOf(finishedRun({ verify: [report('npm test', 0), red] }))).toBe('failed');
  });
  test('nothing but earlier failures proves nothing', () => {
    expect(verificationOf(finishedRun({ verify: [red], verifyBaseline: [red] }))).toBe('preexisting');
  });
  test('no commands', () => {
    expect(verificationOf(finishedRun({ verify: [] }))).toBe('none');
  });
});
