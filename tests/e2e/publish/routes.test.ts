/** The push, and publishing into forks. */

import { describe, expect, test } from 'vitest';
import type { NewToken } from '../../support/github-server/server.ts';
import { COMMANDS, ENOUGH, openShop } from '../../support/jobs/shop.ts';

const shop = openShop();

describe('a push', () => {
  test('makes the same tree by git, and is found again', async () => {
    const first = await shop.publish();
    expect(first.said.reason).toContain('opened');
    expect(first.said.commit).toMatchObject({ verified: null, operation: 'created' });
    const branch = first.said.branch ?? '';
    expect(await shop.upstream.git('rev-parse', `${branch}^{tree}`)).toBe(shop.run.result.treeSha);
    expect(await shop.upstream.git('log', '-1', '--format=%P|%an <%ae>', branch)).toBe(
      `${shop.run.result.baseSha}|github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>`,
    );
    shop.run = await shop.finished('echo more > more.txt');
    const second = await shop.publish();
    expect(await shop.upstream.git('rev-parse', `${branch}^`)).toBe(first.said.commit?.sha);
    expect(second.said.pullRequest).toMatchObject({ operation: 'updated' });
  });

  test('does not overwrite a branch that moves meanwhile', async () => {
    const branch = (await shop.publish()).said.branch ?? '';
    shop.run = await shop.finished('echo more > more.txt');
    let theirs = '';
    shop.github.before(async ({ path }) => {
      if (path.endsWith('git-receive-pack') && theirs === '')
        theirs = await shop.upstream.commit(branch, { 'mine.txt': 'human work\n' });
    });
    expect((await shop.publish()).exitCode).toBe(11);
    expect(await shop.upstream.head(branch)).toBe(theirs);
  });

  test('tells what the server refuses, and the mend', async () => {
    shop.run = await shop.finished('mkdir -p .github/workflows && echo on: push > .github/workflows/ci.yml');
    const { exitCode, said } = await shop.publish(['--protected', 'draft']);
    expect(exitCode).toBe(11);
    expect(said.reason).toContain('.github/workflows/ci.yml, which needs the permission workflows: write');
    shop.run = await shop.finished(COMMANDS);
    const token: NewToken = { ...ENOUGH, permissions: { contents: 'read', pull_requests: 'write' } };
    expect((await shop.publish([], { token })).said.reason).toContain('contents: write');
  });

  test('against rules that GitHub does not show before is refused in its words, by git and by the API', async () => {
    const hidden = { kind: 'status', status: 403, message: 'Upgrade to use rulesets' } as const;
    shop.github.faults.add({ on: { operation: 'repos/get-branch-rules' }, times: 9, trouble: hidden });
    shop.upstream.settings.rules = [{ type: 'required_signatures' }];
    const unsigned = await shop.publish();
    expect([unsigned.exitCode, unsigned.said.reason]).toEqual([
      11,
      expect.stringMatching(/Commits must have verified signatures.* with --sign required/s),
    ]);
    expect((await shop.publish(['--sign', 'required'])).said.commit).toMatchObject({ verified: true });
    shop.upstream.settings.rules = [{ type: 'update' }];
    shop.run = await shop.finished('echo more > more.txt');
    const update = await shop.publish(['--sign', 'required']);
    expect([update.exitCode, update.said.reason]).toEqual([11, expect.stringContaining('Cannot update')]);
  });

  test('that breaks a rule is refused with what meets that rule, and a dry run says so before', async () => {
    const pattern = '^workflow permission';
    const rule = { type: 'commit_message_pattern', parameters: { operator: 'regex', pattern } };
    shop.upstream.settings.rules = [rule];
    shop.run = await shop.finished('mkdir -p .github/workflows && echo on: push > .github/workflows/ci.yml');
    const allowed = ['--protected', 'draft'];
    const token: NewToken = { ...ENOUGH, permissions: { ...ENOUGH.permissions, workflows: 'write' } };
    const dry = await shop.publish([...allowed, '--dry-run'], { token });
    expect([dry.exitCode, dry.said.reason]).toEqual([
      11,
      expect.stringContaining('set it with --commit-message'),
    ]);
    for (const sign of ['required', 'auto']) {
      const { exitCode, said } = await shop.publish([...allowed, '--sign', sign], { token });
      const reason = expect.stringMatching(
        /Commit message must match.* Set the commit message with --commit-message\./,
      );
      expect([exitCode, said.reason]).toEqual([11, reason]);
    }
    // An expression that is linear for GitHub and not for Node.js, on a text that may be a model's.
    const slow = { operator: 'regex', pattern: String.raw`^(\w+[ -]?)+#`, negate: true };
    shop.upstream.settings.rules = [{ type: 'commit_message_pattern', parameters: slow }];
    const subject = `--commit-message=${'many words '.repeat(9)}`;
    expect((await shop.publish([...allowed, subject, '--dry-run'], { token })).exitCode).toBe(0);
    shop.upstream.settings.rules = [{ type: 'creation' }];
    const { said } = await shop.publish(allowed, { token });
    expect(said.reason).toMatch(/creations being restricted\..* Choose another name with --branch/);
  });
});

test('a fork of the same owner is distinguished from the repository itself', async () => {
  const fork = await shop.github.addRepository('octo/shop-fork', { forkOf: 'octo/shop' });
  const first = await shop.publish();
  const branch = first.said.branch ?? '';
  const upstreamHead = await shop.upstream.head(branch);
  const args = ['--head-repo', 'octo/shop-fork'];
  const token: NewToken = { kind: 'user', login: 'octo', permissions: ENOUGH.permissions ?? {} };
  const second = await shop.publish(args, { token });
  expect({ exitCode: second.exitCode, reason: second.said.reason }).toMatchObject({ exitCode: 0 });
  expect(second.said.pullRequest).toMatchObject({ operation: 'created' });
  expect(shop.upstream.pulls().map(({ pull }) => pull?.headRepository)).toEqual([
    'octo/shop',
    'octo/shop-fork',
  ]);
  const again = await shop.publish(['--head-repo', 'Octo/Shop-Fork'], { token });
  expect(again.said.pullRequest).toEqual({ ...second.said.pullRequest, operation: 'none' });

  // Upstream's branch of that name is ours alone, and says nothing of the fork's.
  const person = await fork.commit(branch, { 'README.md': 'mine\n' }, { author: 'Ann Onym' });
  const third = await shop.publish(args, { token });
  expect([third.exitCode, third.said.reason]).toEqual([11, expect.stringContaining('Ann Onym')]);
  expect([await fork.head(branch), await shop.upstream.head(branch)]).toEqual([person, upstreamHead]);
});
