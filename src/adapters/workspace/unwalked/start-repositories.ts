/** The repositories in the work tree when the run begins: what commands can do in them, and where to look for changes. */

import type { Checkout } from '../../../git/checkout-layout.ts';
import { type Coverage, coverable, linkedWorktrees, underPolicy } from '../../../git/nested-git.ts';
import type { NestedRepository } from '../../../ports/workspace.ts';
import type { SnapshotParts } from '../snapshot/snapshot.ts';
import type { NestedFolders } from './nested-changes.ts';

/** Repositories inside the work tree. */
export interface StartRepositories extends Coverage {
  /** Folders of those that exist and whose files do not belong to this repository. */
  readonly foreign: string[];
}

/** Those found by the first walk and those known to git itself. */
export function startRepositories(checkout: Checkout, parts: SnapshotParts): StartRepositories {
  const { root, tracked } = parts.tree;
  const found = parts.planted.known.flatMap(({ path }) =>
    path.endsWith('/.git') ? [path.slice(0, -'/.git'.length)] : [],
  );
  const known = [...tracked.submodules, ...linkedWorktrees(checkout), ...found];
  const { nested, uncovered } = coverable(root, known, parts.contents.warn);
  const folders = nested.flatMap(({ path, dotGit }) => (dotGit === 'itself' ? [] : [path]));
  // If the index has files in one, those are treated as any others.
  const foreign = [...folders, ...uncovered].filter((path) => path !== '.' && !tracked.isFolder(path));
  return { nested, uncovered, foreign };
}

/** How commands see them; `isReadOnly` says where they may not change anything. */
export function nestedUnderPolicy(
  { nested, foreign }: { nested: readonly NestedRepository[]; foreign: readonly string[] },
  isReadOnly: (folder: string) => boolean,
): NestedRepository[] {
  return underPolicy(nested, (folder) => foreign.includes(folder) && isReadOnly(folder));
}

/** Folders in which to look for changes of theirs. */
export function nestedFolders(
  { tree: { root, closed, tracked, folders }, shadowDir }: SnapshotParts,
  { foreign, openedNs }: { foreign: readonly string[]; openedNs: bigint },
): NestedFolders {
  return { root, closed, limit: folders, there: foreign, absent: tracked.submodules, openedNs, shadowDir };
}
