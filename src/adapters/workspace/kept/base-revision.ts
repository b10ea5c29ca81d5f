/** What a run starts from: the commit that is checked out, and the tree of the files as they are. */

import type { FileState } from '../../../domain/changes/change.ts';
import type { BaseRevision } from '../../../domain/run/events.ts';
import type { Checkout } from '../../../git/checkout-layout.ts';
import { BASE_INDEX, ScratchIndex } from '../../../git/store/trees.ts';
import { START_INDEX } from '../tree/start-index.ts';
import { committedTree } from './uncommitted.ts';

/** The base of a run. `edits` are the paths where the work tree differs from the index. */
export async function baseRevision(
  { head: { commit, branchRef }, objectFormat }: Checkout,
  shadowDir: string,
  edits: ReadonlyMap<string, FileState | null>,
): Promise<BaseRevision> {
  const scratch = new ScratchIndex(shadowDir, BASE_INDEX);
  if (!scratch.copy(START_INDEX, objectFormat)) scratch.empty(objectFormat);
  const [tree, head] = await Promise.all([
    scratch.editedTree([...edits].map(([path, state]) => ({ path, state }))),
    committedTree(shadowDir, { commit, objectFormat }),
  ]);
  const branch = branchRef === null ? null : branchRef.replace(/^refs\/heads\//, '');
  if (head === null) throw new Error(`The repository has no commit ${commit}.`);
  return { commit, branch, objectFormat, tree, dirty: tree !== head };
}
