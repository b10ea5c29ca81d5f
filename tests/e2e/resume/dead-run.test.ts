/** What a run leaves whose process died without a word, and what each command over it says of that. */

import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { copyLive } from '../../support/files/live-copy.ts';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { runPost } from '../../support/jobs/action-runner.ts';
import { resultOf } from '../../support/published.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, done, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const edit = { calls: [call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' })] };
const DEAD = "The runner's process ended without a result (killed, or out of memory). ";

/** A run that dies while the model is silent in its second turn. */
async function deadRun(
  signal: 'SIGKILL' | 'SIGABRT',
  whileItLives: (runDir: string, root: string) => Promise<void> = async () => {},
): Promise<{ repository: Repository; runDir: string }> {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const { runDir, result } = await scriptedRun({
    repository,
    turns: [edit, { fault: { kind: 'stall', afterEvents: 1 } }],
    args: ['--sandbox', 'off'],
    during: async ({ pid, server, runDir }) => {
      await until('the second turn is asked for', () => server.requests.length === 2);
      await whileItLives(runDir, repository.root);
      process.kill(pid, signal);
    },
  });
  expect([result.status, result.outcome]).toEqual(['running', null]);
  return { repository, runDir };
}

let dead: { repository: Repository; runDir: string };
beforeAll(async () => {
  dead = await deadRun('SIGKILL');
});

/** The run once more: its directory is another one, and nobody holds its lock. */
function another(): string {
  const runDir = join(temporaryFolder(), 'run');
  copyLive(dead.runDir, runDir);
  return runDir;
}

const ended = (runDir: string, root = dead.repository.root) => ({
  status: 'finished',
  outcome: 'internal_error',
  exitCode: 1,
  errorCode: 'ERR_PROCESS_DIED',
  iterations: 1,
  reason: `${DEAD}Continue the run: patchsmith resume ${runDir} --repo ${root} # resume names the flags to repeat, if any`,
  patch: null,
});

const over = (command: string, runDir: string, { cwd = dead.repository.root } = {}) =>
  runCli([command, runDir, ...(command === 'publish' ? ['--dry-run', '--repository', 'o/r'] : [])], {
    cwd,
    env: {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      GITHUB_TOKEN: 'ghs_0123456789abcdefghij',
      XDG_STATE_HOME: temporaryFolder(),
    },
  });

describe('a run whose process was killed', () => {
  test.each(sampled(['replay', 'blame', 'publish'] as const, () => 'reader', 2))(
    '%s says so, and result.json does from then on',
    async (command) => {
      const runDir = another();
      const { stderr, exitCode } = await over(command, runDir);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(`${DEAD}Continue the run: patchsmith resume ${runDir}`);
      expect(resultOf(runDir)).toMatchObject(ended(runDir));
      expect(existsSync(join(runDir, 'result.json.new'))).toBe(false);
    },
  );

  test('the post step of the action says so', async () => {
    const runDir = another();
    const { stderr, summary } = await runPost({ workspace: dead.repository.root }, { 'run-dir': runDir });
    expect(stderr).toContain('outcome: internal_error (exit 1)');
    expect(summary).toContain(`patchsmith resume ${runDir}`);
    expect(resultOf(runDir)).toMatchObject(ended(runDir));
  });

  test('before its first turn has nothing to be continued', async () => {
    const runDir = another();
    rmSync(join(runDir, 'events.jsonl'));
    await over('publish', runDir);
    expect(resultOf(runDir)).toMatchObject({
      reason: `${DEAD}It had not started to work: start a new run with patchsmith run.`,
    });
    expect((await over('resume', runDir)).stderr).toContain('Start a new run');
  });

  test('is running as long as a process holds its lock', async () => {
    expect.assertions(12);
    await deadRun('SIGKILL', async (runDir, root) => {
      expect((await over('show', runDir, { cwd: root })).stdout).not.toMatch(/^ {2}cost/m);
      for (const command of ['resume', 'undo', 'blame', 'replay', 'publish']) {
        const { exitCode, stderr } = await over(command, runDir, { cwd: root });
        expect([command, exitCode, stderr]).toEqual([command, 2, expect.stringContaining('running')]);
        expect(resultOf(runDir).status).toBe('running');
      }
    });
  });

  // Root may write everywhere.
  test.skipIf(process.getuid?.() === 0)('is reported where its directory cannot be written', async () => {
    const runDir = another();
    chmodSync(runDir, 0o500);
    expect((await over('publish', runDir)).stderr).toContain(DEAD);
    expect(resultOf(runDir).status).toBe('running');
  });

  testAtNight('is not written where others may write', async () => {
    const runDir = another();
    chmodSync(runDir, 0o777);
    expect((await over('publish', runDir)).exitCode).not.toBe(0);
    expect(resultOf(runDir).status).toBe('running');
  });

  test('is undone, and its result names its end', async () => {
    const killed = await deadRun('SIGABRT');
    const { exitCode, stderr } = await runCli(['undo', killed.runDir], {
      cwd: killed.repository.root,
      env: { XDG_STATE_HOME: temporaryFolder() },
    });
    expect(exitCode, stderr).toBe(0);
    expect(readFileSync(join(killed.repository.root, 'a.txt'), 'utf8')).toBe('old\n');
    expect(resultOf(killed.runDir)).toMatchObject(ended(killed.runDir, killed.repository.root));
  });
});

test('a dead run of a script is to be run again, since it cannot be resumed', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const [runDir, script] = [join(temporaryFolder(), 'run'), join(temporaryFolder(), 'script.yml')];
  writeFileSync(script, '- calls: [{ name: run_command, input: { command: "touch b.txt; sleep 60" } }]');
  const args = ['run', '-m', 'x', '--provider', 'replay', '--recording', script];
  const running = execa(process.execPath, [CLI, ...args, '--sandbox', 'off', '--run-dir', runDir], {
    ...{ cwd: root, reject: false },
    env: { XDG_STATE_HOME: temporaryFolder() },
  });
  await until('the command is under way', () => existsSync(join(root, 'b.txt')));
  running.kill('SIGKILL');
  await running;
  const { stderr } = await over('replay', runDir, { cwd: root });
  expect(stderr).toContain(`${DEAD}Its answers come from a recording, so just run it again.`);
  expect(stderr).not.toContain('patchsmith resume');
  const undone = await over('undo', runDir, { cwd: root });
  expect(undone.lastLine).toMatch(/--force restores what is recorded\.$/);
});

test('a dead run that every reader has looked at is continued to its patch', async () => {
  const { runDir } = dead;
  await over('blame', runDir);
  expect(resultOf(runDir)).toMatchObject(ended(runDir));
  const server = await startClaudeServer({ turns: patient([edit, done]), apiKey: KEY });
  try {
    const resumed = await runCli(['resume', runDir, '--sandbox', 'off'], {
      cwd: dead.repository.root,
      env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
    });
    expect(resumed.lastLine).toContain('done (exit 0): 1 file changed');
    expect(resultOf(runDir)).toMatchObject({ status: 'finished', outcome: 'done', exitCode: 0 });
  } finally {
    await server.close();
  }
});
