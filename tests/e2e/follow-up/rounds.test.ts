/** A round of a follow-up is recorded before it is paid for: with the templates and the built action, whatever becomes of the run. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Script } from '../../support/claude-server/script.ts';
import type { ClaudeServer } from '../../support/claude-server/server.ts';
import { temporaryFolder } from '../../support/files/repository.ts';
import { ask } from '../../support/github-server/ask.ts';
import type { GitHub, GitHubRepository } from '../../support/github-server/server.ts';
import { type ActionEnd, runAction } from '../../support/jobs/action-runner.ts';
import { openShopOnGitHub, type ShopOnGitHub } from '../../support/jobs/shop-on-github.ts';
import type { JobEnd, WorkflowRun } from '../../support/jobs/workflow-runner.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const NAME = 'acme/shop';
const HOUR = 3_600_000;
const LOG = 'refs/patchsmith/rounds';

let shop: ShopOnGitHub;
let github: GitHub;
let repository: GitHubRepository;
let claude: ClaudeServer;
/** How far behind the time of GitHub is, in milliseconds. */
let ago: number;
let workflowRuns: number;
let earlier = 0;

/** What nobody asks for in words, it does not do: such a run ends red. */
const model: Script = (request) => {
  const messages = request.messages as unknown[];
  const text = JSON.stringify(messages[0]);
  if (text.includes('<conflict ') && !text.includes('line: better') && messages.length === 1)
    return { calls: [call('finish', { status: 'blocked', summary: 'Round 0. No round counts.' })] };
  if (messages.length > 1) return { text: 'Done.' };
  const [, line = 'new'] = /line: (\w+)/.exec(text) ?? [];
  return { calls: [call('write_file', { path: 'a.txt', content: `${line}\n2\n3\n` })] };
};

beforeEach(async () => {
  ago = 0;
  workflowRuns = 0;
  shop = await openShopOnGitHub(model, { clock: () => Date.now() - ago, files: { 'a.txt': 'old\n2\n3\n' } });
  ({ github, repository, model: claude } = shop);
  await openPull(1);
});

afterEach(async () => {
  expect(github.invalid).toEqual([]);
  await shop.close();
});
/** The issue with this number, and the pull request after it. */
async function openPull(number: number): Promise<void> {
  github.addIssue(NAME, { title: `Renew a, ${number}`, body: 'It is old.', author: 'ann' });
  const payload = {
    action: 'labeled',
    label: { name: 'patchsmith' },
    issue: await shop.read(`/issues/${number}`),
  };
  await carryOut({ name: 'issues', payload });
  expect(repository.issues.get(number + 1)?.pull).toBeDefined();
  earlier = claude.requests.length;
}

async function payloadBy(login: string, more: object): Promise<Record<string, unknown>> {
  const { id } = github.addUser(login);
  return shop.payload({ sender: { login, id, type: 'User' }, ...more });
}

async function carryOut(
  { name, payload }: WorkflowRun['event'],
  more: Partial<WorkflowRun> = {},
): Promise<JobEnd[]> {
  workflowRuns += 1;
  const env = { GITHUB_RUN_ID: String(4_710 + workflowRuns), ...more.env };
  return shop.carryOut({ name, payload: await payloadBy('ann', payload) }, { ...more, env });
}

let pushes = 0;

/** Somebody pushes what conflicts with every pull request. */
async function push(more: Partial<WorkflowRun> = {}): Promise<JobEnd[]> {
  pushes += 1;
  await repository.commit('main', { 'a.txt': `theirs ${pushes}\n2\n3\n` });
  return redeliver(more);
}

/** The same push once more. */
function redeliver(more: Partial<WorkflowRun> = {}): Promise<JobEnd[]> {
  return carryOut({ name: 'push', payload: { ref: 'refs/heads/main' } }, more);
}

/** Without its sender: those who deliver it are another question. */
async function commentedBy(login: string, body: string): Promise<Record<string, unknown>> {
  const { sender: _sender, ...payload } = await shop.commented(2, body, login);
  return payload;
}

