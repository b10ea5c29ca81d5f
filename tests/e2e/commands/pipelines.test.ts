/** The examples of docs/pipelines.md, run by bash as they stand. */

import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { CLI } from '../../support/runs/cli.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

/** The examples under a heading of the page. */
function example(heading: string): string {
  const page = readFileSync('docs/pipelines.md', 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  const found = /^```sh\n(.*?)^```$/ms.exec(section ?? '')?.[1];
  if (found === undefined) throw new Error(`The page has no example under ${heading}.`);
  return found;
}

const APPLY = example('The patch, applied elsewhere');

const greet = `- calls:
    - name: edit_file
      input: { path: greeting.txt, find: Hello, replace: "Hello, world" }
- text: Done.
`;
const nothing = '- text: Nothing to do.\n';
const blocked = `${greet.split('- text')[0]}- calls:
    - name: finish
      input: { status: blocked, summary: Half of it. }
`;

/** Runs lines in a checkout beside which `patchsmith` plays a script; `../work` is there unless `bare` is said. */
async function shell(lines: string, script: string, { bare = false, plan = 'Greet the world.\n' } = {}) {
  const made = await makeRepository({ 'greeting.txt': 'Hello\n', 'plan.md': plan });
  const folder = temporaryFolder();
  const root = join(folder, 'here');
  renameSync(made.root, root);
  if (!bare) await execa('git', ['worktree', 'add', '--quiet', '--detach', '../work'], { cwd: root });
  writeFileSync(join(folder, 'script.yml'), script);
  writeFileSync(join(folder, 'patchsmith'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(join(folder, 'patchsmith'), 0o755);
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    HOME: folder,
    PATCHSMITH_PROVIDER: 'replay',
    PATCHSMITH_RECORDING: join(folder, 'script.yml'),
  };
  const end = await execa('bash', ['-c', lines], { cwd: root, env, extendEnv: false, reject: false });
  return { ...end, greeting: readFileSync(join(root, 'greeting.txt'), 'utf8'), root };
}

test('the patch of a run in another work tree arrives in this one', async () => {
  const end = await shell(APPLY, greet, { bare: true });
  expect([end.exitCode, end.greeting], end.stderr).toEqual([0, 'Hello, world\n']);
});

testAtNight(
  'a run that changes nothing is a success with --allow-empty, and a failure of git without',
  async () => {
    const end = await shell(APPLY, nothing, { bare: true });
    expect([end.exitCode, end.greeting], end.stderr).toEqual([0, 'Hello\n']);
    const strict = await shell(APPLY.replace(' --allow-empty', ''), nothing, { bare: true });
    expect(strict.exitCode, strict.stderr).toBe(128);
    expect(strict.stderr).toContain('No valid patches in input');
  },
);

testAtNight('a run that fails is a failure with pipefail, and none without', async () => {
  const plan = '---\nverify: ["exit 3"]\n---\nGreet the world.\n';
  const failing = `${greet.split('- text')[0]}${'- text: Done.\n'.repeat(4)}`;
  const end = await shell(APPLY, failing, { bare: true, plan });
  expect([end.exitCode, end.greeting], end.stderr).toEqual([9, 'Hello, world\n']);
  const lenient = await shell(APPLY.replace('set -o pipefail\n', ''), failing, { bare: true, plan });
  expect(lenient.exitCode, lenient.stderr).toBe(0);
});

test('a patch in a file is applied after a good run, and not after another', async () => {
  const lines = example('Only a patch that passed');
  const good = await shell(lines, greet);
  expect([good.exitCode, good.greeting], good.stderr).toEqual([0, 'Hello, world\n']);
  const empty = await shell(lines, nothing);
  expect([empty.exitCode, empty.greeting], empty.stderr).toEqual([0, 'Hello\n']);
  const bad = await shell(lines, blocked);
  expect([bad.exitCode, bad.greeting], bad.stderr).toEqual([5, 'Hello\n']);
  expect(existsSync(join(bad.root, 'fix.patch'))).toBe(true);
});

testAtNight('PIPESTATUS tells which of the two failed', async () => {
  const end = await shell(example('Which of the two failed'), blocked);
  expect([end.stdout, end.greeting], end.stderr).toEqual(['run: 5, apply: 0', 'Hello, world\n']);
});

const hasJq = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'jq')));

test.skipIf(!hasJq)('the result is piped to a program', async () => {
  const end = await shell(example('The plan from stdin, the result to a program'), greet);
  expect([end.exitCode, end.stdout], end.stderr).toEqual([0, 'done: greeting.txt']);
});

testAtNight('a reader that never reads does not keep a run or a document', async () => {
  const lines = (what: string) =>
    `{ ${what}; echo "$?" > ../ended; kill $! 2>/dev/null; } > >(exec sleep 1000)`;
  const run = 'timeout 60 patchsmith run --plan plan.md --sandbox off --output jsonl --run-dir ../run';
  const end = await shell(`${lines(run)}\ncat ../ended`, long);
  expect([end.stdout, end.stderr]).toEqual(['1', expect.stringContaining('its reader has stopped reading')]);
});

const long = `- calls:
${'    - name: run_command\n      input: { command: "seq 1 5000" }\n'.repeat(4)}- text: Done.
`;
