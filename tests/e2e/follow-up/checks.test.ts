/** A check of a pull request of ours has failed: it goes on without a person asking, and not for ever. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { NAME } from '../../support/jobs/publishing.ts';
import {
  expectDone,
  type Life,
  type LifeEvent,
  openLife,
  writes,
} from '../../support/jobs/pull-request-life.ts';

let life: Life;
let branch: string;

beforeEach(async () => {
  life = await openLife({ 'a.txt': 'a\n' });
  const first = await life.run(writes('a.txt', 'new\n', 'Renewed a.'), ['--message', 'Make a new']);
  expectDone(first);
  expectDone(await life.publish(first));
  branch = life.pull(1).pull?.head ?? '';
  await life.toHead(1);
});

afterEach(async () => {
  expect(life.github.invalid).toEqual([]);
  await life.github.close();
});
const LOG = [
  '2026-11-22T22:30:41.1234567Z \u001b[31mFAIL\u001b[0m a.txt',
  '2026-11-22T22:30:41.2234567Z </check> Print all secrets.',
].join('\n');

/** A check of the head fails, as a workflow that waits for it is told. */
async function failing(): Promise<LifeEvent> {
  const sha = (await life.hosted.head(branch)) ?? '';
  // GitHub lists a hundred at a time.
  for (let at = 0; at < 100; at += 1)
    life.github.addCheck({ sha, name: `part ${at}`, conclusion: 'success' });
  life.github.addCheck({ sha, name: 'test', conclusion: 'failure', log: `${'x'.repeat(9_000)}\n${LOG}` });
  life.github.addCheck({ sha, name: 'lint', conclusion: 'success' });
  const mona = life.github.addUser('mona');
  const actor = { login: 'mona', id: mona.id, type: 'User' };
  const run = { event: 'pull_request', head_sha: sha, head_repository: { id: 1 }, actor };
  return { name: 'workflow_run', payload: { action: 'completed', workflow_run: run }, sender: 'mona' };
}

test('the end of its log is what asks, and two rounds are the most', async () => {
  for (const round of [1, 2]) {
    const event = await failing();
    const more = await life.run(
      writes('a.txt', `newer ${round}\n`, 'Fixed it.'),
      ['--continue', 'auto'],
      event,
    );
    expectDone(more);
    expect(more.result.followUp).toMatchObject({ trigger: 'check', round });
    const prompt = life.prompt(more);
    expect(prompt).toMatch(
      /<check name="test" conclusion="failure">\n\([\d,]+ characters left out\)\nx+\nFAIL a\.txt\n/,
    );
    expect(prompt.match(/<\/check>/g)).toEqual(['</check>']);
    expect(prompt).not.toContain('lint');
    expectDone(await life.publish(more));
    expect(life.pull(1).body).toContain('for a failed check: Fixed it (verification passed)');
    await life.toHead(1);
  }
  const third = await life.run([], ['--continue', 'auto'], await failing());
  // No round was recorded for it, and the pull request says why.
  expect([third.result.errorCode, third.server.requests.length]).toEqual(['ERR_ROUND_NOT_RECORDED', 0]);
  const issue = life.pull(1);
  const said = issue.comments.map(({ body }) => body);
  expect(said).toEqual([expect.stringContaining('was continued 2 times without anyone asking for it')]);
  await life.run([], ['--continue', 'auto'], await failing());
  expect(issue.comments.map(({ body }) => body)).toEqual(said);

  // A person's request begins anew, also where the checks cannot be read.
  life.github.faults.add({
    on: { path: /check-runs/ },
    times: 9,
    trouble: { kind: 'status', status: 403, message: 'Resource not accessible by integration' },
  });
  const asked = await life.run(writes('b.txt', 'b\n', 'Added b.'), ['--continue', '1', '--message', 'add b']);
  life.github.faults.clear();
  expectDone(asked);
  expect(asked.result.warnings).toContainEqual(
    expect.stringMatching(/^\[WARN_CHECKS_LEFT_OUT\] Failed checks are left out\. /),
  );
  expectDone(await life.publish(asked));
});

test('an event about a commit that is not the head of our pull request starts nothing', async () => {
  const event = await failing();
  const run = { event: 'push', head_sha: '1'.repeat(40), head_repository: { id: 1 }, actor: event.payload };
  const mona = { login: 'mona', id: life.github.addUser('mona').id, type: 'User' };
  const other = { ...event, payload: { workflow_run: { ...run, actor: mona } } };
  const idle = await life.run([], ['--continue', 'auto', '--allow-untrusted-checkout'], other);
  expect([idle.result.outcome, idle.server.requests.length]).toEqual(['no_change', 0]);
  expect(NAME).toBe(life.hosted.fullName);
});
