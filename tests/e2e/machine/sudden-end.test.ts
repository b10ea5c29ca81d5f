/** Mistakes that no code waits for: a promise that is rejected unnoticed, an exception in a timer, a second signal. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { commandLinesWith, killIfThere, oddSeconds, processesWith } from '../../support/machine/processes.ts';
import { checkReportIn, publicationIn, resultIn } from '../../support/published.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { IS_FULL, sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const MISTAKES = {
  rejection: "Promise.reject(new Error('lost promise'))",
  exception: "setTimeout(() => { throw new Error('lost promise'); })",
};

/** `NODE_OPTIONS` with which the command makes a mistake as soon as a file exists. */
function mistakeOnce(file: string, mistake: string): string {
  const program = join(temporaryFolder(), 'mistake.mjs');
  writeFileSync(
    program,
    `import { existsSync } from 'node:fs';
if (/cli\\.js$/.test(process.argv[1] ?? '')) {
  const look = setInterval(() => {
    if (!existsSync(${JSON.stringify(file)})) return;
    clearInterval(look);
    ${mistake};
  }, 10);
  look.unref();
}
`,
  );
  return `--import ${program}`;
}

test.each(
  sampled(
    [
      ['rejection', 'json', 'off'],
      ['exception', 'jsonl', 'required'],
    ] as const,
    () => 'mistake',
    1,
  ),
)(
  'an unhandled %s while a command runs still gives the %s document, and leaves nothing running',
  async (mistake, output, sandbox) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const [marker, seconds] = [join(repository.root, 'started'), oddSeconds()];
    const { exitCode, stdout, stderr, result, runDir } = await scriptedRun({
      repository,
      built: true,
      turns: [{ calls: [call('run_command', { command: `touch started; setsid sleep ${seconds} & wait` })] }],
      args: ['--output', output, '--sandbox', sandbox],
      env: { NODE_OPTIONS: mistakeOnce(marker, MISTAKES[mistake]) },
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('internal_error (exit 1) [ERR_BUG]')]);
    const printed = output === 'json' ? stdout : (stdout.trimEnd().split('\n').at(-1) ?? '');
    const document = JSON.parse(printed);
    expect(document).toMatchObject({ status: 'finished', outcome: 'internal_error', exitCode: 1 });
    expect(document).toEqual({ ...(output === 'json' ? {} : { type: 'result' }), ...result });
    expect(readdirSync(runDir).filter((name) => /^scratch$|\.sock$/.test(name))).toEqual([]);
    await until('all processes are gone', () => processesWith(seconds).length === 0);
  },
);

/** What each prints as its only document on stdout. */
const DOCUMENTS = [
  [['run', '-m', 'Do it', '--output', 'json'], resultIn],
  [['run', '-m', 'Do it', '--attempts', '2', '--output', 'jsonl'], resultIn],
  [['resume', 'last', '--output', 'json'], resultIn],
  [['publish', 'last', '--output', 'json'], publicationIn],
  [['check', '-m', 'Do it', '--output', 'json'], checkReportIn],
] as const;

test.each(sampled(DOCUMENTS, ([[command]]) => command))(
  'an unhandled rejection in %j, where there is no run yet, gives the document as well',
  async (args, documentIn) => {
    const folder = temporaryFolder();
    const program = join(folder, 'mistake.mjs');
    // The first worker is the watchdog of a command that begins.
    writeFileSync(program, "process.once('worker', () => Promise.reject(new Error('lost promise')));\n");
    const env = { HOME: folder, NODE_OPTIONS: `--import ${program}` };
    const { exitCode, stdout, stderr } = await runCli(args, { cwd: folder, env, built: true });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('internal_error (exit 1) [ERR_BUG]')]);
    const { type: _type, ...document } = JSON.parse(stdout);
    expect(documentIn(JSON.stringify(document))).toMatchObject({ outcome: 'internal_error', exitCode: 1 });
  },
);

test('a second signal ends the run with its document as well', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const [marker, seconds] = [join(repository.root, 'started'), oddSeconds()];
  const { exitCode, stdout, runDir } = await scriptedRun({
    repository,
    turns: [{ calls: [call('run_command', { command: `touch started; sleep ${seconds}` })] }],
    args: ['--output', 'json', '--sandbox', 'off'],
    built: true,
    during: async ({ pid }) => {
      await until('the command runs', () => existsSync(marker));
      process.kill(pid, 'SIGTERM');
      process.kill(pid, 'SIGINT');
    },
  });
  const document = JSON.parse(stdout);
  expect([exitCode, document.exitCode, document.status]).toEqual([exitCode, exitCode, 'finished']);
  expect(JSON.parse(readFileSync(join(runDir, 'result.json'), 'utf8'))).toEqual(document);
  expect(existsSync(join(runDir, 'scratch'))).toBe(false);
  await until('all processes are gone', () => processesWith(seconds).length === 0);
});

testAtNight('a kill at any early moment of a sandbox leaves no bubblewrap', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const bubblewraps = () =>
    [...commandLinesWith(root)].flatMap(([pid, line]) =>
      line.split('\0')[0]?.endsWith('/bwrap') ? [pid] : [],
    );
  for (let delayMs = 0; delayMs < 8; delayMs += IS_FULL ? 1 : 3) {
    const runner = spawn(process.execPath, [CLI, 'doctor'], { cwd: root, env: {}, stdio: 'ignore' });
    const died = once(runner, 'exit');
    await until('bubblewrap starts', () => bubblewraps().length > 0);
    const [first] = bubblewraps();
    await setTimeout(delayMs);
    // Where it is stopped before it has reported its other half, it does that with nobody left to read it.
    if (first !== undefined) killIfThere(first, 'SIGSTOP');
    runner.kill('SIGKILL');
    await died;
    if (first !== undefined) killIfThere(first, 'SIGCONT');
    await until('nothing of it is left', () => bubblewraps().length === 0);
  }
});
