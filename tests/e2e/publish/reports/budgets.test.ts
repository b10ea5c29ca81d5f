import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunResult } from '../../../../src/library.ts';
import { isWrite } from '../../../support/github-server/server.ts';
import {
  closeGitHubs,
  type MadeRun,
  madeRun,
  NAME,
  type OnGitHub,
  onGitHub,
  publish,
} from '../../../support/jobs/publishing.ts';
import { outcomesIn } from '../../../support/published.ts';
import { cliHere } from '../../../support/runs/in-process.ts';
import { call } from '../../../support/runs/scripted-run.ts';

let made: MadeRun;

beforeAll(async () => {
  made = await madeRun({ 'a.txt': 'old\n' }, [
    { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
    { text: 'Done.' },
  ]);
});

afterAll(closeGitHubs);
/** An id of a run that began so many hours ago. */
const idOf = (hours: number, end: string) =>
  `${new Date(Date.now() - hours * 3_600_000).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)}-${end}`;

/** The artifact becomes that of another run. */
function become(there: OnGitHub, part: Partial<RunResult>): void {
  const path = join(there.artifact, 'result.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...part }));
}

const ISSUE = ['--issue', '1'];

async function published(there: OnGitHub, part: Partial<RunResult>) {
  become(there, part);
  return publish(there, { args: ISSUE });
}

const FAILED: Partial<RunResult> = {
  outcome: 'blocked',
  exitCode: 5,
  patch: null,
  changedFiles: [],
  treeSha: null,
};

async function command(there: OnGitHub, args: readonly string[]) {
  const env = {
    PATH: process.env.PATH,
    GITHUB_TOKEN: there.token,
    GITHUB_API_URL: there.github.url,
    GITHUB_SERVER_URL: there.github.serverUrl,
  };
  return cliHere([...args, '--repository', NAME], { cwd: made.repository.root, env });
}

test('what runs have cost is recorded once, whatever became of them, and a budget refuses the next one', async () => {
  const there = await onGitHub(made, { issue: true });
  await published(there, { ...FAILED, runId: idOf(1, 'aaaaaa'), costUsd: 0.5 });
  await published(there, { ...FAILED, runId: idOf(30, 'bbbbbb'), costUsd: 2 });
  become(there, {
    ...made.result,
    plan: JSON.parse(readFileSync(join(there.artifact, 'result.json'), 'utf8')).plan,
  });
  const last = { runId: idOf(0, 'cccccc'), costUsd: 0.25 };
  for (let times = 1; times <= 2; times += 1) expect((await published(there, last)).exitCode).toBe(0);
  const [comment] = there.repository.issues.get(1)?.comments ?? [];
  expect(comment?.body).toMatch(
    /\n<!-- patchsmith-costs: \S+-aaaaaa=0\.5000 \S+-bbbbbb=2\.0000 \S+-cccccc=0\.2500 -->\n<!-- patchsmith:[0-9a-f]{8} -->$/,
  );

  const before = there.github.requests.length;
  const day = await command(there, ['prepare', ...ISSUE, '--cost-per-day', '0.75']);
  expect(day.exitCode, day.stderr).toBe(7);
  expect(day.stderr).toContain('[ERR_BUDGET_USED]: Runs have used USD 0.75 of 0.75 in 24 hours (2 runs)');
  const plan = await command(there, ['prepare', ...ISSUE, '--cost-per-plan', '2.75']);
  expect(plan.exitCode, plan.stderr).toBe(7);
  expect(plan.stderr).toContain('USD 2.75 of 2.75 for this plan in 30 days (3 runs)');
  const writes = there.github.requests.slice(before).filter(isWrite);
  expect(new Set(writes.map(({ method }) => method))).toEqual(new Set(['PATCH']));

  const more = ['--cost-per-day', '0.76', '--cost-per-plan', '2.76'];
  const ready = await command(there, ['prepare', ...ISSUE, ...more]);
  expect(ready.exitCode, ready.stderr).toBe(0);
  expect(ready.stderr).toContain('Used: USD 0.75 of 0.76 in 24 hours (2 runs).');
  expect(there.repository.issues.get(1)?.comments[0]?.body).toContain('patchsmith-costs:');
  expect(there.github.invalid).toEqual([]);
});

test('a plan without an issue is counted by its commits, and texts of others count for nothing', async () => {
  const there = await onGitHub(made);
  there.github.addIssue(NAME, {
    title: 'Mine',
    body: `<!-- patchsmith-costs: ${idOf(0, 'eeeeee')}=99.0000 -->\n<!-- patchsmith:00000000 -->`,
  });
  there.github.addComment(NAME, 1, {
    body: `<!-- patchsmith-costs: ${idOf(0, 'ffffff')}=99.0000 -->\n<!-- patchsmith:00000000 -->`,
    author: 'ann',
  });
  become(there, { runId: idOf(1, 'dddddd'), costUsd: 0.5 });
  expect((await publish(there)).exitCode).toBe(0);
  const used = await command(there, ['prepare', '--cost-per-day', '0.5']);
  expect([used.exitCode, used.stderr]).toEqual([7, expect.stringContaining('USD 0.50 of 0.50')]);
  expect((await command(there, ['prepare', '--cost-per-day', '0.51'])).exitCode).toBe(0);

  const run = ['run', '-m', 'Do it', '--publish', '--sandbox', 'off'];
  const env = {
    PATH: process.env.PATH,
    GITHUB_TOKEN: there.token,
    GITHUB_API_URL: there.github.url,
    GITHUB_SERVER_URL: there.github.serverUrl,
    ANTHROPIC_API_KEY: 'sk-ant-test-0123456789abcdef',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  };
  await made.repository.git('reset', '--hard', '--quiet');
  await made.repository.git('clean', '-fdq');
  const limit = ['--cost-per-plan', '0.5', '--repository', NAME];
  const { exitCode, stderr } = await cliHere([...run, ...limit], { cwd: made.repository.root, env });
  expect(exitCode, stderr).toBe(7);
  expect(stderr).toContain('[ERR_BUDGET_USED]');
});

test('no result makes what is recorded unreadable or less', async () => {
  const there = await onGitHub(made, { issue: true });
  const first = { ...FAILED, runId: idOf(1, 'aaaaaa') };
  await published(there, { ...first, costUsd: 0.5 });
  await published(there, { ...FAILED, runId: idOf(1, 'bbbbbb'), costUsd: 9_999_999.99999 });
  await published(there, { ...first, costUsd: 0.0001 });
  const body = there.repository.issues.get(1)?.comments[0]?.body;
  expect(body).toMatch(/<!-- patchsmith-costs: \S+-aaaaaa=0\.5000 \S+-bbbbbb=9999999\.9999 -->/);
  const day = await command(there, ['prepare', ...ISSUE, '--cost-per-day', '1000']);
  expect(day.exitCode, day.stderr).toBe(7);
});

test('what a run says is no record of others', async () => {
  const there = await onGitHub(made, { issue: true });
  const forged = `<!-- patchsmith-costs: ${idOf(0, 'ffffff')}=99.0000 -->`;
  const reason = `No.\n${forged}\n<!-- patchsmith:00000000 -->`;
  await published(there, { ...FAILED, runId: idOf(1, 'aaaaaa'), costUsd: 0.5, reason, summary: reason });
  const [comment] = there.repository.issues.get(1)?.comments ?? [];
  // Other programs with the same token may repeat what anyone has written.
  const quote = `They say:\n${forged}\n<!-- patchsmith:00000000 -->\nThank you.`;
  there.github.addComment(NAME, 1, { body: quote, author: comment?.author.login ?? '' });
  const { exitCode, stderr } = await command(there, ['prepare', ...ISSUE, '--cost-per-day', '0.51']);
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toContain('Used: USD 0.50 of 0.51 in 24 hours (1 run).');
});

test('a plan is charged for what went wrong on its pull request, for 30 days', async () => {
  const there = await onGitHub(made, { issue: true });
  expect((await published(there, { runId: idOf(2, 'aaaaaa'), costUsd: 0.5 })).exitCode).toBe(0);
  const url = `${there.github.serverUrl}/${NAME}/pull/2`;
  const marker = `<!-- patchsmith:${createHash('sha256').update(url).digest('hex').slice(0, 8)} -->`;
  const costs = `<!-- patchsmith-costs: ${idOf(800, 'bbbbbb')}=9.0000 ${idOf(1, 'cccccc')}=0.2500 -->`;
  const author = there.repository.issues.get(1)?.comments[0]?.author.login ?? '';
  there.github.addComment(NAME, 2, { body: `Failed.\n\n${costs}\n${marker}`, author });
  const plan = await command(there, ['prepare', ...ISSUE, '--cost-per-plan', '0.75']);
  expect(plan.exitCode, plan.stderr).toBe(7);
  expect(plan.stderr).toContain('USD 0.75 of 0.75 for this plan in 30 days (2 runs)');
  const more = await command(there, ['prepare', ...ISSUE, '--cost-per-plan', '0.76']);
  expect(more.exitCode, more.stderr).toBe(0);
});

test('what cannot be counted is refused', async () => {
  const there = await onGitHub(made, { issue: true });
  for (const operation of ['issues/list-for-repo', 'issues/list-comments-for-repo']) {
    there.github.faults.add({ on: { operation }, trouble: { kind: 'status', status: 404 } });
    const { exitCode, stderr } = await command(there, ['prepare', ...ISSUE, '--cost-per-day', '1']);
    expect(exitCode, stderr).toBe(11);
  }
});

test('outcomes says what became of pull requests, and what a merged one has cost', async () => {
  const there = await onGitHub(made, { issue: true });
  expect((await published(there, { runId: idOf(2, 'aaaaaa'), costUsd: 0.5 })).exitCode).toBe(0);
  const empty = outcomesIn((await command(there, ['outcomes', '--json'])).stdout);
  expect(empty).toMatchObject({ merged: 0, open: 1, runs: 1, costUsd: 0.5, costPerMergedUsd: null });

  const pull = there.repository.issues.get(2);
  await there.repository.commit(pull?.pull?.head ?? '', { 'b.txt': 'by hand\n' });
  if (pull?.pull) Object.assign(pull.pull, { merged: true });
  if (pull) await command(there, ['outcomes']);
  if (pull) pull.state = 'closed';
  await published(there, { ...FAILED, runId: idOf(1, 'bbbbbb'), costUsd: 0.25 });
  const { exitCode, stdout, stderr } = await command(there, ['outcomes', '--json', '--since', '7d']);
  expect(exitCode, stderr).toBe(0);
  expect(outcomesIn(stdout)).toMatchObject({
    repository: NAME,
    pullRequests: [{ number: 2, state: 'merged', edited: true, runs: 2, costUsd: 0.75 }],
    ...{
      merged: 1,
      closed: 0,
      open: 0,
      editedBeforeMerge: 1,
      runs: 2,
      costUsd: 0.75,
      costPerMergedUsd: 0.75,
    },
  });
  const table = await command(there, ['outcomes']);
  expect(table.stdout).toMatch(/^PULL REQUEST +STATE .*\n#2 +merged +yes +2 +USD 0\.75 /);
  expect(table.stderr).toMatch(
    /1 merged \(1 edited by others\), 0 closed, 0 open; 2 runs, USD 0\.75, USD 0\.75 per merged one\.\n$/,
  );
  expect(there.github.invalid).toEqual([]);
});
