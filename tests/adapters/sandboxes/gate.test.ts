/**
 * Process 1 of a sandbox begins only when its runner answers: one that dies while bubblewrap still sets up would otherwise leave
 * a command that runs on.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { arch } from 'node:process';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { findLauncher } from '../../../src/adapters/sandboxes/launched.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

const GATE_FD = 4;

function start(script: string, folder = ''): { gate: Duplex; ended: Promise<[number, string]> } {
  const limits = [0, 64, 0, 1];
  const args = ['init', 0, 1, ...limits, 0, '', folder, '/bin/sh', '-c', script].map(String);
  const child = spawn(findLauncher(arch) ?? '', args, {
    stdio: ['ignore', 'pipe', 'ignore', 'ignore', 'pipe'],
    cwd: tempFolder(),
  });
  let said = '';
  child.stdout?.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  const ended = once(child, 'close').then(([code]): [number, string] => [code, said]);
  return { gate: child.stdio.at(GATE_FD) as Duplex, ended };
}

async function run(script: string, folder = ''): Promise<[number, string]> {
  const { gate, ended } = start(script, folder);
  await once(gate, 'data');
  gate.end('\n');
  return ended;
}

const BEGUN = `echo begun; (echo >&${GATE_FD}) 2> /dev/null || echo closed; exit 7`;

test('a command begins when the runner answers, without the descriptor of the answer', async () => {
  expect(await run(BEGUN)).toEqual([7, 'begun\nclosed\n']);
});

test('a command does not start if its runner dies before it answers', async () => {
  const { gate, ended } = start(BEGUN);
  await once(gate, 'data');
  gate.destroy();
  expect(await ended).toEqual([1, '']);
});

test('a command does not start if its runner is already dead', async () => {
  const { gate, ended } = start(BEGUN);
  gate.destroy();
  const [, said] = await ended;
  expect(said).toBe('');
});

test('a command has its limits, its errors in its output, and the code of its signal', async () => {
  expect(await run('ulimit -c; ulimit -n; echo error >&2; kill -9 $$')).toEqual([137, '0\n64\nerror\n']);
});

test('a command does not start if its folder is gone', async () => {
  expect(await run('echo begun', 'a/b')).toEqual([
    1,
    'The working directory is gone, or is behind a link: a/b\n',
  ]);
});
