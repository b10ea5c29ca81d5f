/** How many programs a run starts: each costs some milliseconds at its start, where people wait, or at its end. */

import type { ChildProcess } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import { basename } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { makeRepository, removeFolders } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

afterAll(removeFolders);

test('a run starts few programs before its first request, and few after its last answer', async () => {
  const repository = await makeRepository({
    'a.txt': 'old\n',
    'package.json': '{"scripts":{"test":"true"}}\n',
  });
  const started = startedPrograms();
  let before: string[] = [];
  let atLast = 0;
  const answers = [
    { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
    { calls: [call('run_command', { command: 'echo said' })] },
    { text: 'All done.' },
  ];
  const { result, server } = await scriptedRun({
    repository,
    turns: () => {
      if (before.length === 0) before = started();
      atLast = started().length;
      return answers.shift() ?? { text: 'The script is over.' };
    },
  });
  expect(result.outcome).toBe('done');
  // What the sandbox was asked on the way.
  expect(JSON.stringify(server.requests[0]?.body)).toContain(process.version.slice(1));
  // Whether the sandbox that waits for the first command is begun by then is a matter of time.
  const others = before.filter((name) => !name.startsWith('git ') && name !== 'bwrap, waiting');
  expect(others.sort()).toEqual(['bwrap', 'mkfifo']);
  expect(before.filter((name) => name.startsWith('git ')).length).toBeLessThanOrEqual(6);
  expect(started().slice(atLast)).toHaveLength(7);
});

/** Of this process, as they are named on their command lines; of git, what it is asked for. */
function startedPrograms(): () => string[] {
  const children: ChildProcess[] = [];
  const note = (message: unknown) => {
    children.push((message as { process: ChildProcess }).process);
  };
  diagnostics.subscribe('child_process', note);
  onTestFinished(() => {
    diagnostics.unsubscribe('child_process', note);
  });
  return () => children.map(({ spawnfile, spawnargs }) => nameOf(spawnfile, spawnargs));
}

function nameOf(file: string, args: readonly string[]): string {
  const all = [file, ...args].map((arg) => basename(arg));
  if (args.some((arg) => arg.includes('/next-command'))) return `${basename(file)}, waiting`;
  if (!all.includes('git')) return basename(file);
  const own = args.slice(args.findIndex((arg) => basename(arg) === 'git') + 1);
  const at = own.findIndex((arg, index) => !arg.startsWith('-') && own[index - 1] !== '-c');
  return `git ${own[at]}`;
}