/** The subjects of the log, oldest first. */
async function rounds(): Promise<string[]> {
  if ((await repository.git('for-each-ref', LOG)) === '') return [];
  const log = await repository.git('log', '--reverse', '--format=%s', LOG);
  return log.split('\n').map((line) => line.replace(/, \d+ today$/, ''));
}

/** Requests to the model since the pull requests were opened. */
const paid = () => claude.requests.length - earlier;
const logOf = (ends: readonly JobEnd[]) =>
  ends.flatMap(({ actions }) => actions.map(({ stderr }) => stderr)).join('\n');
const FIRST = 'Pull request 2: round 1 without a person asking (conflict)';
const SECOND = 'Pull request 2: round 2 without a person asking (conflict)';

/** The preparation alone, as a workflow of its own starts it. */
async function prepare(
  payload: Record<string, unknown>,
  { event = 'push', ...env }: { event?: string } & Record<string, string> = {},
): Promise<ActionEnd> {
  workflowRuns += 1;
  const permissions = { contents: 'write', pull_requests: 'write', issues: 'write' } as const;
  return runAction({
    workspace: process.cwd(),
    inputs: { mode: 'prepare', continue: event === 'push' ? 'auto' : '2' },
    token: github.addToken({ kind: 'installation', permissions }),
    event: payload,
    env: {
      GITHUB_EVENT_NAME: event,
      GITHUB_REPOSITORY: NAME,
      GITHUB_REF_NAME: 'main',
      GITHUB_API_URL: github.url,
      GITHUB_SERVER_URL: github.serverUrl,
      GITHUB_RUN_ID: String(4_710 + workflowRuns),
      GITHUB_RUN_ATTEMPT: '1',
      ...env,
    },
  });
}

test('a request is paid once, not again by "Re-run failed jobs", and nothing begins without a record', async () => {
  const payload = await commentedBy('ann', '/patchsmith line: fine');
  const asked = { name: 'issue_comment', payload };
  const failing = { env: { PATCHSMITH_MAX_PATCH_SIZE: '1', GITHUB_RUN_ID: '99' } };
  const first = await carryOut(asked, failing);
  expect(first.find(({ name }) => name === 'prepare')?.result, logOf(first)).toBe('success');
  expect(await rounds(), logOf(first)).toEqual(['Pull request 2: as requested (request)']);
  const before = paid();
  expect(before, logOf(first)).toBeGreaterThan(0);
  const failed = first.map((end) => (end.name === 'run' ? { ...end, result: 'failure' as const } : end));
  const env = { GITHUB_RUN_ID: '99', GITHUB_RUN_ATTEMPT: '2' };
  const again = await carryOut(asked, { before: failed, env });
  expect([paid(), (await rounds()).length], logOf(again)).toEqual([before, 1]);
  expect(logOf(again)).toContain('no round was recorded for its head');

  // Whatever happens while a round is recorded, no run starts without one.
  await repository.git('update-ref', '-d', LOG);
  await repository.commit('main', { 'a.txt': 'theirs\n2\n3\n' });
  const push = await payloadBy('ann', { ref: 'refs/heads/main' });
  for (const on of [
    { operation: 'git/create-commit' },
    { operation: 'git/create-ref' },
    { operation: 'repos/list-commits' },
  ]) {
    if (on.operation === 'repos/list-commits') await repository.git('update-ref', LOG, 'main');
    github.faults.add({ on, times: 50, trouble: { kind: 'status', status: 403 } });
    const end = await prepare(push);
    github.faults.clear();
    expect([end.exitCode !== 0, end.outputs['pull-requests']], end.stderr).not.toEqual([false, '[2]']);
  }
  await repository.git('update-ref', '-d', LOG);
  // The answer is lost: what stands is found again.
  github.faults.add({
    on: { operation: 'git/create-ref' },
    carriedOut: true,
    trouble: { kind: 'status', status: 502 },
  });
  const ends = await Promise.all([prepare(push), prepare(push)]);
  expect(ends.map(({ outputs }) => outputs['pull-requests']).sort()).toEqual(['[2]', '[]']);
  expect(await rounds()).toEqual([FIRST]);
  // What a bot asks for is no person's request.
  const helped = await commentedBy('helper[bot]', '/patchsmith more');
  const { id } = github.addUser('helper[bot]');
  const byBot = { ...(await payloadBy('ann', helped)), sender: { login: 'helper[bot]', id, type: 'Bot' } };
  await repository.git('update-ref', '-d', LOG);
  const allowed = { event: 'issue_comment', PATCHSMITH_ALLOW_BOT: String(id) };
  const bot = await prepare(byBot, allowed);
  expect(await rounds(), bot.stderr).toEqual(['Pull request 2: round 1 without a person asking (request)']);
});

