import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { lockName, lockRun, lockWorkTree } from '../../../src/adapters/storage/run-lock.ts';
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

test('the lock of a process that was killed is gone with it', async () => {
  const folder = tempFolder();
  const script = `const { lockRun } = await import(${JSON.stringify(resolve('src/adapters/storage/run-lock.ts'))});
    await lockRun(${JSON.stringify(folder)});
    console.log('locked');
    setInterval(() => {}, 1_000);`;
  const holder = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
  await once(holder.stdout, 'data');
  expect(await lockRun(folder)).toBeNull();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const letGo = await lockRun(folder);
  expect(letGo).not.toBeNull();
  letGo?.();
});

test('a work tree has a lock of its own, whatever path leads there', async () => {
  const folder = tempFolder();
  const letGoOfRun = await lockRun(folder);
  const letGo = await lockWorkTree(folder);
  expect(letGo).not.toBeNull();
  expect(await lockWorkTree(`${folder}/.`)).toBeNull();
  letGo?.();
  letGoOfRun?.();
});

test('folders whose inodes a number cannot tell apart have locks of their own', () => {
  const names = [2n ** 63n, 2n ** 63n + 1n].map((ino) => lockName('tree', { dev: 1n, ino }));
  expect(new Set(names).size).toBe(2);
});
