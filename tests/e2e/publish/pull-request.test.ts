/** What a finished run becomes: a branch, a pull request, and what people have asked for besides. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NewToken } from '../../support/github-server/server.ts';
import { ENOUGH, openShop } from '../../support/jobs/shop.ts';
import { publicationIn } from '../../support/published.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const shop = openShop();

describe('a finished run', () => {
  test('becomes a branch with exactly the tree that it has proven, and a pull request', async () => {
    const { exitCode, said } = await shop.publish();
    expect({ exitCode, reason: said.reason, warnings: said.warnings }).toMatchObject({ exitCode: 0 });
    const [pull] = shop.upstream.pulls();
    const branch = said.branch ?? '';
    expect(branch).toMatch(/^patchsmith\/do-it-[0-9a-f]{8}$/);
    expect(await shop.upstream.git('rev-parse', `${branch}^{tree}`)).toBe(shop.run.result.treeSha);
    expect(await shop.upstream.git('rev-parse', `${branch}^`)).toBe(shop.run.result.baseSha);
    expect(said).toMatchObject({
      outcome: 'done',
      repository: 'octo/shop',
      base: { branch: 'main', sha: shop.run.result.baseSha },
      commit: {
        sha: await shop.upstream.head(branch),
        tree: shop.run.result.treeSha,
        operation: 'created',
        verified: null,
      },
      pullRequest: { number: pull?.number, operation: 'created', branch, draft: false, draftReasons: [] },
      comment: null,
      merged: [],
      conflicts: [],
    });
    expect(await shop.upstream.git('log', '-1', '--format=%B', branch)).toBe(
      `Changed what was asked for\n\nPatchsmith-Run: ${shop.run.result.runId}\nPatchsmith-Tree: ${shop.run.result.treeSha}\nPatchsmith-Base: main\nPatchsmith-Plan: Do it\nPatchsmith-Cost: ${Number(shop.run.result.costUsd).toFixed(4)}`,
    );
    expect(publicationIn(readFileSync(join(shop.run.runDir, 'publish.json'), 'utf8'))).toEqual(said);
  });

  test('of the same plan adds a commit to the same branch and pull request', async () => {
    const first = await shop.publish();
    shop.run = await shop.finished('echo more > more.txt');
    const second = await shop.publish();
    expect(second.said.branch).toBe(first.said.branch);
    expect(second.said.pullRequest).toMatchObject({
      number: first.said.pullRequest?.number,
      operation: 'updated',
    });
    const branch = second.said.branch ?? '';
    expect(await shop.upstream.git('rev-parse', `${branch}^`)).toBe(first.said.commit?.sha);
    expect(await shop.upstream.git('rev-parse', `${branch}^{tree}`)).toBe(shop.run.result.treeSha);
  });

  test('is reported call by call with --dry-run, and nothing is written', async () => {
    const { exitCode, said, stderr } = await shop.publish([
      '--dry-run',
      '--label',
      'bot',
      '--reviewer',
      'maintainer',
    ]);
    expect({ exitCode, writes: shop.writes(), dryRun: said.dryRun }).toEqual({
      exitCode: 0,
      writes: [],
      dryRun: true,
    });
    expect(said.reason).toBe(
      'Nothing was changed (--dry-run). The calls that would be made are listed above.',
    );
    const calls = stderr.split('\n').flatMap((line) => /^would (git push|\w+ \S+)/.exec(line)?.[1] ?? []);
    expect(calls).toEqual([
      'git push',
      'POST /repos/octo/shop/pulls',
      'POST /repos/octo/shop/issues/0/labels',
      'POST /repos/octo/shop/pulls/0/requested_reviewers',
    ]);
  });

  testAtNight('gets reviewers, assignees and a prefix, and later labels and a milestone', async () => {
    await shop.publish(['--reviewer=maintainer', '--assignee=maintainer', '--title-prefix=[bot]']);
    const args = ['--label=bot', '--label=new one', '--milestone=Next', '--title-prefix=[bot]'];
    const { exitCode, said } = await shop.publish(args);
    expect({ exitCode, warnings: said.warnings.slice(1) }).toEqual({ exitCode: 0, warnings: [] });
    const [pull] = shop.upstream.pulls();
    expect(pull).toMatchObject({
      title: '[bot] Do it',
      labels: [{ name: 'bot' }, { name: 'new one' }],
      assignees: [{ login: 'maintainer' }],
      milestone: { title: 'Next' },
    });
  });

  test('of which nothing was verified, or not all passed, becomes a draft', async () => {
    shop.run = await shop.finished('echo 1 > a', []);
    expect((await shop.publish()).said.pullRequest).toMatchObject({ draft: true });
    shop.run = await shop.finished('echo 2 > a', ['--verify', 'test -f missing', '--fix-rounds', '0']);
    expect(shop.run.result.outcome).toBe('verify_failed');
    expect((await shop.publish(['--branch', 'other'])).said.pullRequest).toMatchObject({ draft: true });
  });
});

describe('a pull request that was ready, of which verification fails later,', () => {
  const red = async () => {
    shop.run = await shop.finished('echo 1 > a', ['--verify', 'test -f b', '--fix-rounds', '0']);
  };

  test('is turned back into a draft, and is not made ready again behind the back of people', async () => {
    await shop.publish(['--branch', 'work']);
    const ready = shop.run;
    expect(shop.upstream.pulls()[0]?.pull?.draft).toBe(false);
    await red();
    expect((await shop.publish(['--branch', 'work'])).said).toMatchObject({
      pullRequest: { number: 1, draft: true, draftReasons: ['verification failed'] },
      warnings: [],
    });
    expect(shop.upstream.pulls()[0]).toMatchObject({
      pull: { draft: true },
      body: expect.stringContaining('> Draft, since verification failed.'),
    });
    shop.run = ready;
    expect((await shop.publish(['--branch', 'work'])).said.pullRequest).toMatchObject({
      draft: true,
      draftReasons: [],
    });
    expect(shop.upstream.pulls()[0]?.body).toContain(
      '> Still a draft, although this run gives no reason for it.',
    );
  });

  testAtNight('says that it should be a draft where GitHub does not turn it into one', async () => {
    await shop.publish(['--branch', 'work']);
    await red();
    shop.upstream.settings.drafts = false;
    const { said } = await shop.publish(['--branch', 'work']);
    expect(said.pullRequest).toMatchObject({ draft: false, draftReasons: ['verification failed'] });
    expect(said.warnings).toEqual([
      expect.stringMatching(/^\[WARN_NOT_A_DRAFT\] .* should be a draft: .*not supported in this repository/),
    ]);
    expect(shop.upstream.pulls()[0]?.body).toContain('> This should be a draft, since verification failed.');
  });
});

testAtNight('the default branch is no branch for a pull request', async () => {
  expect((await shop.publish(['--branch', 'main'])).said).toMatchObject({
    outcome: 'usage_error',
    exitCode: 2,
  });
});

testAtNight(
  'a person’s token makes commits that are not verified: --sign required refuses before the branch moves',
  async () => {
    const token: NewToken = { kind: 'user', login: 'maintainer', permissions: ENOUGH.permissions ?? {} };
    const { exitCode, said } = await shop.publish(['--sign', 'required'], { token });
    expect(exitCode).toBe(11);
    expect(said.reason).toContain('--sign required: GitHub does not show the commit as verified');
    expect(await shop.upstream.head(said.branch ?? '')).toBe(null);
  },
);
