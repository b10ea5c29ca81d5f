import { expect, test } from 'vitest';
import { lockName, lockWorkTree } from '../../../src/adapters/storage/run-lock.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

test('folders with inodes that a number cannot distinguish have separate locks', () => {
  const names = [2n ** 63n, 2n ** 63n + 1n].map((ino) => lockName('tree', { dev: 1n, ino }));
  expect(new Set(names).size).toBe(2);
});

test.each(['/proc/self', '/nonexistent', '/dev/null'])(
  'a git dir that takes no socket keeps no run away: %s',
  async (gitDir) => {
    const letGo = await lockWorkTree({ root: tempFolder(), gitDir });
    expect(letGo).not.toBeNull();
    letGo?.();
  },
);