/** Steps of one job, each on the head of the pull request as it is by then. */
async function stepsOfJob(shared: Record<string, string> = {}) {
  const payload = await commentedBy('ann', '/patchsmith line: fine');
  const comment = (payload.comment as { id: number }).id;
  const event = await payloadBy('ann', payload);
  const permissions = { contents: 'write', pull_requests: 'write', issues: 'write' } as const;
  const step = (mode: string, line: string, env: Record<string, string>): Promise<ActionEnd> => {
    const workspace = join(temporaryFolder(), 'shop');
    execFileSync('git', ['clone', '-q', '--no-hardlinks', repository.gitFolder, workspace]);
    const { head } = repository.issues.get(2)?.pull ?? {};
    execFileSync('git', ['checkout', '-q', '--detach', `origin/${head}`], { cwd: workspace });
    return runAction({
      workspace,
      inputs: {
        mode,
        continue: '2',
        'plan-from-comment': String(comment),
        prompt: `line: ${line}`,
        'api-key': KEY,
      },
      token: github.addToken({ kind: 'installation', permissions }),
      event,
      env: {
        GITHUB_EVENT_NAME: 'issue_comment',
        GITHUB_REPOSITORY: NAME,
        GITHUB_API_URL: github.url,
        GITHUB_SERVER_URL: github.serverUrl,
        ANTHROPIC_BASE_URL: claude.url,
        GITHUB_RUN_ATTEMPT: '1',
        ...shared,
        ...env,
      },
    });
  };
  return { event, step };
}

test('what a preparation recorded is for one step of a job', async () => {
  const { event, step } = await stepsOfJob({ RUNNER_TEMP: temporaryFolder(), GITHUB_RUN_ID: '99' });
  const prepared = await prepare(event, { event: 'issue_comment', GITHUB_RUN_ID: '99' });
  expect(prepared.exitCode, prepared.stderr).toBe(0);
  const first = await step('run', 'one', {});
  expect(first.exitCode, first.stderr).toBe(0);
  const before = paid();
  for (const mode of ['run', 'run-and-publish']) {
    const second = await step(mode, 'two', {});
    expect([second.exitCode, second.outputs['error-code']]).toEqual([11, 'ERR_ROUND_NOT_RECORDED']);
    expect(second.stderr).toContain('an earlier step of this job has already used the round');
  }
  expect([paid(), await rounds()]).toEqual([before, ['Pull request 2: as requested (request)']]);
});

testAtNight('the same event pays once, also when it is delivered twice at the same time', async () => {
  const both = await Promise.all([push(), redeliver()]);
  expect([paid(), await rounds()]).toEqual([1, [FIRST]]);
  await redeliver();
  expect(both.map((ends) => ends[1]?.result).sort()).toEqual(['failure', 'skipped']);
  // Long after, too.
  ago = 9 * HOUR;
  await repository.git('update-ref', '-d', LOG);
  await redeliver();
  ago = 0;
  const late = await redeliver();
  expect([paid(), await rounds()]).toEqual([2, [FIRST]]);
  expect(logOf(late)).toContain('the same head, base and trigger, are paid for once');
});

testAtNight('a job that is killed between the record and the model counts', async () => {
  await push({ kill: { mode: 'run', at: async ({ pid }) => void process.kill(pid, 'SIGKILL') } });
  expect([paid(), await rounds()]).toEqual([0, [FIRST]]);
  await push();
  expect([paid(), await rounds()]).toEqual([0, [FIRST]]);
});

