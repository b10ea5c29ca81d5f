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
import { isGitDirName } from '../../../domain/changes/path.ts';
import type { FileStat, Look } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { TreeView } from '../../../files/tree-view.ts';
import type { WalkedTree } from '../snapshot/walked-tree.ts';
import type { GitDirs } from './git-dirs.ts';

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
  readonly tree: WalkedTree;
  readonly unwalked: Pick<GitDirs, 'read'>;
  readonly shadowDir: string;
}

/**
 * Finds ignored files that have changed since, and folders (with a final slash) whose entries have changed or that were
 * moved; none if the work has not begun.
 */
export async function findIgnoredChanges(
  { tree, unwalked, shadowDir }: IgnoredPlaces,
  found: FoundIgnored,
): Promise<void> {
  const began = beginningOf(shadowDir);
  const view = new TreeView(tree.root, tree.folders);
  try {
    const search = new Search({ tree, unwalked, view, began, found });
    await search.inIgnored(await search.inWalked());
  } finally {
    view.close();
  }
}

/** Called with each path. */
type FoundIgnored = (path: string) => void;

interface SearchParts extends Omit<IgnoredPlaces, 'shadowDir'> {
  readonly view: TreeView;
  /** ctime, in ns. Null if the work has not begun; commands before it may still have set bits. */
  readonly began: bigint | null;
  readonly found: FoundIgnored;
}

class Search {
  readonly #parts: SearchParts;
  readonly #breath = new Breath();

  constructor(parts: SearchParts) {
    this.#parts = parts;
  }

  /** Finds ignored files in folders that git looks into, and returns the folders that it does not. */
  async inWalked(): Promise<string[]> {
    const { tree, view } = this.#parts;
    const ignoredFolders: string[] = [];
    const waiting = [''];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const at = folder;
      const listing = tree.closed.insist(at, () => view.listFolder(at));
      if (listing.status === 'too_large' && this.#parts.began !== null) this.#parts.found(`${at}/`);
      const entries = listing.status === 'seen' ? listing.entries : [];
      // Git has no empty folders, so verify commands may see one that the patch lacks.
      if (listing.status === 'seen' && entries.length === 0 && this.#isSince(listing.stat))
        this.#parts.found(`${at}/`);
      const special = new Set(entries.flatMap((entry) => (entry.special ? [pathIn(at, entry.name)] : [])));
      // Files that git tracks are looked at by the walk, and most are such.
      const isTracked = tree.tracked.filesIn(at);
      const paths = entries.flatMap(({ name, folder: isFolder }) =>
        (!isFolder && isTracked(name)) || isGitDirName(name)
          ? []
          : [`${pathIn(at, name)}${isFolder ? '/' : ''}`],
      );
      const ignored = await ignoredAmong(paths, tree);
      for (const path of paths) {
        if (path.endsWith('/')) (ignored.has(path) ? ignoredFolders : waiting).push(path.slice(0, -1));
        else if (ignored.has(path) || special.has(path)) this.#addChanged(path);
        else this.#look(path);
      }
      await this.#breath.after(1 + entries.length);
    }
    return ignoredFolders;
  }

  /** Examines everything in these folders. */
  async inIgnored(folders: readonly string[]): Promise<void> {
    const { unwalked, view, began, found } = this.#parts;
    const waiting = [...folders];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const read = unwalked.read(view, folder);
      // What cannot be examined may have been changed.
      if (typeof read === 'string') {
        if (read !== 'absent' && began !== null) found(`${folder}/`);
        continue;
      }
      if (this.#isSince(read.stat)) found(`${folder}/`);
      const names = read.files.split('/').slice(0, -1);
      for (const name of names) this.#addChanged(`${folder}/${name}`);
      for (const path of read.folders) waiting.push(path);
      await this.#breath.after(1 + names.length);
    }
  }

  #addChanged(path: string): void {
    const { began, found } = this.#parts;
    const look = this.#look(path);
    if (began === null) return;
    const isSince = look.status === 'seen' ? this.#isSince(look.stat) : look.status === 'unreadable';
    if (isSince) found(path);
  }

  /** An equal time counts: the first act of the run may follow within the same tick of the clock. */
  #isSince({ ctimeNs }: FileStat): boolean {
    const { began } = this.#parts;
    return began !== null && ctimeNs >= began;
  }

  /** The walk reaches neither ignored files nor those of other repositories. */
  #look(path: string): Look {
    const { tree, view } = this.#parts;
    const look = tree.closed.insist(path, () => view.lookAt(path));
    if (look.status === 'seen') tree.setIds.see(view, path, look.stat);
    return look;
  }
}

function pathIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function ignoredAmong(
  paths: readonly string[],
  { tracked, rules }: WalkedTree,
): Promise<ReadonlySet<string>> {
  const isKnown = (path: string) =>
    path.endsWith('/') ? tracked.isFolder(path.slice(0, -1)) : tracked.isInBase(path);
  return rules.ignored(paths.filter((path) => !isKnown(path)));
}
