/** How many processes a small run starts: each takes some milliseconds, its own and those of making it. */

import type { ChildProcess } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

test('after the last answer a run of one edit starts what its patch and the proof of it take, and nothing else', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n', 'b.txt': 'b\n' });
  const script = join(temporaryFolder(), 'script.jsonl');
  const turns = [
    { calls: [call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' })] },
    { text: 'Done.' },
  ];
  writeFileSync(script, turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  const started = startedProcesses();
  let before = 0;
  const words = ['run', '-m', 'Edit', '--provider', 'replay', '--recording', script, '--sandbox', 'off'];
  const end = await cliHere(words, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: temporaryFolder() },
    onStderr: (text) => {
      if (text.includes('edit_file')) before = started.length;
    },
  });
  expect(end.exitCode, end.stderr).toBe(0);
  expect(started.slice(before).map(nameOf).sort()).toEqual([
    // Two looks at the work tree, the patch with its proof, the history, and what a copy of the run directory needs.
    ...['git apply', 'git cat-file', 'git cat-file', 'git cat-file', 'git cat-file', 'git diff-files'],
    ...['git diff-tree', 'git fast-import', 'git ls-files', 'git ls-files', 'git pack-objects'],
    ...['git read-tree', 'git update-index', 'git write-tree', 'git write-tree'],
  ]);
});

test('a run in the sandbox starts few programs before its first request, and few after its last answer', async () => {
  const repository = await makeRepository({
    'a.txt': 'old\n',
    'package.json': '{"scripts":{"test":"true"}}\n',
  });
  const started = startedProcesses();
  let before: string[] = [];
  let atLast = 0;
  const answers = [
    { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
    { calls: [call('run_command', { command: 'echo said' })] },
    { text: 'All done.' },
  ];
  const { result } = await scriptedRun({
    repository,
    here: true,
    turns: () => {
      if (before.length === 0) before = started.map(nameOf);
      atLast = started.length;
      return answers.shift() ?? { text: 'The script is over.' };
    },
  });
  expect(result.outcome).toBe('done');
  const others = before.filter((name) => !name.startsWith('git '));
  expect(others.sort()).toEqual(['find', `linux-${process.arch}`, 'mkfifo']);
  expect(before.filter((name) => name.startsWith('git ')).length).toBeLessThanOrEqual(11);
  expect(started.slice(atLast)).toHaveLength(15);
});

test('a run that is alone does not look for others to remove', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const script = join(temporaryFolder(), 'script.jsonl');
  writeFileSync(script, `${JSON.stringify({ text: 'Nothing to do.' })}\n`);
  const state = temporaryFolder();
  const words = ['run', '-m', 'Look', '--provider', 'replay', '--recording', script, '--sandbox', 'off'];
  const hasLooked = async () => {
    await cliHere(words, { cwd: root, env: { PATH: process.env.PATH, HOME: root, XDG_STATE_HOME: state } });
    return existsSync(join(state, 'patchsmith/.tidied'));
  };
  expect([await hasLooked(), await hasLooked()]).toEqual([false, true]);
});

/** Fills with processes as they are started. */
function startedProcesses(): ChildProcess[] {
  const started: ChildProcess[] = [];
  const note = (message: unknown) => void started.push((message as { process: ChildProcess }).process);
  diagnostics.subscribe('child_process', note);
  onTestFinished(() => void diagnostics.unsubscribe('child_process', note));
  return started;
}

/** The name of the program, or of git's command as `git NAME`. */
function nameOf({ spawnfile, spawnargs }: ChildProcess): string {
  const at = [spawnfile, ...spawnargs].findIndex((arg) => basename(arg) === 'git') - 1;
  if (at < -1) return basename(spawnfile);
  const args = spawnargs.slice(at + 1);
  return `git ${args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c' && basename(arg) !== 'git')}`;
}
