import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isWrite } from '../../support/github-server/server.ts';
import { jobEnvironment } from '../../support/jobs/github-job.ts';
import { NAME } from '../../support/jobs/publishing.ts';
import { done, edit, oneJob, place, publishJob, runJob } from '../../support/jobs/publishing-job.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

test('one job for both: the outcome is the run’s, and the token is nowhere', async () => {
  const at = await place([
    { calls: [call('run_command', { command: 'env; cat /proc/*/environ; echo new > a.txt; true' })] },
    done,
  ]);
  const ended = await oneJob(at);
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([0, 'done']);
  expect(ended.outputs['pull-request-operation']).toBe('created');
  expect(ended.stderr.match(/^patchsmith: .*$/gm)).toEqual([
    'patchsmith: done (exit 0): 1 file changed, nothing to verify.',
    expect.stringMatching(/^patchsmith: done \(exit 0\): Pull request #1 opened: http/),
  ]);
  expect(at.hosted.pulls()).toHaveLength(1);
  expect(JSON.stringify(at.model.requests.map(({ body }) => body))).not.toContain(at.token);
  expect(ended.masks).toEqual([KEY, at.token]);
});

test('a dry run has no pull request: neither in the outputs nor in the summary', async () => {
  const at = await place([edit, done]);
  const { artifact } = await runJob(at);
  const ended = await publishJob(at, artifact, { inputs: { 'dry-run': 'true' } });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([0, 'done']);
  expect(ended.stderr).toMatch(/^would POST \/repos\/acme\/shop\/pulls /m);
  expect(ended.outputs).toMatchObject({
    'pull-request-number': '',
    'pull-request-url': '',
    'pull-request-operation': 'none',
    'pull-request-head-sha': '',
    'pull-request-branch': '',
    'pull-request-draft': '',
    'comment-url': '',
  });
  expect(ended.summary).toContain('Nothing was changed (--dry-run).');
  expect(ended.summary).not.toContain('Pull request');
});

testAtNight('what failed in the run is an annotation of the job that ran it, and of no other', async () => {
  const at = await place([edit, done]);
  const { ended: ran, artifact } = await runJob(at, { verify: 'exit 3', 'fix-rounds': '0' });
  expect(ran.stdout).toContain('::error title=Failed%3A exit 3::');
  const published = await publishJob(at, artifact);
  expect([published.exitCode, published.outputs.outcome], published.stderr).toEqual([0, 'done']);
  expect(published.stdout).not.toContain('::error');
  expect(published.summary).toContain('**verification failed in a fresh checkout of base + patch:**');
});

test('one job for both: what publishing lacks is reported before a token is spent', async () => {
  const at = await place([edit, done]);
  const ended = await oneJob(at, { inputs: { 'github-token': '' } });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([2, 'usage_error']);
  expect(ended.lastLine).toContain('there is no token: set github-token');
  expect(at.model.requests).toHaveLength(0);
});

test('one job for both: missing permissions are reported before a token of the model is spent', async () => {
  const at = await place([edit, done]);
  const weak = at.github.addToken({ kind: 'installation', permissions: { contents: 'write' } });
  const ended = await oneJob(at, { inputs: { 'github-token': weak } });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([11, 'publish_failed']);
  expect(ended.lastLine).toContain(
    'The token lacks pull-requests: write: add it to the permissions of the job',
  );
  expect(at.model.requests).toHaveLength(0);
});

test('one job for both: who may not start a run makes no call that could change anything', async () => {
  const at = await place([edit, done]);
  const { type, ...account } = at.github.addUser('mallory');
  const job = jobEnvironment(at.github, {
    event: 'issues',
    payload: { action: 'opened' },
    repository: { id: 7, full_name: NAME },
    sha: await at.checkout.git('rev-parse', 'HEAD'),
    sender: { ...account, type },
    token: at.token,
  });
  const ended = await oneJob(at, { env: job });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([8, 'policy_violation']);
  expect(at.github.requests.filter(isWrite)).toEqual([]);
  expect(at.model.requests).toHaveLength(0);
});

test('a wrong input of the step that prepares or publishes is explained on the issue, and nothing else is done', async () => {
  const at = await place([edit, done]);
  at.github.addIssue(NAME, { title: 'Renew', author: 'ann', labels: ['patchsmith:running', 'bug'] });
  const { artifact } = await runJob(at);
  const wrong = { issue: '1', 'trigger-label': 'patchsmith', draft: 'perhaps' };
  const ended = await publishJob(at, artifact, { inputs: { ...wrong, milestne: 'Next' } });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([2, 'usage_error']);
  const issue = at.hosted.issues.get(1);
  const said = () => issue?.comments.map(({ body }) => body.split('\n\n').slice(0, 3));
  expect(said()).toEqual([
    [
      '**The change could not be published**',
      'milestne: there is no such input; the nearest is milestone.',
      expect.stringMatching(/^The patch is kept among the artifacts\. When that is fixed, publish it again/),
    ],
  ]);
  expect(issue?.labels.map(({ name }) => name)).toEqual(['bug', 'patchsmith:failed']);
  expect([ended.outputs['comment-url'] !== '', at.hosted.pulls()]).toEqual([true, []]);

  const again = await publishJob(at, artifact, { inputs: wrong });
  expect(again.lastLine).toContain('draft: ');
  expect(said()?.[0]?.[1]).toMatch(/^draft: .*perhaps/);
  expect(issue?.comments[0]?.body).toContain('publish it again, which needs no other run');

  const prepared = await publishJob(at, '', {
    inputs: { ...wrong, mode: 'prepare', 'run-dir': '', draft: '', comment: 'no' },
  });
  expect([prepared.exitCode, prepared.outputs.outcome], prepared.stderr).toEqual([2, 'usage_error']);
  expect(said()).toEqual([
    [
      '**The run could not begin**',
      expect.stringMatching(/^comment: expected one of /),
      expect.stringMatching(/^No model was asked\. A maintainer must fix the workflow/),
    ],
  ]);

  // Where no issue is named, the run says where it was asked for.
  const file = join(artifact, 'result.json');
  const result = JSON.parse(readFileSync(file, 'utf8'));
  const url = `${at.github.serverUrl}/${NAME}/issues/1`;
  result.plan.source = { kind: 'issue', repository: NAME, number: 1, url, author: 'ann' };
  writeFileSync(file, JSON.stringify(result));
  await publishJob(at, artifact, { inputs: { draft: 'perhaps' } });
  expect(said()).toEqual([['**The change could not be published**', expect.any(String), expect.any(String)]]);
  expect(at.github.invalid).toEqual([]);
});

testAtNight('each line of a secret is masked, however its lines end', async () => {
  const at = await place([]);
  const ended = await publishJob({ ...at, token: 'one-part\r\nanother-part\rlast-part' }, '');
  expect(ended.masks).toEqual(['one-part', 'another-part', 'last-part']);
  expect(ended.stdout.replaceAll('\r', '\n')).not.toMatch(/^last-part/m);
});

test('publishing without a run directory is a usage_error', async () => {
  const at = await place([]);
  const ended = await publishJob(at, '');
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([2, 'usage_error']);
  expect(ended.lastLine).toContain('run-dir: mode publish needs the run directory');
});
