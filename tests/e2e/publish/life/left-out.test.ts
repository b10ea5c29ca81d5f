/** What is left of a publication where part of a patch, or all of a pull request, is impossible. */

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { openShop } from '../../../support/jobs/shop.ts';
import { sampled } from '../../../support/setup/sample.ts';

const shop = openShop();
const CHANGE =
  'mkdir -p .github && echo x > .github/ci.yml && echo three > three.txt && mv docs/guide.md new.md';

test('files of --exclude are left out, and the rest is proven with them', async () => {
  shop.run = await shop.finished(CHANGE, ['--verify', 'test -f three.txt']);
  expect((await shop.publish()).said.errorCode).toBe('ERR_PROTECTED_PATH');
  const { exitCode, said } = await shop.publish(['--exclude', '.github/**', '--exclude', 'new.md']);
  expect([exitCode, said.pullRequest?.draftReasons]).toEqual([
    0,
    ['some of its files were verified with different contents than the patch has'],
  ]);
  const head = said.commit?.sha ?? '';
  expect(await shop.upstream.git('diff', '--name-status', `${head}^`, head)).toBe('A\tthree.txt');
  expect(shop.upstream.pulls()[0]?.body).toContain(
    '\\[WARN_FILES_EXCLUDED\\] Left out of the patch (--exclude): .github/ci.yml, new.md.',
  );
  const none = await shop.publish(['--exclude', '**']);
  expect([none.exitCode, none.said.outcome]).toEqual([0, 'no_change']);

  // A patch that is another than the run's is refused, whatever is left out of it.
  shop.tamper((result) => Object.assign(result, { treeSha: '1'.repeat(40) }));
  const forged = await shop.publish(['--exclude', '.github/**']);
  expect(forged.said.errorCode).toBe('ERR_PATCH_BROKEN');
});

test('a file whose place the rest of the patch takes cannot be left out', async () => {
  shop.run = await shop.finished('rm -r docs && echo x > docs');
  const { said } = await shop.publish(['--exclude', 'docs/guide.md']);
  expect([said.errorCode, said.reason]).toEqual([
    'ERR_PATCH_BROKEN',
    expect.stringContaining('without docs/guide.md (--exclude) the rest of it does not fit'),
  ]);
});

/** What the issue has for `git apply`, applied to the base. */
async function applied(body: string): Promise<string> {
  const [, encoded, block = ''] =
    /<code>(base64 -d \| )?git apply<\/code>.*?\n(?:`{3,}\w+)\n(.*?\n)`{3,}\n/s.exec(body) ?? [];
  const patch = encoded === undefined ? block : Buffer.from(block, 'base64');
  const folder = shop.upstream.gitFolder;
  const git = (...args: string[]) => ({
    cwd: folder,
    env: { ...process.env, GIT_INDEX_FILE: `${folder}/x` },
    args,
  });
  const run = (args: string[], input?: string | Buffer) =>
    execFileSync('git', args, { ...git(), ...(input === undefined ? {} : { input }) })
      .toString()
      .trim();
  run(['read-tree', 'main']);
  run(['apply', '--cached', '-'], patch);
  return run(['write-tree']);
}

test.each(
  sampled(
    [
      ['as it is', 'printf "one\\n\\tsee #1 <!-- x --> \\140\\140\\140\\n" > three.txt'],
      ['in base64', 'printf "one\\r\\n\\377" > three.txt'],
    ] as const,
    () => 'patch',
    1,
  ),
)('with --fallback issue, an issue has the patch %s, once', async (_, change) => {
  shop.run = await shop.finished(change);
  shop.upstream.settings.actionsMayOpenPulls = false;
  const without = await shop.publish();
  expect([without.exitCode, without.said.comment]).toEqual([11, null]);
  for (const operation of ['created', 'updated']) {
    const { exitCode, said } = await shop.publish(['--fallback', 'issue']);
    expect([exitCode, said.comment]).toEqual([11, { url: expect.stringContaining('/issues/1'), operation }]);
  }
  const [issue, ...more] = shop.upstream.issues.values();
  expect(more).toEqual([]);
  expect(await applied(issue?.body ?? '')).toBe(shop.run.result.treeSha);
  // What is refused for its contents is not given away.
  shop.run = await shop.finished('mkdir -p .github && echo x > .github/ci.yml');
  expect((await shop.publish(['--fallback', 'issue'])).said).toMatchObject({ comment: null, exitCode: 8 });
});
