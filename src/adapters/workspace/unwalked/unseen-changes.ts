/**
 * What the run changed where git does not look: in files that it ignores, and in other repositories of the work tree. What was
 * written, renamed, linked or made executable since the work began has a ctime later than that, which cannot be set back. So does a
 * folder whose entries changed, and one that was moved, with files in it that show no trace of it: so folders are listed too.
 *
 * Not detected: an ignored file that was moved along with a folder that git does look into.
 */

import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IgnoredFileList, type IgnoredFiles } from '../../../domain/changes/ignored-files.ts';
import { foldersOf } from '../../../domain/changes/path.ts';
import { CutShort } from '../../../domain/errors/thrown.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { FileStat } from '../../../files/stat.ts';
import { type TreeView, viewingFor } from '../../../files/tree-view.ts';
import type { NestedChange } from '../../../ports/workspace.ts';
import type { Folders, SeenPlace } from './folders.ts';

/** The moment the work began, stored as the time of a file in the shadow repository. */
const BEGINNING = 'work-began.json';

/** Records the moment, unless an earlier act or an earlier process of the run has done so. */
export function keepBeginning(shadowDir: string): void {
  const file = join(shadowDir, BEGINNING);
  if (!existsSync(file)) writeFileSync(file, '{}\n');
}

/** The same for a run that is resumed in another checkout: earlier changes there are not the run's. */
export function moveBeginning(shadowDir: string): void {
  const file = join(shadowDir, BEGINNING);
  if (existsSync(file)) writeFileSync(file, '{}\n');
}

/** The moment as a ctime, in ns; null if the work has not begun. */
export function beginningOf(shadowDir: string): bigint | null {
  return lstatSync(join(shadowDir, BEGINNING), { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? null;
}

/** Where to look for changes of ignored files. */
interface IgnoredPlaces {
  readonly folders: Folders;
  readonly shadowDir: string;
  readonly warnings: Set<Warning>;
  /** Ignored files and folders that were there when the run began, and are not any more. */
  readonly gone: readonly { readonly path: string }[];
  /** Paths that git ignores; a folder that is ignored as a whole ends with a slash. */
  ignored(): Promise<string[]>;
}

/**
 * Ignored files that have changed since the work began, and folders (with a final slash) whose entries have changed or that were
 * moved; none if the work has not begun. So are special files, and folders that are empty now: git has no such things, and verify
 * commands may see them.
 */
export async function ignoredChanges(places: IgnoredPlaces): Promise<IgnoredFiles> {
  const names = new IgnoredFileList();
  places.warnings.delete(CUT_SHORT);
  try {
    await findIgnored(places, names);
  } catch (error) {
    // If time ran out, the files found so far are still worth reporting.
    if (!(error instanceof CutShort)) throw error;
    places.warnings.add(CUT_SHORT);
  }
  return names.list();
}

const CUT_SHORT = warning(
  'WARN_LOOK_CUT_SHORT',
  'There was not enough time to look at all files that git ignores: those that the result names may not be all.',
);

async function findIgnored(places: IgnoredPlaces, names: IgnoredFileList): Promise<void> {
  const since = beginningOf(places.shadowDir);
  if (since === null) return;
  const { folders } = places;
  const { empty, special } = folders.last;
  const paths = await places.ignored();
  const within = new Set(paths);
  const isWithin = (path: string) =>
    within.has(path) || [path, ...foldersOf(path)].some((one) => within.has(`${one}/`));
  const seen: SeenPlace = (path, stat, isFolder) => {
    if (isSince(stat, since)) names.add(isFolder ? `${path}/` : path);
  };
  const at = (view: TreeView, path: string) => {
    const stat = folders.at(view, path);
    if (stat !== 'absent') seen(path, stat, stat?.kind === 'folder');
  };
  await viewingFor(folders.root, async (view) => {
    for (const path of paths) {
      if (path.endsWith('/')) await folders.below(view, path.slice(0, -1), { isWhole: false, seen });
      else at(view, path);
    }
    for (const path of [...special, ...empty]) if (!isWithin(path)) at(view, path);
  });
  for (const { path } of places.gone) names.add(path);
}

/** An equal time counts: the first act of the run may follow within the same tick of the clock. What cannot be examined counts. */
function isSince(stat: FileStat | null, sinceNs: bigint): boolean {
  return stat === null || stat.ctimeNs >= sinceNs;
}

/** The nested repositories whose files are examined. */
interface NestedFolders {
  /** Repositories that existed when the run began. */
  readonly there: readonly string[];
  /** Submodules that did not: their folders do not exist yet. */
  readonly absent: readonly string[];
  /** The file system's time when the run opened this work tree, in ns. */
  readonly openedNs: bigint;
}

/** The repositories in which something changed, sorted; one inside another counts as part of it. */
export async function nestedChanges(
  folders: Folders,
  shadowDir: string,
  { there, absent, openedNs }: NestedFolders,
): Promise<NestedChange[]> {
  const beginning = beginningOf(shadowDir);
  if (beginning === null) return [];
  const sinceNs = beginning > openedNs ? beginning : openedNs;
  const all = new Set([...there, ...absent]);
  const outer = [...all].filter((path) => ![...foldersOf(path)].some((folder) => all.has(folder))).sort();
  const isThere = new Set(there);
  return viewingFor(folders.root, async (view) => {
    const changes: NestedChange[] = [];
    for (const path of outer) {
      const found = { files: [] as string[], folders: [] as string[] };
      const seen: SeenPlace = (one, stat, isFolder) => {
        if (isSince(stat, sinceNs)) (isFolder ? found.folders : found.files).push(one);
      };
      const top = folders.at(view, path);
      if (top === 'absent') {
        if (isThere.has(path)) found.folders.push(path);
      } else if (top !== null && top.kind !== 'folder') {
        if (isThere.has(path) || isSince(top, sinceNs)) found.files.push(path);
      } else await folders.below(view, path, { isWhole: true, seen });
      if (found.files.length + found.folders.length > 0)
        changes.push({ path, files: found.files.sort(), folders: found.folders.sort() });
    }
    return changes;
  });
}
