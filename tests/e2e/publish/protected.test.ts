/** What tools execute without being asked is published as a draft that says why, or not at all. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { JOB_PERMISSIONS, type Published, publish } from '../../support/jobs/publishing.ts';
import { expectDone, type Life, openLife, writes } from '../../support/jobs/pull-request-life.ts';
import type { FinishedRun } from '../../support/runs/scripted-run.ts';

let life: Life;
let token: string;

beforeEach(async () => {
  life = await openLife({ 'a.txt': 'a\n' });
  token = life.github.addToken({ kind: 'installation', permissions: JOB_PERMISSIONS });
});
afterEach(async () => {
  expect(life.github.invalid).toEqual([]);
  await life.github.close();
});
afterAll(removeFolders);

const PLAN = ['--message', 'Make a new'];

/** The built command, in a job of its own. */
function published({ runDir }: FinishedRun, ...args: string[]): Promise<Published> {
  const artifact = join(temporaryFolder(), 'artifact');
  cpSync(runDir, artifact, { recursive: true });
  const there = { github: life.github, repository: life.hosted, token, artifact };
  return publish(there, { args, built: true });
}

/** A run that writes this file, in a fresh checkout of the branch. */
async function written(path: string, args: readonly string[] = PLAN): Promise<FinishedRun> {
  const run = await life.run(writes(path, 'new\n', 'Done.'), args);
  expectDone(run);
  return run;
}

describe('a change of what tools execute', () => {
  test.each([
    ['sub/.npmrc', /one says where packages come from/],
    ['rust-toolchain.toml', /one says which programs build the project/],
    ['.husky/pre-commit', /one is run or obeyed by editors, shells or git hooks/],
    ['.claude/settings.json', /one tells other agents what to do/],
  ])('makes the pull request a draft that says why: %s', async (path, why) => {
    const run = await written(path);
    const { exitCode, said, stderr } = await published(run);
    expect(exitCode, stderr).toBe(0);
    expect(said?.pullRequest).toMatchObject({ draft: true, draftReasons: [expect.stringMatching(why)] });
    expect(life.pull(1).pull?.draft).toBe(true);
    expect(life.pull(1).body).toMatch(/> \[!WARNING\]\n> Draft, since it changes protected files: one /);
  });

  test.each(['.gitlab-ci.yml', '.github/actions/a/action.yml'])(
    'is refused where CI would obey it as soon as it is pushed: %s',
    async (path) => {
      const { exitCode, said } = await published(await written(path));
      expect([exitCode, said?.outcome]).toEqual([8, 'policy_violation']);
      expect(life.hosted.pulls()).toEqual([]);
    },
  );

  test('is refused, or published like any other, if a setting says so', async () => {
    const run = await written('.npmrc');
    const refused = await published(run, '--protected', 'refuse');
    expect([refused.exitCode, refused.said?.reason]).toEqual([
      8,
      expect.stringContaining('protected files: .npmrc.'),
    ]);
    expect(life.hosted.pulls()).toEqual([]);
    const accepted = await published(run, '--accept-protected', '.npmrc');
    expect([accepted.exitCode, accepted.said?.pullRequest?.draft]).toEqual([0, false]);
  });
});

describe('a pull request that is open for review', () => {
  /** What the same plan publishes later, and what continues its pull request. */
  const WAYS: [string, string[]][] = [
    ['of the same plan', PLAN],
    ['that continues', ['--continue', '1', '--message', 'Go on']],
  ];

  beforeEach(async () => {
    const first = await published(await written('a.txt'));
    expect([first.exitCode, first.said?.pullRequest?.draft], first.stderr).toEqual([0, false]);
  });

  test.each(WAYS)('is a draft before such a file is pushed by a run %s', async (_, args) => {
    await life.toHead(1);
    const run = await written('.npmrc', args);
    const before = life.github.requests.length;
    const { exitCode, said, stderr } = await published(run);
    expect(exitCode, stderr).toBe(0);
    expect(said?.pullRequest).toMatchObject({ number: 1, draft: true });
    const order = life.github.requests
      .slice(before)
      .flatMap(({ operation = '', body }) =>
        JSON.stringify(body ?? '').includes('convertPullRequestToDraft')
          ? ['converted']
          : operation === 'git/update-ref'
            ? ['pushed']
            : [],
      );
    expect(order).toEqual(['converted', 'pushed']);
  });

  test.each(WAYS)('stays as it is where GitHub has no drafts, by a run %s', async (_, args) => {
    await life.toHead(1);
    const run = await written('.npmrc', args);
    life.hosted.settings.drafts = false;
    const head = await life.hosted.head(life.pull(1).pull?.head ?? '');
    const { exitCode, said } = await published(run);
    expect([exitCode, said?.outcome]).toEqual([8, 'policy_violation']);
    expect(said?.reason).toMatch(/GitHub refused to convert it: .*not supported.* Nothing was pushed\./);
    expect(await life.hosted.head(life.pull(1).pull?.head ?? '')).toBe(head);
  });
});
