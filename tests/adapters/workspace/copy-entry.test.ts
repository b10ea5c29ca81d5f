import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { copyEntry } from '../../../src/adapters/workspace/copy-entry.ts';
import { TreeView } from '../../../src/files/tree-view.ts';
import { removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { makePipe } from '../../support/files/temp-folder.ts';

afterAll(removeFolders);

test('a file that has become a pipe or a folder is refused, and nobody waits for it', () => {
  const root = temporaryFolder();
  makePipe(join(root, 'pipe'));
  mkdirSync(join(root, 'folder'));
  const view = new TreeView(root);
  for (const name of ['pipe', 'folder']) {
    const to = join(root, `${name}.copy`);
    expect(() => copyEntry(view, name, Buffer.from(to))).toThrow(`${name} is not a regular file`);
    expect(existsSync(to)).toBe(false);
  }
  view.close();
});
