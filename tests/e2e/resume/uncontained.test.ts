/** What is not contained is refused before anything of it is run or written: for resume and replay as for run. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/files/repository.ts';
import { startGitHub } from '../../support/github-server/server.ts';
import { jobEnvironment } from '../../support/jobs/github-job.ts';
import { runCli } from '../../support/runs/cli.ts';
import { type CutRun, cutRun } from '../../support/runs/recorded-run.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';

const TURNS = [{ calls: [call('write_file', { path: 'new.txt', content: 'new\n' })] }, { text: 'Done.' }];

/** A run without a sandbox, whose setup command leaves a mark in every checkout that it runs in. */
async function runWithSetup(marks: string): Promise<CutRun> {
  const plan = join(temporaryFolder(), 'plan.md');
  writeFileSync(plan, `---\nsetup: ["echo ran >> ${marks}; echo made > ignored.txt"]\n---\nDo it.\n`);
  return cutRun({ 'a.txt': 'a\n', '.gitignore': 'ignored.txt\n' }, TURNS, ['--plan', plan]);
}

/** A clone in which a token is left for git, as actions/checkout leaves it. */
async function checkoutWithToken(origin: string): Promise<string> {
  const other = join(temporaryFolder(), 'checkout');
  await execa('git', ['clone', '--quiet', origin, other]);
  const header = `AUTHORIZATION: basic ${Buffer.from('x-access-token:ghs_canary0123456789abcd').toString('base64')}`;
  await execa('git', ['config', 'http.https://github.com/.extraheader', header], { cwd: other });
  return other;
}

/** The environment of a job that a push has started. */
async function pushJob(root: string): Promise<Record<string, string>> {
  const github = await startGitHub();
  const { stdout: sha } = await execa('git', ['rev-parse', 'HEAD'], { cwd: root });
  const repository = { id: 7, full_name: 'acme/shop' };
  const job = jobEnvironment(github, { event: 'push', payload: {}, repository, sha });
  await github.close();
  return job;
}

const REFUSED = /usage_error \(exit 2\).*could read the credentials in git's configuration/;

describe('with --sandbox off, in a checkout in which git keeps credentials,', () => {
  test('resume runs no command and writes nothing into the checkout', async () => {
    const marks = join(temporaryFolder(), 'marks');
    const run = await runWithSetup(marks);
    const written = run.events.find(({ type }) => type === 'change.recorded')?.seq ?? 0;
    run.goBackTo(written);
    const other = await checkoutWithToken(run.root);
    const ranBefore = readFileSync(marks, 'utf8');
    const env = { ...(await pushJob(other)), ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: run.server.url };
    const resume = (...args: string[]) =>
      runCli(['resume', run.runDir, '--repo', other, ...args], { cwd: other, env });
    const end = await resume('--sandbox', 'off');
    expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringMatching(REFUSED)]);
    expect(readFileSync(marks, 'utf8')).toBe(ranBefore);
    expect([existsSync(join(other, 'new.txt')), existsSync(join(other, 'ignored.txt'))]).toEqual([
      false,
      false,
    ]);
    await execa('git', ['config', '--unset', 'http.https://github.com/.extraheader'], { cwd: other });
    const again = await resume('--sandbox', 'off');
    expect(again.lastLine, again.stderr).toContain('done (exit 0)');
    expect(readFileSync(join(other, 'new.txt'), 'utf8')).toBe('new\n');
  });

  test('replay runs no command', async () => {
    const marks = join(temporaryFolder(), 'marks');
    const run = await runWithSetup(marks);
    const other = await checkoutWithToken(run.root);
    const ranBefore = readFileSync(marks, 'utf8');
    const end = await runCli(['replay', run.runDir, '--sandbox', 'off'], {
      cwd: other,
      env: { ...(await pushJob(other)), XDG_STATE_HOME: temporaryFolder() },
    });
    expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringMatching(REFUSED)]);
    expect(readFileSync(marks, 'utf8')).toBe(ranBefore);
  });
});
