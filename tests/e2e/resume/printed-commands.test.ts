/** Every command that a run prints to be continued with is accepted, as a shell reads it and wherever it is typed. */

import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';

afterAll(removeFolders);

const edit = (name: string) => ({ calls: [call('write_file', { path: `${name}.txt`, content: name })] });

/** A run that ends at a limit again and again, in folders whose names a shell would take apart. */
async function place() {
  const server = await startClaudeServer({
    turns: [edit('one'), edit('two'), edit('three'), edit('four'), { text: 'Done.' }],
    apiKey: KEY,
  });
  onTestFinished(() => server.close());
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const folder = temporaryFolder();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: server.url,
  };
  /** As typed, from a folder that is none of the repository's. */
  const typed = (line: string) =>
    execa('sh', ['-c', `patchsmith() { "$NODE" "$CLI" "$@"; }\n${line}`], {
      cwd: folder,
      env: { ...env, NODE: process.execPath, CLI },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
  const given = (...words: string[]) => runCli(words, { cwd: folder, env, built: true });
  return { root: repository.root, runDir: join(folder, "it's a $run; & more"), typed, given };
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
];

function printedAfter(text: string, before: string): string {
  const [, line = ''] = text.split(before);
  return line.split('\n', 1)[0] ?? '';
}

test('the line of a run that has reached a limit is accepted, and so is that of the run that it continues', async () => {
  const { root, runDir, typed, given } = await place();
  const task = ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, '--max-iterations', '1'];
  let end: { exitCode?: number | undefined; stderr: string } = await given(...task, ...PERMITTED);
  for (const limit of [2, 4]) {
    expect([end.exitCode, end.stderr]).toEqual([7, expect.stringContaining('continue: patchsmith resume ')]);
    const line = printedAfter(end.stderr, '\ncontinue: ');
    expect(line).toContain(`--max-iterations ${limit}`);
    end = await typed(line);
  }
  end = await typed(printedAfter(end.stderr, '\ncontinue: '));
  expect([end.exitCode, end.stderr]).toEqual([0, expect.stringContaining('patchsmith: done (exit 0)')]);
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
