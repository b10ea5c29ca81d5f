import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeName } from '../../src/files/names.ts';
import { readEntries, TreeView } from '../../src/files/tree-view.ts';
import { tempFolder } from '../support/files/temp-folder.ts';

test('a large folder is read in pieces, to all entries', () => {
  const folder = tempFolder();
  mkdirSync(join(folder, 'folder'));
  symlinkSync('nowhere', join(folder, 'link'));
  writeFileSync(encodeName(`${folder}/odd-\udcff`), '');
  for (let n = 0; n < 5_000; n += 1) writeFileSync(join(folder, String(n)), '');
  const large = readEntries(folder, 10_000);
  expect(large).toHaveLength(5_003);
  expect(large).toContainEqual({ name: 'odd-\udcff', folder: false, special: false });
});

test('a folder with one entry too many is named instead of being cut', () => {
  const root = tempFolder();
  for (const [folder, count] of [
    ['fits', 3],
    ['large', 4],
  ] as const) {
    mkdirSync(join(root, folder));
    for (let n = 0; n < count; n += 1) writeFileSync(join(root, folder, String(n)), '');
  }
  const exceeded: string[] = [];
  const view = new TreeView(root, { maxEntries: 3, exceeded: (folder) => exceeded.push(folder) });
  expect([view.listFolder('fits').status, view.listFolder('large').status]).toEqual(['seen', 'too_large']);
  expect(exceeded).toEqual(['large']);
  view.close();
});
