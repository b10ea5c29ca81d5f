/** The tree of the base is that of the files, whatever the user's index holds. */

import { afterEach, expect, test } from 'vitest';
import { ScratchCheckout } from '../scratch-checkout.ts';

let scratch: ScratchCheckout;

afterEach(() => scratch.close());

/** The tree that git makes of all files. */
function treeOfAll(): string {
  scratch.git('add', '--all');
  return scratch.git('write-tree').trim();
}

async function baseTree(): Promise<string> {
  const { base } = await (await scratch.open()).baseline();
  return base.tree;
}

test('with staged, changed, new and removed files, and such as are only meant to be added', async () => {
  scratch = new ScratchCheckout();
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
  expect(await baseTree()).toBe(treeOfAll());
});

test('in the middle of a merge', async () => {
  scratch = new ScratchCheckout();
  scratch.write('both', 'base\n');
  scratch.write('other', 'base\n');
  scratch.commit();
  scratch.git('checkout', '--quiet', '-b', 'theirs');
  scratch.write('both', 'theirs\n');
  scratch.commit();
  scratch.git('checkout', '--quiet', 'main');
  scratch.write('both', 'ours\n');
  scratch.commit();
  expect(() => scratch.git('merge', 'theirs')).toThrow();
  expect(scratch.git('ls-files', '--unmerged')).toContain('both');
  expect(await baseTree()).toBe(treeOfAll());
});

test('before the first commit', async () => {
  scratch = new ScratchCheckout();
  scratch.write('folder/new', 'new\n');
  expect(await baseTree()).toBe(treeOfAll());
});
