import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { runDirectoryAt } from '../../../src/adapters/storage/run-directory.ts';
import { whyNotUsable } from '../../../src/adapters/storage/run-directory-check.ts';
import { isRunLocked, lockName, lockRun, lockWorkTree } from '../../../src/adapters/storage/run-lock.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

test('a run directory is locked for one, until that one lets go', async () => {
  const folder = tempFolder();
  const letGo = await lockRun(folder);
  expect(letGo).not.toBeNull();
  expect(await lockRun(folder)).toBeNull();
  letGo?.();
  const again = await lockRun(folder);
  expect(again).not.toBeNull();
  again?.();
});

test('folders with inodes that a number cannot distinguish have separate locks', () => {
  const names = [2n ** 63n, 2n ** 63n + 1n].map((ino) => lockName('tree', { dev: 1n, ino }));
  expect(new Set(names).size).toBe(2);
});

/** Runs a program in a network namespace of its own, as a container has one. */
function elsewhere(program: string) {
  const lock = JSON.stringify(resolve('src/adapters/storage/run-lock.ts'));
  const script = `const { isRunLocked, lockRun, lockWorkTree } = await import(${lock}); ${program}`;
  const line = [
    '--map-root-user',
    '--net',
    '--pid',
    '--fork',
    '--kill-child',
    process.execPath,
    '--import',
    'tsx',
    '--input-type=module',
  ];
  return spawn('unshare', [...line, '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test.each(['/proc/self', '/nonexistent', '/dev/null'])(
  'a git dir that takes no socket keeps no run away: %s',
  async (gitDir) => {
    const letGo = await lockWorkTree({ root: tempFolder(), gitDir });
    expect(letGo).not.toBeNull();
    letGo?.();
  },
);

test('so does the lock of a run, which can be asked for without a trace', async () => {
  const runDir = tempFolder({ 'result.json': '{}' });
  const given = JSON.stringify(runDir);
  const holder = elsewhere(`await lockRun(${given}); console.log('locked'); setInterval(() => {}, 1_000);`);
  await once(holder.stdout, 'data');
  expect([await isRunLocked(runDir), await lockRun(runDir)]).toEqual([true, null]);
  expect(await whyNotUsable(runDirectoryAt(runDir))).toBe(null);
  const [held] = readdirSync(runDir).filter((name) => name !== 'result.json');
  holder.kill('SIGKILL');
  await once(holder, 'close');
  expect(await isRunLocked(runDir)).toBe(false);
  const letGo = await lockRun(runDir);
  expect(readdirSync(runDir)).toEqual(['result.json', expect.not.stringContaining(held ?? '')].sort());
  const late = elsewhere(`console.log(await isRunLocked(${given}), await lockRun(${given}));`);
  expect(String((await once(late.stdout, 'data'))[0])).toBe('true null\n');
  letGo?.();
  expect(readdirSync(runDir)).toEqual(['result.json']);
});
