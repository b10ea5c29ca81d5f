/** Every command that a run prints to be continued with is accepted, as a shell reads it and wherever it is typed. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import type { Script } from '../../support/claude-server/script.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const edit = (name: string) => ({ calls: [call('write_file', { path: `${name}.txt`, content: name })] });

/** What a shell would take apart, a terminal would not show, and a runner would take for a command. */
const ODD = "it's a $run; & `more`\n$(exit 3) ##[group] \u202e%s\\ -x";

/** A run that ends at a limit again and again, in folders of odd names. */
async function place(
  turns: Script = [edit('one'), edit('two'), edit('three'), edit('four'), { text: 'Done.' }],
) {
  const server = await startClaudeServer({ turns, apiKey: KEY });
  onTestFinished(() => server.close());
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const folder = temporaryFolder();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: server.url,
  };
  /** As a shell takes it that is in a folder which is none of the repository's. */
  const typed = async (line: string) => {
    const { stdout } = await execa('sh', ['-c', `patchsmith() { printf '%s\\0' "$PWD" "$@"; }\n${line}`], {
      cwd: folder,
    });
    const [cwd = '', ...words] = stdout.split('\0').slice(0, -1);
    return runCli(words, { cwd, env });
  };
  const given = (...words: string[]) => runCli(words, { cwd: folder, env });
  /** Ends it as soon as the model has been asked so often. */
  const killed = async (signal: NodeJS.Signals, requests: number, words: readonly string[]) => {
    const child = execa(process.execPath, [CLI, ...words], {
      ...{ cwd: folder, env, extendEnv: false, reject: false, stdin: 'ignore' },
    });
    await until('the model is asked', () => server.requests.length === requests);
    child.kill(signal);
    return child;
  };
  return { root: repository.root, runDir: join(folder, ODD), typed, given, killed };
}

const PERMITTED = [
  ...['--sandbox', 'off', '--max-changed-files', '900', '--accept-secrets', "it's *.pem"],
  ...[
    '--web-fetch',
    'docs.example.com',
    '--max-tool-output',
    '90000',
    '--price',
    'input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4',
    '--max-cost-usd',
    '900',
  ],
  ...['--deadline', '3h', '--fix-rounds', '9', '--max-output-tokens', '40000', '--include-foreign'],
  ...['--max-total-tokens', '900000000', '--max-changed-size', '900m', '--max-changed-file-size', '90m'],
  // More than a line for people holds.
  ...Array.from({ length: 40 }, (_, at) => `--protect=-a folder/of number ${at}/**`),
];

function printedAfter(text: string, before: string): string {
  const [, line = ''] = text.split(before);
  return line.split('\n', 1)[0] ?? '';
}

test('the line of a run that has reached a limit is accepted, and so is that of the run that it continues', async () => {
  const { root, runDir, typed, given } = await place();
  const task = ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, '--max-iterations', '1'];
  let end = await given(...task, ...PERMITTED);
  for (const limit of [2, 4]) {
    expect([end.exitCode, end.stderr]).toEqual([7, expect.stringContaining('continue: patchsmith resume ')]);
    const line = printedAfter(end.stderr, '\ncontinue: ');
    expect(line).toContain(`--max-iterations ${limit}`);
    end = await typed(line);
  }
  end = await typed(printedAfter(end.stderr, '\ncontinue: '));
  expect([end.exitCode, end.stderr]).toEqual([0, expect.stringContaining('patchsmith: done (exit 0)')]);
});

test.each(
  sampled(
    [
      ['--max-changed-files 3', 'seq 1 20 | xargs touch', 20],
      ['--max-changed-size 100k', 'for i in 1 2 3 4 5 6; do head -c 80000 /dev/zero > n$i; done', 6],
      ['--max-changed-file-size 100k', 'head -c 900000 /dev/zero > n', 1],
    ] as const,
    () => 'limit',
    1,
  ),
)("after %s it is enough for what was changed, which is the run's own", async (flag, text, files) => {
  const { root, runDir, typed, given } = await place([
    { calls: [call('run_command', { command: text })] },
    { text: 'Done.' },
  ]);
  const { exitCode, stderr } = await given(
    'run',
    '-m',
    'x',
    '--repo',
    root,
    '--run-dir',
    runDir,
    ...flag.split(' '),
  );
  expect(exitCode, stderr).toBe(7);
  const end = await typed(printedAfter(stderr, '\ncontinue: '));
  expect([end.exitCode, end.stderr]).toEqual([0, expect.stringContaining(`: ${files} file`)]);
});

