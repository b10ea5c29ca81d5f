/** The uncommitted work that a run began with, as a patch of its commit. */

import type { PathChange } from '../../../domain/changes/change.ts';
import type { BaseRevision } from '../../../domain/run/events.ts';
import { ScratchIndex } from '../../../git/store/trees.ts';
import type { UncommittedPatch } from '../../../ports/workspace.ts';
import { makeTreePatch } from '../patch/patch.ts';
import { committedTree, uncommittedFiles, withinBounds } from './uncommitted.ts';

/** Without large files that `net`, the changes of the run, does not touch: its patch applies without them. */
export async function makeUncommittedPatch(
  shadowDir: string,
  base: BaseRevision,
  net: readonly PathChange[],
): Promise<UncommittedPatch> {
  const committed = await committedTree(shadowDir, base);
  if (committed === null)
    return { status: 'failed', message: `The commit ${base.commit} is not there any more.` };
  const files = await uncommittedFiles(shadowDir, committed, base.tree);
  const touched = new Set(net.map(({ path }) => path));
  const kept = withinBounds(files, ({ path }) => touched.has(path));
  const left = files.filter((file) => !kept.has(file));
  const tree = left.length === 0 ? base.tree : await treeWithout(shadowDir, base.tree, left);
  const made = await makeTreePatch(shadowDir, committed, tree);
  return made.status === 'failed' ? made : { ...made, leftOut: left.map(({ path }) => path) };
}

async function treeWithout(
  shadowDir: string,
  tree: string,
  left: Awaited<ReturnType<typeof uncommittedFiles>>,
): Promise<string> {
  const index = new ScratchIndex(shadowDir, 'uncommitted.index');
  await index.readTree(tree);
  return index.editedTree(left.map(({ path, committed }) => ({ path, state: committed })));
}
