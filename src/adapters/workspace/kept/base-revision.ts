/** What a run starts from: the commit that is checked out, and the tree of the files as they are. */

import type { BaseRevision } from '../../../domain/run/events.ts';
import type { Checkout } from '../../../git/checkout-layout.ts';
import type { ObjectFormat } from '../../../git/store/object-store.ts';
import { BASE_INDEX, ScratchIndex, type TreeEdit } from '../../../git/store/trees.ts';
import { BASELINE_INDEX } from '../baseline/index/baseline-index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { committedTree } from './uncommitted.ts';

/** The work that need not wait for a scan of the files. */
interface KnownTrees {
  /** The empty tree without a commit. */
  readonly head: Promise<string | null>;
  /** Null if git cannot write a tree from the index, as in the middle of a merge. */
  readonly index: Promise<string | null>;
}

/** Begins to look up the trees of the checked-out commit and of the index. */
export function knownTrees(checkout: Checkout, shadowDir: string): KnownTrees {
  const head = committedTree(shadowDir, {
    commit: checkout.head.commit,
    objectFormat: checkout.objectFormat,
  });
  const scratch = new ScratchIndex(shadowDir, BASE_INDEX);
  scratch.copy(BASELINE_INDEX, checkout.objectFormat);
  const index = scratch.editedTree([]).catch(() => null);
  // Its failure counts when it is awaited.
  head.catch(() => undefined);
  return { head, index };
}

/** The base of a run whose snapshot has just been taken. */
export async function baseRevision(
  checkout: Checkout,
  shadowDir: string,
  { snapshot, known }: { snapshot: Snapshot; known: KnownTrees },
): Promise<BaseRevision> {
  const { objectFormat } = checkout;
  const [head, index] = await Promise.all([known.head, known.index]);
  const differences = snapshot.known.differences();
  const isEdited = index === null || differences.length > 0;
  const tree = isEdited ? await treeOfIndex(shadowDir, differences, objectFormat) : index;
  if (head === null) throw new Error(`The repository has no commit ${checkout.head.commit}.`);
  const { commit, branchRef } = checkout.head;
  const branch = branchRef === null ? null : branchRef.replace(/^refs\/heads\//, '');
  return { commit, branch, objectFormat, tree, dirty: head !== tree };
}

function treeOfIndex(
  shadowDir: string,
  differences: readonly TreeEdit[],
  objectFormat: ObjectFormat,
): Promise<string> {
  const scratch = new ScratchIndex(shadowDir, BASE_INDEX);
  scratch.copy(BASELINE_INDEX, objectFormat);
  return scratch.editedTree(differences);
}
