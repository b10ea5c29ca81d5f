/** The example of docs/provider-command.md, run by the built command as it stands. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { resultOf } from '../../support/published.ts';
import { runCli } from '../../support/runs/cli.ts';

afterAll(removeFolders);

const page = readFileSync('docs/provider-command.md', 'utf8');
const program = /^```js\n(.*?)^```$/ms.exec(page)?.[1] ?? '';

async function run(path: string, root: string, ...args: string[]) {
  const runDir = join(temporaryFolder(), 'run');
  const command = ['--provider', 'command', '--provider-command', `node ${path}`];
  const line = [
    'run',
    '-m',
    'Greet the world',
    '--run-dir',
    runDir,
    '--output',
    'patch',
    ...command,
    ...args,
  ];
  const end = await runCli(line, { cwd: root, built: true, env: { SECRET_WORD: 'abcdefgh-01234567' } });
  const result = resultOf(runDir);
  return { ...end, result };
}

test('a program answers for the model, and the result says which one', async () => {
  const { root } = await makeRepository({ 'greeting.txt': 'Hello\n' });
  const path = join(temporaryFolder(), 'answer.mjs');
  writeFileSync(path, program);
  const { exitCode, stdout, result } = await run(path, root, '--provider-env', 'SECRET_WORD');
  expect([exitCode, result.outcome, result.provider]).toEqual([0, 'done', 'command']);
  expect(stdout).toContain('+Hello, world');
  expect([result.tokens.input, result.costUsd]).toEqual([1_800, 'unknown']);
});

test('a program in the work tree is refused before anything is run', async () => {
  const { root } = await makeRepository({ 'greeting.txt': 'Hello\n', 'answer.mjs': program });
  const { exitCode, lastLine } = await run(join(root, 'answer.mjs'), root);
  expect([exitCode, lastLine]).toEqual([2, expect.stringContaining('would run outside the sandbox')]);
  const missing = await runCli(['check', '--provider', 'command'], { cwd: root });
  expect(missing.stdout).toContain('command needs a program; use --provider-command PROGRAM');
});

test('a run that a limit has ended is resumed with the program, which is named again', async () => {
  const { root } = await makeRepository({ 'greeting.txt': 'Hello\n' });
  const path = join(temporaryFolder(), 'answer.mjs');
  writeFileSync(path, program);
  const runDir = join(temporaryFolder(), 'run');
  const flags = [
    '--provider',
    'command',
    '--provider-command',
    `node ${path}`,
    '--provider-env',
    'SECRET_WORD',
  ];
  const given = { cwd: root, env: { SECRET_WORD: 'abcdefgh-01234567' } };
  const limit = ['--sandbox', 'off', '--run-dir', runDir, '--max-iterations', '1'];
  expect((await runCli(['run', '-m', 'Greet the world', ...limit, ...flags], given)).exitCode).toBe(7);
  const more = ['--sandbox', 'off', '--max-iterations', '5'];
  const resumed = await runCli(['resume', runDir, ...more, ...flags], given);
  expect([resumed.exitCode, resumed.lastLine]).toEqual([0, expect.stringContaining('done')]);
});

const WRITER = `
import { appendFileSync } from 'node:fs';
let line = '';
for await (const chunk of process.stdin) line += chunk;
const { purpose, segment, messages } = JSON.parse(line);
appendFileSync(process.argv[2], JSON.stringify({ purpose, segment, messages }) + '\\n');
const input = { path: 'greeting.txt', content: 'Hello ' + messages.length + '\\n' };
const block = purpose === 'summary' || segment === 1
  ? { type: 'text', text: 'All is written.' }
  : { type: 'tool_use', id: 'call_' + messages.length, name: 'write_file', input };
console.log(JSON.stringify({ type: 'answer', content: [block], usage: { input: 200 * messages.length, output: 5 } }));
`;

test('each request has its purpose and its segment', async () => {
  const { root } = await makeRepository({ 'greeting.txt': 'Hello\n' });
  const folder = temporaryFolder();
  const path = join(folder, 'answer.mjs');
  writeFileSync(path, WRITER);
  const log = join(folder, 'log');
  const { exitCode, stderr } = await run(`${path} ${log}`, root, '--compact-at', '1000');
  expect(exitCode, stderr).toBe(0);
  const asked = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const kinds = asked.map(({ purpose = 'turn', segment }) => `${purpose} ${segment}`);
  expect([...new Set(kinds)]).toEqual(['turn 0', 'summary 0', 'turn 1']);
  // Within a segment the messages only grow.
  const turns = asked.filter(({ purpose, segment }) => purpose === undefined && segment === 0);
  for (const [at, { messages }] of turns.slice(1).entries())
    expect(messages.slice(0, turns[at]?.messages.length)).toEqual(turns[at]?.messages);
  const [first, second] = asked.at(-1)?.messages ?? [];
  expect([first, second]).not.toEqual(turns.at(-1)?.messages.slice(0, 2));
});
