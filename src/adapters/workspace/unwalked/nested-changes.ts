/**
 * What changed in repositories of the work tree beside its own. Their contents are nobody's here: nothing is kept of them, so
 * that the kernel's times have to tell, which no program without privileges can set back.
 */

import { isGitDirName } from '../../../domain/changes/path.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import type { FileStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import type { FolderLimit } from '../../../files/tree-view.ts';
import { TreeView } from '../../../files/tree-view.ts';
import type { NestedChange } from '../../../ports.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';
import { beginningOf } from './ignored-changes.ts';

/** The nested repositories whose files are looked at. */
export interface NestedFolders {
  readonly root: string;
  readonly closed: Pick<ClosedPlaces, 'insist'>;
  readonly limit: FolderLimit;
  /** Repositories that were there when the run began. */
  readonly there: readonly string[];
  /** Submodules that were not: their folders are still to come. */
  readonly absent: readonly string[];
  /** The file system's time when the run came to this work tree, in ns. */
  readonly openedNs: bigint;
  /** Knows when the work began. */
  readonly shadowDir: string;
}

/**
 * The repositories in which something changed, sorted; one within another counts as a part of it. What cannot be looked at
 * counts as changed, unless it was closed before the run. Every file is looked at, so that this is for the end of a run.
 */
export async function nestedChanges(folders: NestedFolders): Promise<NestedChange[]> {
  const { there, absent, root, limit, openedNs, shadowDir } = folders;
  const beginning = beginningOf(shadowDir);
  if (beginning === null) return [];
  // As old as that moment counts: what follows may come within the same tick of the clock.
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
  { folders: { closed }, wasThere, sinceNs, breath }: Looking,
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
    // Its own time says whether it was closed since, and has been noted.
    if (listing.status !== 'seen') continue;
    for (const { name } of listing.entries) {
      if (isGitDirName(name)) continue;
      const entry = `${folder}/${name}`;
      const look = view.lookAt(entry);
      if (look.status !== 'seen') folders.push(folder);
      else if (look.stat.kind === 'folder') queue.push({ folder: entry, stat: look.stat });
      else if (isNew(look.stat)) files.push(entry);
    }
    await breath.after(1 + listing.entries.length);
  }
  return { path, files: files.sort(), folders: [...new Set(folders)].sort() };
}