test('so are the lines with which a run that needs more, or other permissions, is refused', async () => {
  const { root, runDir, typed, given } = await place();
  const task = ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, '--max-iterations', '1'];
  await given(...task, ...PERMITTED);
  for (const [words, before] of [
    [[], 'To continue, it needs more: '],
    [['--max-iterations', '4', '--repo', root], 'Repeat the flags that you agree to: '],
  ] as const) {
    const { exitCode, stderr } = await given('resume', runDir, ...words);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(before)]);
    const end = await typed(printedAfter(stderr, before));
    expect([end.exitCode, end.stderr]).toEqual([7, expect.stringContaining('[ERR_LIMIT')]);
  }
});

test('the changes of commands before the work are undone by the line that says so', async () => {
  const { root, runDir, typed, given } = await place();
  const task = ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, '--sandbox', 'off'];
  const end = await given(...task, '--setup', 'echo changed > a.txt');
  const line = printedAfter(end.stderr, 'To revert that: ');
  expect(line).toContain('patchsmith undo ');
  const undone = await typed(`cd '${root}' && ${line.replace(/\.$/, '')}`);
  expect([undone.exitCode, undone.stderr]).toEqual([0, expect.any(String)]);
});

test('what a project file has raised is in the line', async () => {
  const { root, runDir, typed, given } = await place();
  writeFileSync(join(root, '.patchsmith.yml'), 'max-tool-output: 90000\nfix-rounds: 9\n');
  const task = ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, '--sandbox', 'off'];
  const first = await given(...task, '--max-iterations', '1');
  const end = await typed(printedAfter(first.stderr, '\ncontinue: '));
  expect([end.exitCode, end.stderr]).toEqual([7, expect.stringContaining('[ERR_LIMIT')]);
});

testAtNight(
  'a run that was killed names a line, and the answer to it the flags that have to be repeated',
  async () => {
    const stall = { fault: { kind: 'stall', afterEvents: 1 } } as const;
    const { root, runDir, typed, given, killed } = await place([edit('one'), stall, { text: 'Done.' }]);
    await killed('SIGKILL', 2, ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, ...PERMITTED]);
    const shown = await given('show', runDir);
    const refused = await typed(printedAfter(shown.stdout + shown.stderr, 'Continue the run: '));
    const before = 'Repeat the flags that you agree to: ';
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(before)]);
    const line = printedAfter(refused.stderr, before);
    expect(line).toContain(' --sandbox off ');
    const end = await typed(line);
    expect([end.exitCode, end.stderr]).toEqual([0, expect.stringContaining('patchsmith: done (exit 0)')]);
  },
);

const ATTEMPTS = ['--attempts', '2', '--fix-rounds', '9', '--protect', "-it's *"];

testAtNight('after a signal one of the attempts is continued by the line that says so', async () => {
  let isOver = false;
  const { root, runDir, typed, killed } = await place(({ messages }) => {
    if (isOver) return { text: 'Done.' };
    const isFirst = Array.isArray(messages) && messages.length === 1;
    return isFirst ? edit('one') : { fault: { kind: 'stall', afterEvents: 1 } };
  });
  const task = ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, ...ATTEMPTS];
  const { stderr } = await killed('SIGTERM', 4, task);
  isOver = true;
  const end = await typed(printedAfter(stderr, 'continue one with: ').replace(/\.$/, ''));
  expect([end.exitCode, end.stderr]).toEqual([0, expect.stringContaining('patchsmith: done (exit 0)')]);
  expect(readFileSync(join(root, 'one.txt'), 'utf8')).toBe('one');
});

testAtNight('a chosen attempt that could not be applied is applied by the line that says so', async () => {
  let root = '';
  const made = await place(({ messages }) => {
    if (Array.isArray(messages) && messages.length === 1) return edit('a');
    writeFileSync(join(root, 'a.txt'), 'mine');
    return { text: 'Done.' };
  });
  ({ root } = made);
  const { runDir, typed, given } = made;
  const first = await given('run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, ...ATTEMPTS);
  expect(first.lastLine).toContain('[ERR_ATTEMPT_NOT_APPLIED]');
  writeFileSync(join(root, 'a.txt'), 'a\n');
  const end = await typed(printedAfter(first.stderr, 'continue with: '));
  expect([end.exitCode, end.stderr]).toEqual([0, expect.stringContaining('patchsmith: done (exit 0)')]);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a');
});
