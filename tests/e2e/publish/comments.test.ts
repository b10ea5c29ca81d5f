/** The comment on the issue that asked for the work, and comments of others that look like it. */

import { describe, expect, test } from 'vitest';
import type { NewToken } from '../../support/github-server/server.ts';
import { ENOUGH, openShop } from '../../support/jobs/shop.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const shop = openShop();

const BOT = 'github-actions[bot]';

describe('an issue that asked for the work', () => {
  const ask = () => {
    const { number } = shop.github.addIssue('octo/shop', { title: 'Total is wrong', author: 'maintainer' });
    const source = {
      kind: 'issue' as const,
      repository: 'octo/shop',
      number,
      url: `${shop.github.serverUrl}/octo/shop/issues/${number}`,
      author: 'maintainer',
    };
    shop.tamper((result) => Object.assign(result.plan ?? {}, { source }));
    return number;
  };

  test('is named by branch and pull request, and gets one comment that is kept up to date', async () => {
    const number = ask();
    const first = await shop.publish();
    expect(first.said.branch).toMatch(new RegExp(`^patchsmith/issue-${number}-`));
    expect(first.said.comment).toMatchObject({ operation: 'created' });
    expect(shop.upstream.pulls()[0]?.body).toMatch(new RegExp(`Fixes .*#${number}`));
    expect((await shop.publish()).said.comment?.operation).not.toBe('created');
    expect(shop.upstream.issues.get(number)?.comments.length).toBe(1);
  });

  test('a comment with our mark by someone else is left alone', async () => {
    const number = ask();
    const first = await shop.publish();
    const made = shop.upstream.issues.get(number)?.comments[0];
    const [marker = ''] = /<!-- patchsmith:\w+ -->/.exec(made?.body ?? '') ?? [];
    shop.upstream.issues.get(number)?.comments.splice(0);
    shop.github.addComment('octo/shop', number, { body: `${marker} mine`, author: 'ann' });
    expect((await shop.publish()).said.comment).toMatchObject({ operation: 'created' });
    expect(
      shop.upstream.issues
        .get(number)
        ?.comments.map(({ author, body }) => [author.login, body === made?.body]),
    ).toEqual([
      ['ann', false],
      ['github-actions[bot]', expect.any(Boolean)],
    ]);
    expect(first.exitCode).toBe(0);
  });

  testAtNight(
    'a comment of another bot that ends with our mark is left alone, and a commit by git is of our own',
    async () => {
      const number = ask();
      const app: NewToken = { ...ENOUGH, login: 'fixer[bot]', id: 4_711 };
      const first = await shop.publish([], { token: app });
      const made = shop.upstream.issues.get(number)?.comments.splice(0)[0];
      shop.github.addComment('octo/shop', number, { body: made?.body ?? '', author: BOT });
      const second = await shop.publish([], { token: app });
      expect(second.said.comment).toMatchObject({ operation: 'created' });
      expect(shop.upstream.issues.get(number)?.comments.map(({ author }) => author.login)).toEqual([
        BOT,
        'fixer[bot]',
      ]);
      expect(await shop.upstream.git('log', '-1', '--format=%an <%ae>', first.said.branch ?? '')).toBe(
        'fixer[bot] <4711+fixer[bot]@users.noreply.github.com>',
      );
    },
  );

  testAtNight(
    'of two that were made at the same time only our own goes, and not that of another bot',
    async () => {
      const number = ask();
      await shop.publish();
      const text = shop.upstream.issues.get(number)?.comments[0]?.body ?? '';
      shop.upstream.issues.get(number)?.comments.splice(0);
      let added = false;
      shop.github.before(async ({ operation }) => {
        if (added || operation !== 'issues/create-comment') return;
        added = true;
        shop.github.addComment('octo/shop', number, { body: text, author: 'other[bot]' });
        shop.github.addComment('octo/shop', number, { body: text.replaceAll('\n', '\r\n'), author: BOT });
      });
      expect((await shop.publish()).said.comment?.operation).toBe('updated');
      expect(shop.upstream.issues.get(number)?.comments.map(({ author }) => author.login)).toEqual([
        'other[bot]',
        BOT,
      ]);
    },
  );

  test('without an answer to who we are nothing is guessed', async () => {
    const number = ask();
    const trouble = { kind: 'status', status: 401 } as const;
    shop.github.faults.add({ on: { operation: 'users/get-authenticated' }, times: 99, trouble });
    const { exitCode, said } = await shop.publish();
    expect([exitCode, said.outcome, said.comment, said.commit]).toEqual([11, 'publish_failed', null, null]);
    expect(shop.upstream.issues.get(number)?.comments).toEqual([]);
  });
});
