/**
 * Finds changes that the run made to ignored files. There are many of them and their states are not recorded, so the
 * kernel's times have to do: whatever was written, renamed, linked or made executable since the work began has a ctime later
 * than that, which cannot be set back. So does a folder in which names were added, removed or changed, and one that was
 * itself moved, with files in it that show no trace of the move; so folders are listed too.
 *
 * Not detected: an ignored file deleted from a folder that git does look into, or moved along with such a folder, whose
 * other files are in the patch.
 *
 * Costs one stat per ignored file, once per run: 0.45 s of processor time for 50,000 files in 5,500 folders, which are not
 * read again unless they have changed since the last search for git dirs.
 */

import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IgnoredFileList, type IgnoredFiles } from '../../../domain/changes/ignored-files.ts';
import { foldersOf } from '../../../domain/changes/path.ts';
import { CutShort } from '../../../domain/run/cut-short.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import type { FileStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { TreeView } from '../../../files/tree-view.ts';
import type { GitDirs } from './git-dirs.ts';
import type { SetIds } from './set-ids.ts';

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
export interface IgnoredPlaces {
  readonly root: string;
  readonly shadowDir: string;
  readonly folders: Pick<GitDirs, 'read' | 'below'>;
  readonly closed: Pick<ClosedPlaces, 'insist'>;
  readonly setIds: Pick<SetIds, 'see'>;
  readonly warnings: Set<Warning>;
  /** Paths that git ignores; a folder that is ignored as a whole ends with a slash. */
  ignored(): Promise<string[]>;
}

/**
 * Ignored files that have changed since the work began, and folders (with a final slash) whose entries have changed or that were
 * moved; none if the work has not begun. So are special files, and folders that are empty now: git has no such things, and verify
 * commands may see them. Clears set-uid and set-gid bits that commands set.
 */
export async function ignoredChanges(places: IgnoredPlaces): Promise<IgnoredFiles> {
  const names = new IgnoredFileList();
  places.warnings.delete(CUT_SHORT);
  try {
    await new Search(places, names).run();
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

class Search {
  readonly #places: IgnoredPlaces;
  readonly #names: IgnoredFileList;
  readonly #began: bigint | null;
  readonly #breath = new Breath();

  constructor(places: IgnoredPlaces, names: IgnoredFileList) {
    this.#places = places;
    this.#names = names;
    this.#began = beginningOf(places.shadowDir);
  }

  async run(): Promise<void> {
    const { root, folders, ignored } = this.#places;
    const { empty, special } = await folders.below([''], 0n);
    const paths = await ignored();
    const within = new Set(paths);
    const isWithin = (path: string) =>
      within.has(path) ||
      [`${path}/`, ...[...foldersOf(path)].map((folder) => `${folder}/`)].some((one) => within.has(one));
    const view = new TreeView(root);
    try {
      for (const path of paths) {
        if (path.endsWith('/')) await this.#below(view, path.slice(0, -1));
        else this.#see(view, path);
        await this.#breath.after(1);
      }
      for (const path of special) if (!isWithin(path)) this.#see(view, path);
      for (const folder of empty) if (!isWithin(folder)) this.#see(view, folder);
    } finally {
      view.close();
    }
  }

  /** Looks at everything in the folder. */
  async #below(view: TreeView, top: string): Promise<void> {
    const waiting = [top];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const read = this.#places.folders.read(view, folder);
      // What cannot be examined may have been changed.
      if (typeof read === 'string') {
        if (read !== 'absent' && this.#began !== null) this.#names.add(`${folder}/`);
        continue;
      }
      // Of another repository, which has a list of its own.
      if (read.gitDirs.length > 0) continue;
      if (this.#isSince(read.stat)) this.#names.add(`${folder}/`);
      const files = read.files.split('/').slice(0, -1);
      for (const name of files) this.#see(view, `${folder}/${name}`);
      waiting.push(...read.folders);
      await this.#breath.after(1 + files.length);
    }
  }

  #see(view: TreeView, path: string): void {
    const look = this.#places.closed.insist(path, () => view.lookAt(path));
    if (look.status === 'seen') this.#places.setIds.see(view, path, look.stat);
    if (this.#began === null) return;
    const isSince = look.status === 'seen' ? this.#isSince(look.stat) : look.status === 'unreadable';
    const isFolder = look.status === 'seen' && look.stat.kind === 'folder';
    if (isSince) this.#names.add(isFolder ? `${path}/` : path);
  }

  /** An equal time counts: the first act of the run may follow within the same tick of the clock. */
  #isSince({ ctimeNs }: FileStat): boolean {
    return this.#began !== null && ctimeNs >= this.#began;
  }
}
