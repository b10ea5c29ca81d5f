/** A branch has the work of one request, and a run that did not build on it was asked for by another. */

import { describe, expect, test } from 'vitest';
import type { PlanSource } from '../../../src/domain/run/plan.ts';
import { openShop } from '../../support/jobs/shop.ts';

const shop = openShop();

/** A run of this command, asked for by a comment on issue #1, or by the issue itself. */
async function askedBy(commentId: number | null, command: string): Promise<void> {
  shop.run = await shop.finished(command);
  const url = `${shop.github.serverUrl}/octo/shop/issues/1`;
  const issue = { repository: 'octo/shop', number: 1, author: 'maintainer' };
  const source: PlanSource =
    commentId === null
      ? { kind: 'issue', ...issue, url }
      : { kind: 'comment', ...issue, commentId, url: `${url}#issuecomment-${commentId}` };
  shop.tamper((result) => {
    if (result.plan) result.plan.source = source;
  });
}

const FIRST = 'sed -i s/two/zwei/ src/total.js';
const SECOND = 'sed -i s/nine/neun/ src/total.js';

describe('the work of a first comment', () => {
  test('is not replaced by that of a second one, and both are kept', async () => {
    shop.github.addIssue('octo/shop', { title: 'Total', author: 'maintainer' });
    await askedBy(11, FIRST);
    const first = await shop.publish();
    expect(first.exitCode, first.stderr).toBe(0);
    await askedBy(12, SECOND);
    const second = await shop.publish();
    expect([second.exitCode, second.said.outcome]).toEqual([11, 'publish_failed']);
    expect(second.said.reason).toMatch(/has the work of another request \(comment 11, run \S+\)/);
    expect(second.said.reason).toContain(`The patch is kept in ${shop.run.runDir}/changes.patch`);
    const branch = first.said.branch ?? '';
    expect(await shop.upstream.head(branch)).toBe(first.said.commit?.sha);
    // Who asked reads why on the issue.
    expect(shop.upstream.issues.get(1)?.comments.at(-1)?.body).toContain('the work of another request');
  });

  test('is replaced by that of another run for the same comment', async () => {
    shop.github.addIssue('octo/shop', { title: 'Total', author: 'maintainer' });
    await askedBy(11, FIRST);
    expect((await shop.publish()).exitCode).toBe(0);
    await askedBy(11, SECOND);
    const second = await shop.publish();
    expect(second.exitCode, second.stderr).toBe(0);
    expect(second.said.commit?.operation).toBe('updated');
  });

  test('is not replaced by that of the issue itself', async () => {
    shop.github.addIssue('octo/shop', { title: 'Total', author: 'maintainer' });
    await askedBy(11, FIRST);
    expect((await shop.publish()).exitCode).toBe(0);
    await askedBy(null, SECOND);
    expect((await shop.publish()).exitCode).toBe(11);
  });
});

describe('the button "Update branch"', () => {
  /** A merge of the base into the branch, as GitHub's button makes it; with `more`, something besides. */
  async function update(branch: string, more: string | null): Promise<void> {
    const { git } = shop.upstream;
    const [tree] = (await git('merge-tree', '--write-tree', branch, 'main')).split('\n');
    const by = ['-c', 'user.name=Maintainer', '-c', 'user.email=m@example.com'];
    const merged = ['-p', branch, '-p', 'main', '-m', "Merge branch 'main'"];
    await git('update-ref', `refs/heads/${branch}`, await git(...by, 'commit-tree', tree ?? '', ...merged));
    if (more === null) return;
    const edited = await shop.upstream.commit(branch, { 'docs/guide.md': more });
    const amended = await git(
      ...by,
      'commit-tree',
      `${edited}^{tree}`,
      '-p',
      `${branch}~2`,
      '-p',
      'main',
      '-m',
      'Merge',
    );
    await git('update-ref', `refs/heads/${branch}`, amended);
  }

  test.each([
    ['counts as ours', null, 0],
    ['is a commit of others when anything is in it besides', 'mine\n', 11],
  ])('%s', async (_, more, exitCode) => {
    shop.github.addIssue('octo/shop', { title: 'Total', author: 'maintainer' });
    await askedBy(null, FIRST);
    const first = await shop.publish();
    await shop.upstream.commit('main', {
      'src/total.js': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nzehn\n',
    });
    await update(first.said.branch ?? '', more);
    const head = await shop.upstream.head(first.said.branch ?? '');
    const again = await shop.publish();
    expect(again.exitCode, again.stderr).toBe(exitCode);
    expect(await shop.upstream.head(first.said.branch ?? '')).toBe(head);
    if (exitCode === 0) expect(again.said.commit).toMatchObject({ operation: 'none', sha: head });
    else expect(again.said.reason).toContain('commits by others');
  });
});
