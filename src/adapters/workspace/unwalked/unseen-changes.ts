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
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import type { FileStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { NO_FOLDER_LIMIT, TreeView } from '../../../files/tree-view.ts';
import type { NestedChange } from '../../../ports/workspace.ts';
import { Folders, pathIn } from './folders.ts';
import { closedSince, readRunStart } from './run-start.ts';
import { SetIds } from './set-ids.ts';

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

/** How to look. */
export interface LookingParts {
  readonly root: string;
  readonly closed: Pick<ClosedPlaces, 'insist'>;
  readonly setIds: Pick<SetIds, 'see'>;
  readonly folders: Pick<Folders, 'read' | 'look'>;
}

/** Receives a place, whose stat is null if it cannot be examined. */
type Seen = (path: string, stat: FileStat | null, isFolder: boolean) => void;

/** One round of looks, which ends with `close`. */
class Looks {
  readonly #parts: LookingParts;
  readonly #breath = new Breath();
  readonly #view: TreeView;

  constructor(parts: LookingParts) {
    this.#parts = parts;
    this.#view = new TreeView(parts.root);
  }

  close(): void {
    this.#view.close();
  }

  /** The stat of a place; null if it cannot be examined, and 'absent' if it is gone. */
  at(path: string): FileStat | null | 'absent' {
    const look = this.#parts.closed.insist(path, () => this.#view.lookAt(path));
    if (look.status !== 'seen') return look.status === 'absent' ? 'absent' : null;
    this.#parts.setIds.see(this.#view, path, look.stat);
    return look.stat;
  }

  /** Passes on the folder and everything below it, without git dirs and, if `isWhole` is false, without other repositories. */
  async below(top: string, isWhole: boolean, seen: Seen): Promise<void> {
    const waiting = [top];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const read = this.#parts.folders.read(this.#view, folder);
      if (typeof read === 'string') {
        const stat = this.at(folder);
        if (stat !== 'absent') seen(folder, stat, true);
        continue;
      }
      if (read.gitDirs.length > 0 && !isWhole) continue;
      seen(folder, read.stat, true);
      const names = read.files.split('/').slice(0, -1);
      for (const name of names) {
        const path = pathIn(folder, name);
        const file = this.at(path);
        if (file !== 'absent') seen(path, file, false);
      }
      waiting.push(...read.folders);
      await this.#breath.after(1 + names.length);
    }
  }
}

/** Where to look for changes of ignored files. */
export interface IgnoredPlaces extends LookingParts {
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
  'Not all files that git ignores could be checked in time: set-uid bits that commands set may be left on them.',
);

async function findIgnored(places: IgnoredPlaces, names: IgnoredFileList): Promise<void> {
  const since = beginningOf(places.shadowDir);
  const { empty, special } = await places.folders.look(0n);
  const paths = await places.ignored();
  const within = new Set(paths);
  const isWithin = (path: string) =>
    within.has(path) || [path, ...foldersOf(path)].some((one) => within.has(`${one}/`));
  const seen: Seen = (path, stat, isFolder) => {
    if (since !== null && isSince(stat, since)) names.add(isFolder ? `${path}/` : path);
  };
  const looks = new Looks(places);
  const at = (path: string) => {
    const stat = looks.at(path);
    if (stat !== 'absent') seen(path, stat, stat?.kind === 'folder');
  };
  try {
    for (const path of paths) {
      if (path.endsWith('/')) await looks.below(path.slice(0, -1), false, seen);
      else at(path);
    }
    for (const path of [...special, ...empty]) if (!isWithin(path)) at(path);
    if (since !== null) for (const { path } of places.gone) names.add(path);
  } finally {
    looks.close();
  }
}

/** An equal time counts: the first act of the run may follow within the same tick of the clock. What cannot be examined counts. */
function isSince(stat: FileStat | null, sinceNs: bigint): boolean {
  return stat === null || stat.ctimeNs >= sinceNs;
}

/** The nested repositories whose files are examined. */
export interface NestedFolders {
  /** Repositories that existed when the run began. */
  readonly there: readonly string[];
  /** Submodules that did not: their folders do not exist yet. */
  readonly absent: readonly string[];
  /** The file system's time when the run opened this work tree, in ns. */
  readonly openedNs: bigint;
}

/** The repositories in which something changed, sorted; one inside another counts as part of it. */
export async function nestedChanges(
  parts: LookingParts,
  shadowDir: string,
  { there, absent, openedNs }: NestedFolders,
): Promise<NestedChange[]> {
  const beginning = beginningOf(shadowDir);
  if (beginning === null) return [];
  const sinceNs = beginning > openedNs ? beginning : openedNs;
  const all = new Set([...there, ...absent]);
  const outer = [...all].filter((path) => ![...foldersOf(path)].some((folder) => all.has(folder))).sort();
  const looks = new Looks(parts);
  try {
    const changes: NestedChange[] = [];
    for (const path of outer) {
      const found = { files: [] as string[], folders: [] as string[] };
      const seen: Seen = (one, stat, isFolder) => {
        if (isSince(stat, sinceNs)) (isFolder ? found.folders : found.files).push(one);
      };
      const top = looks.at(path);
      if (top === 'absent') {
        if (there.includes(path)) found.folders.push(path);
      } else if (top !== null && top.kind !== 'folder') {
        if (there.includes(path) || isSince(top, sinceNs)) found.files.push(path);
      } else await looks.below(path, true, seen);
      const [files, folders] = [found.files.sort(), found.folders.sort()];
      if (files.length + folders.length > 0) changes.push({ path, files, folders });
    }
    return changes;
  } finally {
    looks.close();
  }
}

/** Clears set-id bits everywhere but in git dirs, for a run whose other looks were cut short. */
export async function sweepSetIds(
  root: string,
  closed: Pick<ClosedPlaces, 'insist'>,
  setIds: SetIds,
): Promise<void> {
  const folders = new Folders({ root, closed, setIds, limit: NO_FOLDER_LIMIT });
  const looks = new Looks({ root, closed, setIds, folders });
  await looks.below('', true, () => undefined).finally(() => looks.close());
}

/** The same for a run that is over, of which only the shadow repository is left. Returns what to report. */
export async function clearSetIdsOf(root: string, shadowDir: string): Promise<Warning[]> {
  const kept = readRunStart(shadowDir);
  const setIds = new SetIds();
  if (kept.status === 'ok') setIds.begin(kept.start.openedNs, kept.start.setGidFolders);
  const closed = closedSince(root, shadowDir);
  await sweepSetIds(root, closed, setIds);
  return setIds.warnings();
}
