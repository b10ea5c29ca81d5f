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
import type { SetIds } from './set-ids.ts';

/** A folder whose entries stay the same as long as its stat does. */
export interface ReadFolder {
  readonly stat: FileStat;
  readonly folders: readonly string[];
  /** Names of all other entries, each followed by a slash: a single string takes a tenth of the memory of many. */
  readonly files: string;
  readonly gitDirs: readonly string[];
  /** Git considers the folder itself a repository. */
  readonly isRepository: boolean;
  /** Rule files in it that git reads. */
  readonly rules: readonly string[];
  /** Pipes, sockets and devices in it. */
  readonly special: readonly string[];
}

/** The git dirs below some folders. */
export interface FoundGitDirs {
  /** Everything with a name that some file system treats as `.git`; their contents are not examined. */
  readonly gitDirs: readonly string[];
  /** Folders that git considers repositories although they are not called `.git`, such as bare ones. */
  readonly repositories: readonly string[];
  /** Folders that could not be read. */
  readonly unreadable: readonly string[];
}

/** All that a look at the folders finds. */
export interface FoundFolders extends FoundGitDirs {
  readonly empty: readonly string[];
  readonly rules: readonly string[];
  readonly special: readonly string[];
  /** Folders with more entries than are kept. */
  readonly tooLarge: readonly string[];
}

/** A cheap check before the expensive one: no other name can be a spelling of `.git`. */
const MAYBE_GIT = /git|[^ -~]/i;

function isGitDir(name: string): boolean {
  return MAYBE_GIT.test(name) && isGitDirName(name);
}

function isEmpty({ folders, files, gitDirs }: ReadFolder): boolean {
  return folders.length + files.length + gitDirs.length === 0;
}

/** What a search for git dirs needs. */
export interface GitDirsParts {
  readonly root: string;
  /** Opens folders that their owner has closed; none to begin with. */
  readonly closed: Pick<ClosedPlaces, 'insist'>;
  /** Receives every folder. */
  readonly setIds: Pick<SetIds, 'see'> | null;
  /** The entries of larger folders are not kept. */
  readonly limit: FolderLimit;
}

/** Looks at folders. Those that have not changed are not read again. */
export class GitDirs {
  readonly #parts: GitDirsParts;
  #known: ReadonlyMap<string, ReadFolder> = new Map();

  constructor(parts: GitDirsParts) {
    this.#parts = parts;
  }

  /** Examines these folders and everything below; `''` is the root. `clock` is the file system's time before the look, in ns. */
  async below(folders: Iterable<string>, clock: bigint): Promise<FoundFolders> {
    const view = new TreeView(this.#parts.root, this.#parts.limit);
    try {
      return await this.#search(view, new Set(folders), clock);
    } finally {
      view.close();
    }
  }

  async #search(view: TreeView, queue: Set<string>, clock: bigint): Promise<FoundFolders> {
    const read = new Map<string, ReadFolder>();
    const gitDirs = new Set<string>();
    const repositories: string[] = [];
    const unreadable: string[] = [];
    const more = {
      empty: [] as string[],
      rules: [] as string[],
      special: [] as string[],
      tooLarge: [] as string[],
    };
    const breath = new Breath();
    for (const folder of queue) {
      const whole = this.read(view, folder);
      const found = whole === 'too_large' ? await this.#skim(view, folder) : whole;
      if (whole === 'too_large') more.tooLarge.push(folder);
      if (found === 'unreadable') unreadable.push(folder);
      if (found === 'absent' || found === 'unreadable') continue;
      // A folder as recent as the clock may change again without a trace.
      if (typeof whole !== 'string' && whole.stat.ctimeNs < clock) read.set(folder, whole);
      for (const path of found.gitDirs) gitDirs.add(path);
      if (found.isRepository) repositories.push(folder);
      for (const path of found.folders) queue.add(path);
      more.rules.push(...found.rules);
      more.special.push(...found.special);
      if (typeof whole !== 'string' && isEmpty(whole)) more.empty.push(folder);
      await breath.after(1);
    }
    this.#known = read;
    return { gitDirs: [...gitDirs], repositories, unreadable, ...more };
  }

  /** A folder's entries; one that has not changed since the last search is not read again. */
  read(view: TreeView, folder: string): ReadFolder | 'absent' | 'unreadable' | 'too_large' {
    const { closed, setIds } = this.#parts;
    const look = closed.insist(folder, () => view.lookAt(folder));
    if (look.status !== 'seen') return look.status;
    if (look.stat.kind !== 'folder') return 'absent';
    setIds?.see(view, folder, look.stat);
    const known = this.#known.get(folder);
    if (known && sameStat(known.stat, look.stat)) return known;
    const listing = closed.insist(folder, () => view.listFolder(folder));
    if (listing.status !== 'seen') return listing.status;
    const sorted = noEntries();
    let files = '';
    for (const entry of listing.entries) if (sortInto(sorted, folder, entry)) files += `${entry.name}/`;
    const names = listing.entries.map(({ name }) => name);
    return { stat: listing.stat, files, ...sorted, isRepository: isRepository(names) };
  }

  /** A folder with more entries than are kept: a command may have filled it to hide a git dir among or below them. */
  async #skim(view: TreeView, folder: string): Promise<Omit<ReadFolder, 'stat' | 'files'> | 'unreadable'> {
    const { closed, setIds } = this.#parts;
    const sorted = noEntries();
    const parts = new Set<string>();
    try {
      await view.eachEntry(folder, (entry) => {
        if (belongsTo(entry.name, '')) parts.add(entry.name);
        if (!sortInto(sorted, folder, entry) || setIds === null) return;
        const path = pathIn(folder, entry.name);
        const look = closed.insist(path, () => view.lookAt(path));
        if (look.status === 'seen') setIds.see(view, path, look.stat);
      });
    } catch (error) {
      invisible(error);
      return 'unreadable';
    }
    return { ...sorted, isRepository: isRepository(parts) };
  }
}

/** The entries of a folder that matter, by what they are. */
type SortedEntries = Record<'folders' | 'gitDirs' | 'rules' | 'special', string[]>;

const noEntries = (): SortedEntries => ({ folders: [], gitDirs: [], rules: [], special: [] });

/** True for an entry that is neither a folder nor a git dir. */
function sortInto(sorted: SortedEntries, folder: string, entry: FolderEntry): boolean {
  const { name } = entry;
  const path = pathIn(folder, name);
  if (entry.special) sorted.special.push(path);
  else if (!entry.folder && isRuleFile(name)) sorted.rules.push(path);
  if (isGitDir(name)) sorted.gitDirs.push(path);
  else if (entry.folder) sorted.folders.push(path);
  else return true;
  return false;
}

function pathIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
