/** Takes changes of the work tree back, and sees whether they are gone. */

import { lstatSync } from 'node:fs';
import { type FileState, type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { invisible } from '../../../files/stat.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import type { PutBack } from '../../../ports.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { insistent } from './insistent-restorer.ts';
import { openRestorer, type RestorePlaces } from './restore.ts';

interface PutBackPlaces extends RestorePlaces {
  readonly snapshot: Snapshot;
  readonly closed: ClosedPlaces;
  /** Whether what is new at a path is the user's, moved there from a place of which nothing is kept. */
  readonly isFound: (change: PathChange) => boolean;
}

export async function revert(
  changes: readonly PathChange[],
  { snapshot, ...places }: PutBackPlaces,
): Promise<PutBack> {
  const whys = await restore(changes, places);
  const found = new Map((await snapshot.capture('all')).map((change) => [change.path, change]));
  const stuck: { path: string; why: string; now: FileState | null }[] = [];
  for (const { path, before, after } of changes) {
    const seen = found.get(path);
    const now = seen ? seen.after : after;
    if (!sameOnDisk(now, before))
      stuck.push({ path, why: whys.get(path) ?? 'it changes again after it is reverted', now });
    found.delete(path);
  }
  return { stuck, others: [...found.values()] };
}

/** Why paths could not be restored. What is new goes first, so that a file may take a folder's place and the reverse. */
async function restore(
  changes: readonly PathChange[],
  { closed, isFound, ...places }: Omit<PutBackPlaces, 'snapshot'>,
): Promise<Map<string, string>> {
  const restorer = insistent(await openRestorer(places), closed);
  await restorer.readAhead(changes.flatMap(({ before }) => before ?? []));
  const whys = new Map<string, string>();
  for (const change of changes) {
    const { path, before } = change;
    if (before !== null) continue;
    const why = isFound(change) ? MOVED_IN : await restorer.remove(path);
    if (why !== null) whys.set(path, why);
  }
  for (const { path, before } of changes) {
    const why =
      before === null ? null : ((await restorer.whyNot(path, before)) ?? (await restorer.put(path, before)));
    if (why !== null) whys.set(path, why);
  }
  return whys;
}

const MOVED_IN = 'it is older than the run and was moved there';

/** `all`: the changes among which these are. */
export function isMovedIn({
  root,
  openedNs,
  all,
}: {
  root: string;
  openedNs: bigint;
  all: readonly PathChange[];
}): PutBackPlaces['isFound'] {
  const kept = new Set(all.flatMap(({ before }) => before?.blob ?? []));
  return ({ path, before, after }) => {
    if (before !== null || after === null || kept.has(after.blob)) return false;
    return viewing(root, (view) => isOlder(view, path, openedNs));
  };
}

/** Made before that time: a move keeps the time of birth, and nobody can set it. */
function isOlder(view: TreeView, path: string, openedNs: bigint): boolean {
  try {
    const stat = lstatSync(view.place(path), { bigint: true, throwIfNoEntry: false });
    return stat !== undefined && stat.birthtimeNs > 0n && stat.birthtimeNs < openedNs;
  } catch (error) {
    invisible(error);
    return false;
  }
}
