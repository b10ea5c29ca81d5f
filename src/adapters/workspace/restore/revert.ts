/** Reverts changes of the work tree, and checks that they are gone. */

import { closeSync, readSync } from 'node:fs';
import { type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import { nameOf } from '../../../domain/changes/path.ts';
import { belongsTo } from '../../../domain/review/git-folder.ts';
import { openRegularIn } from '../../../files/opened-file.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import type { PutBack } from '../../../ports/workspace.ts';
import { type GonePath, MAX_IGNORED_BYTES } from '../kept/kept-files.ts';
import { type RestorePlaces, restoreAll } from './restore.ts';

interface PutBackPlaces extends RestorePlaces {
  /** Looks at everything, and returns what changed since the last look. */
  look(): Promise<PathChange[]>;
  /** Why something new at a path has to stay because it may be the user's; null if it can be removed. */
  readonly whyKept: (change: PathChange) => string | null;
}

/** Puts back changes that are not permitted, except those that `whyKept` gives a reason to keep. */
export async function revert(
  changes: readonly PathChange[],
  { look, whyKept, ...places }: PutBackPlaces,
): Promise<PutBack> {
  const keep = new Map(
    changes.flatMap((change): [string, string][] => {
      const why = whyKept(change);
      return why === null ? [] : [[change.path, why]];
    }),
  );
  const whys = await restoreAll(
    changes.filter(({ path }) => !keep.has(path)),
    places,
  );
  const found = new Map((await look()).map((change) => [change.path, change]));
  const stuck: PutBack['stuck'][number][] = [];
  for (const { path, before, after } of changes) {
    const seen = found.get(path);
    const now = seen ? seen.after : after;
    if (!sameOnDisk(now, before))
      stuck.push({
        path,
        why: keep.get(path) ?? whys.get(path) ?? 'it changes again after it is reverted',
        now,
        isFound: keep.has(path),
      });
    found.delete(path);
  }
  return { stuck, others: [...found.values()] };
}

const MOVED_IN = 'it is older than the run, and so was moved or linked there';

/**
 * Entries that may be the user's were moved or copied from an unrecorded place, since `mv` copies between mounts. Among new
 * entries, only a repository can be a copy of a repository.
 */
export function whyKept({
  root,
  openedNs,
  all,
  repositories,
  lost,
  gone,
}: {
  root: string;
  openedNs: bigint;
  /** All changes, including the ones in question. */
  all: readonly PathChange[];
  /** Folders around them that git considers repositories. */
  repositories: readonly string[];
  /** A repository that existed when the run began and is gone; null if there is none. */
  lost: string | null;
  /** Ignored files and folders whose contents are gone. */
  gone: readonly GonePath[];
}): PutBackPlaces['whyKept'] {
  const kept = new Set(all.flatMap(({ before }) => before?.blob ?? []));
  return ({ path, before, after }) => {
    if (before !== null || after === null) return null;
    if (!kept.has(after.blob)) {
      if (viewing(root, (view) => isOlder(view, path, openedNs))) return MOVED_IN;
      const originals = gone.filter((one) => one.lost !== null);
      const isPacked = originals.length > 0 && viewing(root, (view) => beginsLikeArchive(view, path));
      const original = originals.find((one) => isPacked || mayHold(one, path, after.size));
      if (original !== undefined) return perhapsCopied(original.path);
    }
    return lost !== null && repositories.some((folder) => belongsTo(path, folder))
      ? perhapsCopied(lost)
      : null;
  };
}

/** How archives, compressed and encrypted files, and what databases write of themselves begin, in Latin-1. */
const ARCHIVES = [
  ...[
    '\x1f\x8b',
    'BZh',
    '\xfd7zXZ',
    '\x28\xb5\x2f\xfd',
    '\x04\x22\x4d\x18',
    'LZIP',
    'PK\x03\x04',
    '7z\xbc\xaf',
  ],
  ...['Rar!', 'Salted__', 'age-encryption.org', 'SQLite format 3', 'PGDMP'],
];

/** Such a file, however small, may hold the contents of a large one. */
function beginsLikeArchive(view: TreeView, path: string): boolean {
  const opening = openRegularIn(view, path);
  if (opening.status !== 'open') return false;
  try {
    const beginning = Buffer.alloc(32);
    readSync(opening.file.descriptor, beginning, 0, beginning.length, 0);
    const text = beginning.toString('latin1');
    return ARCHIVES.some((known) => text.startsWith(known));
  } finally {
    closeSync(opening.file.descriptor);
  }
}

/** Whether it may be a copy of what is gone, or an archive with it. */
function mayHold({ path, lost }: GonePath, other: string, bytes: number): boolean {
  return (
    lost === 'unknown' ||
    lost === bytes ||
    bytes > MAX_IGNORED_BYTES ||
    nameOf(other).startsWith(nameOf(path))
  );
}

function perhapsCopied(lost: string): string {
  return `it may be a copy of ${JSON.stringify(lost)}, which was there when the run began and is gone or changed`;
}

/** Whether it was created before that time: a move keeps the birth time, which cannot be set. */
function isOlder(view: TreeView, path: string, openedNs: bigint): boolean {
  const birth = view.stat(path)?.birthtimeNs ?? 0n;
  return birth > 0n && birth < openedNs;
}
