/**
 * Looks at every folder of the work tree, also those that git ignores and those of other repositories: for git dirs, rule files,
 * and what could hold git up. A folder that has not changed since the last look costs only a stat.
 */

import { isGitDirName, isRuleFile } from '../../../domain/changes/path.ts';
import { belongsTo, isRepository } from '../../../domain/review/git-folder.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { type FileStat, invisible, sameStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { type FolderEntry, type FolderLimit, TreeView } from '../../../files/tree-view.ts';

/** What matters among the entries of a folder. */
interface Entries {
  readonly folders: string[];
  /** Everything with a name that some file system treats as `.git`; their contents are not examined. */
  readonly gitDirs: string[];
  /** Rule files that git reads. */
  readonly rules: string[];
  /** Pipes, sockets and devices. */
  readonly special: string[];
  /** Names that make a folder a repository. */
  readonly parts: string[];
}

/** A folder whose entries stay the same as long as its stat does. */
interface ReadFolder extends Entries {
  readonly stat: FileStat;
  /** Names of all other entries, each followed by a slash: a single string takes a tenth of the memory of many. */
  readonly files: string;
}

/** What a look at all folders finds, relative to the root; `''` is the root itself. */
export interface FoundFolders extends Omit<Entries, 'folders' | 'parts'> {
  /** Folders that git considers repositories although they are not called `.git`, such as bare ones. */
  readonly repositories: string[];
  /** Folders that could not be read. */
  readonly unreadable: string[];
  readonly empty: string[];
  /** Folders that only their owner may enter. */
  readonly closedToOthers: string[];
  /** Folders with more entries than are kept. */
  readonly tooLarge: string[];
}

/** A cheap check before the expensive ones: no other name can be a spelling of `.git`, or of what a repository has. */
const MAYBE_GIT = /git|^(?:head|objects|refs|commondir)|[^ -~]/i;

/** Receives a place, whose stat is null if it cannot be examined. */
export type SeenPlace = (path: string, stat: FileStat | null, isFolder: boolean) => void;

/** Looks at folders. Those that have not changed are not read again. */
export class Folders {
  /** What the last look found. */
  last: FoundFolders = nothingFound();
  /** Of the work tree. */
  readonly root: string;
  readonly #closed: ClosedPlaces;
  readonly #limit: FolderLimit;
  #known: ReadonlyMap<string, ReadFolder> = new Map();

  /** The entries of folders over the limit are not kept. */
  constructor(root: string, closed: ClosedPlaces, limit: FolderLimit) {
    this.root = root;
    this.#closed = closed;
    this.#limit = limit;
  }

  /** Examines all folders. `clock` is the file system's time before the look, in ns. */
  async look(clock: bigint): Promise<FoundFolders> {
    const known = new Map<string, ReadFolder>();
    const all = nothingFound();
    const view = new TreeView(this.root, this.#limit);
    const breath = new Breath();
    const queue = [''];
    try {
      for (const folder of queue) {
        const read = this.#read(view, folder);
        const found = read === 'too_large' ? await this.#skim(view, folder) : read;
        if (read === 'too_large') all.tooLarge.push(folder);
        if (found === 'unreadable') all.unreadable.push(folder);
        if (typeof found === 'string') continue;
        if (typeof read !== 'string') {
          // A folder as recent as the clock may change again without a trace.
          if (read.stat.ctimeNs < clock) known.set(folder, read);
          if (read.stat.isPrivate) all.closedToOthers.push(folder);
          if (read.files === '' && read.folders.length + read.gitDirs.length === 0) all.empty.push(folder);
        }
        if (isRepository(found.parts)) all.repositories.push(folder);
        all.gitDirs.push(...found.gitDirs);
        all.rules.push(...found.rules);
        all.special.push(...found.special);
        for (const path of found.folders) queue.push(path);
        await breath.after(1);
      }
    } finally {
      view.close();
    }
    this.#known = known;
    this.last = all;
    return all;
  }

  /** The stat of a place; null if it cannot be examined, and 'absent' if it is gone. */
  at(view: TreeView, path: string): FileStat | null | 'absent' {
    const look = this.#closed.insist(path, () => view.lookAt(path));
    if (look.status === 'seen') return look.stat;
    return look.status === 'absent' ? 'absent' : null;
  }

  /** Passes on the folder and everything below it, without git dirs and, if `isWhole` is false, without other repositories. */
  async below(
    view: TreeView,
    top: string,
    { isWhole, seen }: { isWhole: boolean; seen: SeenPlace },
  ): Promise<void> {
    const breath = new Breath();
    const waiting = [top];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const read = this.#read(view, folder);
      if (typeof read === 'string') {
        const stat = this.at(view, folder);
        if (stat !== 'absent') seen(folder, stat, true);
        continue;
      }
      if (read.gitDirs.length > 0 && !isWhole) continue;
      seen(folder, read.stat, true);
      const names = read.files.split('/').slice(0, -1);
      for (const name of names) {
        const path = pathIn(folder, name);
        const file = this.at(view, path);
        if (file !== 'absent') seen(path, file, false);
      }
      waiting.push(...read.folders);
      await breath.after(1 + names.length);
    }
  }

  /** A folder's entries; one that has not changed since the last look is not read again. */
  #read(view: TreeView, folder: string): ReadFolder | 'absent' | 'unreadable' | 'too_large' {
    const look = this.#closed.insist(folder, () => view.lookAt(folder));
    if (look.status !== 'seen') return look.status;
    if (look.stat.kind !== 'folder') return 'absent';
    const known = this.#known.get(folder);
    if (known && sameStat(known.stat, look.stat)) return known;
    const listing = this.#closed.insist(folder, () => view.listFolder(folder));
    if (listing.status !== 'seen') return listing.status;
    const entries = noEntries();
    let files = '';
    for (const entry of listing.entries) if (sortInto(entries, folder, entry)) files += `${entry.name}/`;
    return { stat: listing.stat, files, ...entries };
  }

  /** A folder with more entries than are kept: a command may have filled it to hide a git dir among or below them. */
  async #skim(view: TreeView, folder: string): Promise<Entries | 'unreadable'> {
    const entries = noEntries();
    try {
      await view.eachEntry(folder, (entry) => void sortInto(entries, folder, entry));
    } catch (error) {
      invisible(error);
      return 'unreadable';
    }
    return entries;
  }
}

const noEntries = (): Entries => ({ folders: [], gitDirs: [], rules: [], special: [], parts: [] });

function nothingFound(): FoundFolders {
  return {
    gitDirs: [],
    rules: [],
    special: [],
    repositories: [],
    unreadable: [],
    empty: [],
    closedToOthers: [],
    tooLarge: [],
  };
}

/** True for an entry that is neither a folder nor a git dir. */
function sortInto(
  entries: Entries,
  folder: string,
  { name, folder: isFolder, special }: FolderEntry,
): boolean {
  const mayBeGit = MAYBE_GIT.test(name);
  if (!isFolder && !special && !mayBeGit) return true;
  const path = pathIn(folder, name);
  if (mayBeGit && belongsTo(name, '')) entries.parts.push(name);
  if (special) entries.special.push(path);
  else if (!isFolder && isRuleFile(name)) entries.rules.push(path);
  if (mayBeGit && isGitDirName(name)) entries.gitDirs.push(path);
  else if (isFolder) entries.folders.push(path);
  else return true;
  return false;
}

/** The path of an entry. */
function pathIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
