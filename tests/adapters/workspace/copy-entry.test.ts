import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyEntry } from '../../../src/adapters/workspace/work-tree-copy.ts';
import { TreeView } from '../../../src/files/tree-view.ts';
import { temporaryFolder } from '../../support/files/repository.ts';
import { makePipe } from '../../support/files/temp-folder.ts';

const never = new AbortController().signal;

test('a file that has become a pipe or a folder is refused, and no one waits for it', async () => {
  const root = temporaryFolder();
  makePipe(join(root, 'pipe'));
  mkdirSync(join(root, 'folder'));
  const view = new TreeView(root);
  for (const name of ['pipe', 'folder']) {
    const to = join(root, `${name}.copy`);
    await expect(copyEntry(view, name, Buffer.from(to), never)).rejects.toThrow(
      `${name} is not a regular file`,
    );
    expect(existsSync(to)).toBe(false);
  }
  view.close();
});

test('holes take no room in a copy, and a signal is heard in a large file', async () => {
  const root = temporaryFolder();
  const from = join(root, 'large');
  writeFileSync(from, 'begins');
  truncateSync(from, 200 * 1024 ** 2);
  writeFileSync(from, 'ends', { flag: 'a' });
  const view = new TreeView(root);
  const to = join(root, 'copy');
  expect(await copyEntry(view, 'large', Buffer.from(to), never)).toBe(true);
  const [whole, copied] = [statSync(from), statSync(to)];
  expect(copied.size).toBe(whole.size);
  expect(copied.blocks * 512).toBeLessThan(4 * 1024 ** 2);
  const bytes = readFileSync(to);
  expect([bytes.toString('latin1', 0, 6), bytes.toString('latin1', whole.size - 4)]).toEqual([
    'begins',
    'ends',
  ]);
  const cut = copyEntry(view, 'large', Buffer.from(join(root, 'cut')), AbortSignal.abort());
  expect(await cut).toBe(false);
  view.close();
});
