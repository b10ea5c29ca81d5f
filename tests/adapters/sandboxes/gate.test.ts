/**
 * Process 1 of a sandbox begins only when its runner answers: one that dies while bubblewrap still sets up would otherwise leave
 * a command that runs on.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { enforcedLimits } from '../../../src/adapters/sandboxes/command/limits.ts';
import { initCommand } from '../../../src/adapters/sandboxes/command/shell.ts';

const GATE_FD = 5;

function start(): { gate: Duplex; ended: Promise<[number, string]> } {
  const line = ['/bin/sh', '-c', `echo begun; (echo >&${GATE_FD}) 2> /dev/null || echo closed; exit 7`];
  const [sh = '', ...args] = initCommand('/bin/sh', GATE_FD, {
    line,
    limits: enforcedLimits(undefined, false),
    folder: '',
  });
  const child = spawn(sh, args, { stdio: ['ignore', 'pipe', 'ignore', 'ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stdout?.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  const ended = once(child, 'close').then(([code]): [number, string] => [code, said]);
  return { gate: child.stdio.at(GATE_FD) as Duplex, ended };
}

test('a command begins when the runner answers, without the descriptor of the answer', async () => {
  const { gate, ended } = start();
  await once(gate, 'data');
  gate.end('\n');
  expect(await ended).toEqual([7, 'begun\nclosed\n']);
});

test('a command does not start if its runner dies before it answers', async () => {
  const { gate, ended } = start();
  await once(gate, 'data');
  gate.destroy();
  expect(await ended).toEqual([1, '']);
});

test('a command does not start if its runner is already dead', async () => {
  const { gate, ended } = start();
  gate.destroy();
  const [, said] = await ended;
  expect(said).toBe('');
});
