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

test('in the middle of a merge', async () => {
  const scratch = new ScratchCheckout();
  scratch.write('both', 'base\n');
  scratch.write('other', 'base\n');
  scratch.commit();
  scratch.conflict('both');
  expect(await baseTree(scratch)).toBe(treeOfAll(scratch));
});
