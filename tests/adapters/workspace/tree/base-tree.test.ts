/** The tree of the base is that of the files, whatever the user's index holds. */

import { expect, test } from 'vitest';
import { ScratchCheckout } from '../scratch-checkout.ts';

/** The tree that git makes of all files. */
function treeOfAll(scratch: ScratchCheckout): string {
  scratch.git('add', '--all');
  return scratch.git('write-tree').trim();
}

async function baseTree(scratch: ScratchCheckout): Promise<string> {
  const base = (await scratch.open()).base();
  return base.tree;
}

test('with staged, changed, new and removed files, and such as are only meant to be added', async () => {
  const scratch = new ScratchCheckout();
  for (const path of ['same', 'staged', 'changed', 'removed', 'unstaged', 'folder/in/it'])
    scratch.write(path, 'old\n');
  scratch.commit();
  scratch.write('staged', 'new\n');
  scratch.git('add', 'staged');
  scratch.git('rm', '--quiet', '--cached', 'unstaged');
  scratch.write('changed', 'new\n');
  scratch.remove('removed');
  scratch.write('folder/in/other', 'new\n');
  scratch.remove('folder/in/it');
  scratch.write('meant', 'new\n');
  scratch.git('add', '--intent-to-add', 'meant');
  expect(await baseTree(scratch)).toBe(treeOfAll(scratch));
});

test('in the middle of a merge', async () => {
  const scratch = new ScratchCheckout();
  scratch.write('both', 'base\n');
  scratch.write('other', 'base\n');
  scratch.commit();
  scratch.conflict('both');
  expect(await baseTree(scratch)).toBe(treeOfAll(scratch));
});
