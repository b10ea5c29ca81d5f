/** How many processes a small run starts: each takes some milliseconds, its own and those of making it. */

import type { ChildProcess } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { runHere } from '../../support/runs/in-process.ts';
import { call } from '../../support/runs/scripted-run.ts';

afterAll(removeFolders);

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
  const end = await runHere(words, {
    cwd: root,
    env: { HOME: temporaryFolder() },
    onStderr: (text) => {
      if (text.includes('edit_file')) before = started.length;
    },
  });
  expect(end.exitCode, end.stderr).toBe(0);
  expect(started.slice(before).map(nameOf).sort()).toEqual([
    ...['apply', 'cat-file', 'diff-tree', 'diff-tree', 'ls-tree', 'read-tree'],
    ...['update-index', 'write-tree', 'write-tree'],
  ]);
});

test('a run that is alone does not look for others to remove', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const script = join(temporaryFolder(), 'script.jsonl');
  writeFileSync(script, `${JSON.stringify({ text: 'Nothing to do.' })}\n`);
  const state = temporaryFolder();
  const words = ['run', '-m', 'Look', '--provider', 'replay', '--recording', script, '--sandbox', 'off'];
  const hasLooked = async () => {
    await runHere(words, { cwd: root, env: { XDG_STATE_HOME: state } });
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

/** The name of the program, or of git's command. */
function nameOf({ spawnargs }: ChildProcess): string | undefined {
  const at = spawnargs.findIndex((arg) => /(?:^|\/)git$/.test(arg));
  const args = at < 0 ? spawnargs : spawnargs.slice(at + 1);
  return args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c');
}
