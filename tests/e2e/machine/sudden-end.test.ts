/** Mistakes that no code waits for: a promise that is rejected unnoticed, an exception in a timer, a second signal. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { oddSeconds, processesWith } from '../../support/machine/processes.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { until } from '../../support/waiting/until.ts';

afterAll(removeFolders);

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

test.each([
  ['rejection', 'json', 'off'],
  ['exception', 'jsonl', 'required'],
] as const)(
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
