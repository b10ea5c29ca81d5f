/**
 * Finds changes in repositories of the work tree other than its own. Their contents are not recorded, so this relies on the
 * kernel's times, which no unprivileged program can set back.
 */

import { foldersOf, isGitDirName } from '../../../domain/changes/path.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import type { FileStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import type { FolderLimit } from '../../../files/tree-view.ts';
import { TreeView } from '../../../files/tree-view.ts';
import type { NestedChange } from '../../../ports/workspace.ts';
import { beginningOf } from './ignored-changes.ts';
import type { SetIds } from './set-ids.ts';

/** The nested repositories whose files are examined. */
export interface NestedFolders {
  readonly root: string;
  readonly closed: Pick<ClosedPlaces, 'insist'>;
  /** Clears the set-uid and set-gid bits that commands set. */
  readonly setIds: Pick<SetIds, 'see'>;
  readonly limit: FolderLimit;
  /** Repositories that existed when the run began. */
  readonly there: readonly string[];
  /** Submodules that did not: their folders do not exist yet. */
  readonly absent: readonly string[];
  /** The file system's time when the run opened this work tree, in ns. */
  readonly openedNs: bigint;
  /** Contains the time when the work began. */
  readonly shadowDir: string;
}

/**
 * The repositories in which something changed, sorted; one inside another counts as part of it. What cannot be examined
 * counts as changed, unless it was unreadable before the run. Examines every file, so it is meant for the end of a run.
 */
export async function nestedChanges(folders: NestedFolders): Promise<NestedChange[]> {
  const { there, absent, root, limit, openedNs, shadowDir } = folders;
  const beginning = beginningOf(shadowDir);
  if (beginning === null) return [];
  // An equal time counts: what follows may come within the same tick of the clock.
  const sinceNs = beginning > openedNs ? beginning : openedNs;
  const all = new Set([...there, ...absent]);
  const outer = [...all].filter((path) => ![...foldersOf(path)].some((folder) => all.has(folder))).sort();
  const wasThere = new Set(there);
  const view = new TreeView(root, limit);
  const breath = new Breath();
  try {
    const changes: NestedChange[] = [];
    for (const path of outer) {
      const change = await changesBelow(view, path, {
        folders,
        wasThere: wasThere.has(path),
        sinceNs,
        breath,
      });
      if (change.files.length + change.folders.length > 0) changes.push(change);
    }
    return changes;
  } finally {
    view.close();
  }
}

interface Looking {
  readonly folders: NestedFolders;
  readonly wasThere: boolean;
  readonly sinceNs: bigint;
  readonly breath: Breath;
}

async function changesBelow(
  view: TreeView,
  path: string,
  { folders: { closed, setIds }, wasThere, sinceNs, breath }: Looking,
): Promise<NestedChange> {
  const files: string[] = [];
  const folders: string[] = [];
  const isNew = (stat: FileStat) => stat.ctimeNs >= sinceNs;
  const top = closed.insist(path, () => view.lookAt(path));
  if (top.status === 'absent') return { path, files, folders: wasThere ? [path] : [] };
  if (top.status === 'unreadable') return { path, files, folders: [path] };
  if (top.stat.kind !== 'folder') return { path, files: wasThere || isNew(top.stat) ? [path] : [], folders };
  const queue = [{ folder: path, stat: top.stat }];
  for (const { folder, stat } of queue) {
    if (isNew(stat)) folders.push(folder);
    const listing = closed.insist(folder, () => view.listFolder(folder));
    // Its own ctime shows whether it was closed since then, and has been taken into account.
    if (listing.status !== 'seen') continue;
    for (const { name } of listing.entries) {
      if (isGitDirName(name)) continue;
      const entry = `${folder}/${name}`;
      const look = view.lookAt(entry);
      if (look.status === 'seen') setIds.see(view, entry, look.stat);
      if (look.status !== 'seen') folders.push(folder);
      else if (look.stat.kind === 'folder') queue.push({ folder: entry, stat: look.stat });
      else if (isNew(look.stat)) files.push(entry);
    }
    await breath.after(1 + listing.entries.length);
  }
  return { path, files: files.sort(), folders: [...new Set(folders)].sort() };
}