test('what the rules of the branch would refuse is said before a round is recorded', async () => {
  const parameters = { operator: 'starts_with', pattern: 'SHOP-' };
  repository.settings.rules = [{ type: 'commit_message_pattern', parameters }];
  const payload = await payloadBy('ann', await commentedBy('ann', '/patchsmith more'));
  const refused = await prepare(payload, { event: 'issue_comment' });
  expect([refused.exitCode, await rounds()]).toEqual([11, []]);
  expect(refused.stderr).toContain('want the commit message to start with "SHOP-"');
});

testAtNight(
  'a preparation that is killed when the record stands counts, and so does it when a person re-runs all jobs',
  async () => {
    let victim: number | null = null;
    github.after(({ operation }) => {
      if (victim === null || operation !== 'git/create-ref') return;
      process.kill(victim, 'SIGKILL');
      victim = null;
    });
    const killed = await push({
      kill: {
        mode: 'prepare',
        at: async ({ pid }) => {
          victim = pid;
        },
      },
    });
    expect([paid(), await rounds(), killed[0]?.result]).toEqual([0, [FIRST], 'failure']);
    const again = await redeliver({ env: { GITHUB_RUN_ATTEMPT: '2' } });
    expect([paid(), await rounds()], logOf(again)).toEqual([1, [FIRST, SECOND]]);
    // Without the preparation, a job is not paid for again.
    const env = { GITHUB_RUN_ID: String(4_710 + workflowRuns), GITHUB_RUN_ATTEMPT: '3' };
    const alone = await redeliver({ before: again, env });
    expect([paid(), await rounds()], logOf(alone)).toEqual([1, [FIRST, SECOND]]);
    expect(logOf(alone)).toContain('no round was recorded for its head');
  },
);

testAtNight(
  'what strangers and the model write counts for nothing, and a run without a record is refused',
  async () => {
    // In a comment, with all that a comment or a record of ours has in it.
    const own = { pull: 2, head: await repository.head(repository.issues.get(2)?.pull?.head ?? '') };
    await push();
    const record = await repository.git('log', '-1', '--format=%B', LOG);
    expect(record).toContain(`"pull":2,"head":"${own.head}"`);
    const forged = record
      .replace('"conflict"', '"request"')
      .replace('"request":null', '"request":"comment 1"');
    const payload = await commentedBy('eve', `/patchsmith ${forged}`);
    // Whoever has no write access starts no round, whatever the workflow's own condition says.
    const prepared = await runAction({
      workspace: process.cwd(),
      inputs: { mode: 'prepare', continue: '2', issue: '2' },
      token: github.addToken({
        kind: 'installation',
        permissions: { contents: 'write', pull_requests: 'write', issues: 'write' },
      }),
      event: await payloadBy('eve', payload),
      env: {
        GITHUB_EVENT_NAME: 'issue_comment',
        GITHUB_REPOSITORY: NAME,
        GITHUB_API_URL: github.url,
        GITHUB_SERVER_URL: github.serverUrl,
        GITHUB_RUN_ID: '99',
      },
    });
    expect([prepared.exitCode, prepared.outputs['error-code']]).toEqual([8, 'ERR_NO_WRITE_ACCESS']);
    await push();
    expect([paid(), await rounds()]).toEqual([1, [FIRST]]);

    // The job of the model cannot write to the log, and does not run without a record in it.
    const reader = github.addToken({ kind: 'installation', permissions: { contents: 'read' } });
    const sha = await repository.git('rev-parse', LOG);
    const made = await ask(github, reader, `POST /repos/${NAME}/git/refs`, { ref: `${LOG}-2`, sha });
    expect(made.status).toBe(403);
    await repository.git('update-ref', LOG, 'main');
    const damaged = await push();
    expect(logOf(damaged)).toContain(`Delete the ref to begin a new count: git push origin --delete ${LOG}`);
    expect(paid()).toBe(1);
  },
);
