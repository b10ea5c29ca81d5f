import { expect, test } from 'vitest';
import type { NewToken } from '../../support/github-server/server.ts';
import { ENOUGH, openShop } from '../../support/jobs/shop.ts';

const shop = openShop();

test('a commit has the words and the people that the operator wants', async () => {
  const args = [
    ...['--commit-message', 'chore: {title}\n\nFrom the nightly run.\r\nSecond line.', '--signoff'],
    ...['--author', 'Ann Onym <ann@example.org>', '--committer', 'Build <build@example.org>'],
    ...['--co-author', 'Ben <ben@example.org>', '--co-author', 'Cat <cat@example.org>'],
  ];
  const { said, exitCode, stderr } = await shop.publish(args);
  expect(exitCode, stderr).toBe(0);
  const shown = await shop.upstream.git(
    'show',
    '-s',
    '--format=%an <%ae>|%cn <%ce>|%B',
    said.commit?.sha ?? '',
  );
  expect(shown).toMatch(
    /^Ann Onym <ann@example\.org>\|Build <build@example\.org>\|chore: \S.*\n\nFrom the nightly run\.\nSecond line\.\n\nPatchsmith-Run: [\s\S]*\nCo-authored-by: Ben <ben@example\.org>\nCo-authored-by: Cat <cat@example\.org>\nSigned-off-by: Build <build@example\.org>\n*$/,
  );
  // It is found to be ours all the same.
  const again = await shop.publish(args);
  expect([again.exitCode, again.said.commit?.operation]).toEqual([0, 'none']);
});

test('the default sign-off is the account’s, and the commit stays signed by GitHub', async () => {
  const { said } = await shop.publish(['--signoff', '--sign', 'required']);
  expect(said.commit?.verified).toBe(true);
  const shown = await shop.upstream.git('show', '-s', '--format=%B', said.commit?.sha ?? '');
  expect(shown).toMatch(
    /\nSigned-off-by: github-actions\[bot\] <41898282\+github-actions\[bot\]@users\.noreply\.github\.com>$/,
  );
});

test("an author takes GitHub's signature away, which --sign required does not accept", async () => {
  const args = ['--author', 'Ann <ann@example.org>', '--sign', 'required'];
  const { exitCode, said } = await shop.publish(args);
  expect([exitCode, said.reason]).toEqual([11, expect.stringContaining('without --author and --committer')]);
});

test('title and body are framed as the operator wants, and again when they are updated', async () => {
  const args = [
    '--title',
    'Nightly: {title}',
    '--body-header',
    '## Please review',
    '--body-footer',
    'See [the guide](https://example.org).',
  ];
  const { said, exitCode, stderr } = await shop.publish(args);
  expect(exitCode, stderr).toBe(0);
  const pull = shop.upstream.issues.get(said.pullRequest?.number ?? 0);
  expect(pull?.title).toMatch(/^Nightly: \S/);
  expect(pull?.body).toMatch(
    /-->\n\n## Please review\n\n[\s\S]*\n\nSee \[the guide\]\(https:\/\/example\.org\)\.\n\n<!-- patchsmith:\w+ -->$/,
  );
  const again = await shop.publish([...args.slice(0, -1), 'Another footer']);
  expect(again.said.pullRequest?.operation).toBe('updated');
  expect(pull?.body).toContain('Another footer');
  expect(pull?.body).not.toContain('the guide');
});

test.each(['random', 'timestamp', 'short-commit-hash'])(
  'the branch of a run ends in what is its own: %s',
  async (kind) => {
    const plain = await shop.publish(['--dry-run']);
    const first = await shop.publish(['--branch-suffix', kind]);
    const [name = ''] = [plain.said.branch ?? ''];
    expect(first.said.branch).toMatch(new RegExp(`^${name}-(?:[0-9a-f]{7}|\\d{8}-\\d{6})$`));
    const second = await shop.publish(['--branch-suffix', kind]);
    expect([second.said.branch, second.said.pullRequest?.operation]).toEqual([first.said.branch, 'none']);
  },
);

test('maintainers may push to the branch in a fork unless that is not wanted', async () => {
  await shop.github.addRepository('ann/shop', { forkOf: 'octo/shop' });
  const token: NewToken = { kind: 'user', login: 'ann', permissions: ENOUGH.permissions ?? {} };
  const { said } = await shop.publish(['--head-repo', 'ann/shop', '--maintainer-can-modify', 'false'], {
    token,
  });
  expect(shop.upstream.issues.get(said.pullRequest?.number ?? 0)?.pull?.maintainerCanModify).toBe(false);
});

test("that checks are missing is said only where a workflow's token opened the pull request", async () => {
  const bot = await shop.publish();
  expect(shop.upstream.issues.get(bot.said.pullRequest?.number ?? 0)?.body).toContain('No checks here?');
  expect(bot.said.warnings).toEqual([expect.stringMatching(/^\[WARN_CHECKS_NOT_STARTED\] /)]);
  const app: NewToken = { ...ENOUGH, login: 'our-app[bot]' };
  const { said } = await shop.publish(['--branch', 'other'], { token: app });
  expect(shop.upstream.issues.get(said.pullRequest?.number ?? 0)?.body).not.toContain('No checks here?');
  expect(said.warnings).toEqual([]);
});
