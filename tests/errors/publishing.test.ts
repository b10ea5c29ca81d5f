import { expect, test } from 'vitest';
import type { RunResult } from '../../src/domain/run/result.ts';
import { ENOUGH, openShop, type Shop } from '../support/jobs/shop.ts';

const shop = openShop();

const changed = (part: Partial<RunResult>) => (at: Shop) =>
  at.tamper((result) => Object.assign(result, part));
const codeOf = async (...given: Parameters<Shop['publish']>) => (await shop.publish(...given)).said.errorCode;

test('a failed publication has a code that says why', async () => {
  const codes: (string | null)[] = [];
  const provoke = async (args: string[], prepare: (at: Shop) => unknown = () => {}) => {
    const before = shop.run;
    shop.run = await shop.finished('echo more > more.txt');
    prepare(shop);
    codes.push(await codeOf(args));
    shop.run = before;
  };
  await provoke([], changed({ baseDirty: true }));
  await provoke([], changed({ patch: null }));
  await provoke([], changed({ treeSha: '1'.repeat(40) }));
  await provoke([], changed({ baseBranch: '--upload-pack=x' }));
  await provoke(['--issue', '999']);
  await provoke(['--base', 'nowhere']);
  await provoke(['--max-patch-size', '10']);
  expect(codes).toEqual([
    'ERR_BASE_DIRTY',
    'ERR_NOTHING_TO_PUBLISH',
    'ERR_PATCH_BROKEN',
    'ERR_RUN_UNTRUSTED',
    'ERR_OTHER_ISSUE',
    'ERR_BASE_BRANCH',
    'ERR_PATCH_TOO_LARGE',
  ]);
});

test('a commit that GitHub does not sign has a code', async () => {
  const token = { ...ENOUGH, kind: 'user', login: 'octo' } as const;
  expect(await codeOf(['--sign', 'required'], { token })).toBe('ERR_COMMIT_NOT_MADE');
});

test('what does not keep a publication from being done is a warning', async () => {
  const { number } = shop.github.addIssue('octo/shop', { title: 'Do it', labels: ['patchsmith'] });
  shop.github.faults.add({
    on: { path: /labels/ },
    times: 9,
    trouble: { kind: 'status', status: 403, message: 'Resource not accessible by integration' },
  });
  const asked = ['--issue', String(number), '--trigger-label', 'patchsmith', '--comment', 'never'];
  const { said, stderr } = await shop.publish(asked);
  shop.github.faults.clear();
  expect(said, stderr).toMatchObject({
    outcome: 'done',
    warnings: expect.arrayContaining([expect.stringContaining('[WARN_LABEL_NOT_SET] ')]),
  });
  const unasked = await shop.publish(['--branch', 'other', '--comment', 'always']);
  expect(unasked.said.warnings).toContainEqual(
    '[WARN_NO_COMMENT] No comment was posted because the plan did not come from an issue of this repository.',
  );
});

test('a publication of a run that ended badly has the code of the run', async () => {
  shop.tamper((result) =>
    Object.assign(result, { outcome: 'limit_reached', exitCode: 7, errorCode: 'ERR_LIMIT_COST' }),
  );
  expect(await codeOf()).toBe('ERR_LIMIT_COST');
});
