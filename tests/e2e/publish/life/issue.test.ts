import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunResult } from '../../../../src/domain/run/result.ts';
import {
  closeGitHubs,
  type MadeRun,
  madeRun,
  NAME,
  type OnGitHub,
  onGitHub,
  publish,
} from '../../../support/jobs/publishing.ts';
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
const LABEL = ['--issue', '1', '--trigger-label', 'patchsmith'];

/** With an issue that is being worked on. */
async function there(part: Partial<RunResult> = {}): Promise<OnGitHub> {
  const at = await onGitHub(made, { issue: true });
  const path = join(at.artifact, 'result.json');
  const result = JSON.parse(readFileSync(path, 'utf8')) as RunResult;
  writeFileSync(path, JSON.stringify({ ...result, ...part }));
  at.github.addIssue(NAME, { title: 'Another', labels: ['bug', 'patchsmith:running', 'patchsmith'] });
  const issue = at.repository.issues.get(1);
  if (issue) issue.labels = at.repository.issues.get(2)?.labels ?? [];
  return at;
}

function seen({ repository, github }: OnGitHub) {
  const issue = repository.issues.get(1);
  expect(github.invalid).toEqual([]);
  return {
    labels: issue?.labels.map(({ name }) => name),
    comments: issue?.comments.map(({ body }) => body) ?? [],
  };
}

/** A run that ended before it had a plan. */
const BEFORE: Partial<RunResult> = { plan: null, patch: null, changedFiles: [], treeSha: null, summary: '' };

describe('the issue that --issue names', () => {
  test('is told the outcome of a run that has a plan from elsewhere, and its labels say done', async () => {
    const at = await there();
    const plan = { ...made.result.plan, source: { kind: 'file', path: 'plan.md' } };
    const path = join(at.artifact, 'result.json');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), plan }));
    const { exitCode, stderr } = await publish(at, { args: LABEL });
    expect(exitCode, stderr).toBe(0);
    const { labels, comments } = seen(at);
    expect(labels).toEqual(['bug', 'patchsmith:done']);
    expect(comments).toEqual([expect.stringMatching(/^\*\*Pull request opened\*\*: #3/)]);
    expect(at.repository.issues.get(3)?.body).toContain('Fixes #1');
  });

  test.each([
    [
      'policy_violation',
      8,
      'Issue 1 was written by eve, who may not give tasks here (association: NONE).',
      '**This request was not accepted**\n\nIssue 1 was written by eve, who may not give tasks here (association: NONE).\n\nNothing was run',
    ],
    [
      'usage_error',
      2,
      'there is no key of the Claude API: api-key is empty',
      '**The run could not begin**\n\nThere is no key of the Claude API: api-key is empty.\n\nNo model was asked.',
    ],
  ] as const)('explains a run that ended as %s before it had a plan', async (outcome, code, reason, says) => {
    const at = await there({ ...BEFORE, outcome, exitCode: code, reason });
    const { exitCode, said } = await publish(at, { args: LABEL });
    // Both jobs agree.
    expect([exitCode, said?.outcome]).toEqual([code, outcome]);
    expect(said?.reason).toBe(`The run ended before it had a plan: ${reason}`);
    const { labels, comments } = seen(at);
    expect(labels).toEqual(['bug', 'patchsmith:failed']);
    expect(comments).toEqual([expect.stringContaining(says)]);
  });

  test('is left to a newer workflow run, which cancelled this one while it waited for its turn', async () => {
    const at = await there();
    const { artifact: cwd, token: GITHUB_TOKEN } = at;
    const urls = { GITHUB_API_URL: at.github.url, GITHUB_SERVER_URL: at.github.serverUrl };
    const env = { GITHUB_TOKEN, GITHUB_REPOSITORY: NAME, GITHUB_RUN_ID: '1002', ...urls };
    const prepared = await cliHere(['prepare', ...LABEL], { cwd, env });
    expect(prepared.exitCode, prepared.stderr).toBe(0);
    const before = seen(at);
    expect(before.labels).toEqual(['bug', 'patchsmith:running']);
    const run = join(at.artifact, 'gone');
    const ofOlder = await publish(at, { args: LABEL, run, env: { GITHUB_RUN_ID: '1001' } });
    expect([ofOlder.exitCode, ofOlder.said?.outcome], ofOlder.stderr).toEqual([0, 'no_change']);
    expect(seen(at)).toEqual(before);
    const own = await publish(at, { args: LABEL, run, env: { GITHUB_RUN_ID: '1002' } });
    expect([own.exitCode, seen(at)]).toEqual([
      2,
      {
        labels: ['bug', 'patchsmith:failed'],
        comments: [expect.stringMatching(/^\*\*The run left no result/)],
      },
    ]);
    expect(seen(at).comments.join()).not.toContain(at.artifact);
  });

  test('has to be there, and in the repository that is published to', async () => {
    const at = await there();
    for (const [issue, why] of [
      ['99', 'there is no issue 99 in acme/shop'],
      [`${at.github.serverUrl}/octo/other/issues/1`, 'octo/other#1 is not an issue of acme/shop'],
      ['seven', 'is neither a number nor an address'],
    ] as const) {
      const { exitCode, said } = await publish(at, { args: ['--issue', issue] });
      expect([exitCode, said?.reason]).toEqual([2, expect.stringContaining(why)]);
    }
  });
});
