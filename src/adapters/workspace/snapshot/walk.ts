/** The walk: which files of the work tree git would see, determined without git reading the work tree. */

import { folderOf, isGitDirName, nameOf } from '../../../domain/changes/path.ts';
import { type FileStat, type Look, sameStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { TreeView } from '../../../files/tree-view.ts';
import type { StatUnchanged } from '../baseline/stat-unchanged.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';
import { LookAhead } from './look-ahead.ts';
import type { Walked, WalkedTree } from './walked-tree.ts';

/** Examines one path and everything below it; `''` is the whole tree. */
export async function walk(tree: WalkedTree, scope: string): Promise<Walked> {
  const view = new TreeView(tree.root, tree.folders);
  return new Walk(tree, view, null).from(scope).finally(() => view.close());
}

/** What one full scan keeps for the next. */
export interface Earlier {
  /** The files known at the start, which git checks. */
  readonly settled: StatUnchanged;
  /** Folders as they were when last read. */
  readonly folders: Map<string, RememberedFolder>;
  /** The file system's time before the walk, in ns. */
  readonly clock: bigint;
}

/** A folder whose entries stay the same as long as its stat does; without the files that git checks. */
interface RememberedFolder {
  readonly stat: FileStat;
  readonly folders: string[];
  readonly files: string[];
  readonly ignored: string[];
}

/** Examines the whole tree. Folders that have not changed are not read again. */
export async function walkAll(tree: WalkedTree, earlier: Earlier): Promise<Walked> {
  const view = new TreeView(tree.root, tree.folders);
  const walking = new Walk(tree, view, earlier);
  const changed = earlier.settled.changed();
  // Its failure is handled when it is awaited.
  changed.catch(() => undefined);
  try {
    return walking.withAnswer(await walking.from(''), await changed);
  } finally {
    view.close();
  }
}

/** A cheap check before the expensive one: no other name can be a spelling of `.git`. */
const MAYBE_GIT = /git|[^ -~]/i;

class Walk {
  readonly #tree: WalkedTree;
  readonly #view: TreeView;
  readonly #earlier: Earlier | null;
  readonly #visited = new Set<string>();
  readonly #files = new Map<string, FileStat>();
  readonly #unreadable: string[] = [];
  readonly #nested: string[] = [];
  readonly #embedded: string[] = [];
  readonly #ignored: string[] = [];
  readonly #ignoredFiles: string[] = [];
  readonly #unstorable: string[] = [];
  readonly #empty: string[] = [];
  readonly #ahead: LookAhead;
  readonly #breath = new Breath();

  /** Without `earlier` every folder is read and every file examined. */
  constructor(tree: WalkedTree, view: TreeView, earlier: Earlier | null) {
    this.#tree = tree;
    this.#view = view;
    this.#earlier = earlier;
    this.#ahead = new LookAhead(tree, view);
  }

  /** Examines the files that git reports as changed. */
  withAnswer(walked: Walked, changed: ReadonlySet<string>): Walked {
    const isSettled = (path: string) => this.#isSettled(path);
    // Only in folders that the walk reached: another may be a link out of the tree by now.
    const isFound = (path: string) => this.#visited.has(folderOf(path)) && this.#lookAt(path);
    const gone = [...changed].filter((path) => isSettled(path) && !isFound(path));
    return { ...walked, gone, isUnchanged: (path) => isSettled(path) && !changed.has(path) };
  }

  async from(scope: string): Promise<Walked> {
    const { tracked } = this.#tree;
    const steps = scope === '' ? [] : [...foldersOf(scope)].reverse().concat(scope);
    for (const step of steps) {
      if (tracked.isSubmodule(step)) return this.#found(step, 'foreign');
      if (!this.#isStorable(step, nameOf(step))) return this.#found(step, 'foreign');
      const look = this.#look(step);
      if (look.status === 'unreadable') this.#unreadable.push(step);
      if (look.status !== 'seen') return this.#found(step, 'absent');
      if (look.stat.kind !== 'folder') {
        if (look.stat.kind !== 'special') await this.#judge([step]);
        return this.#found(step, look.stat.kind === 'special' ? 'absent' : 'file');
      }
      if (!tracked.isFolder(step) && this.#look(`${step}/.git`).status === 'seen') {
        this.#nested.push(step);
        return this.#found(step, 'foreign');
      }
    }
    let level = scope === '' ? [''] : (await this.#judge([`${scope}/`])).folders;
    while (level.length > 0) level = await this.#level(level);
    return this.#found(scope, 'folder');
  }

  #found(scope: string, at: Walked['at']): Walked {
    return {
      scope,
      at,
      files: this.#files,
      isUnchanged: () => false,
      gone: [],
      unreadable: this.#unreadable,
      nested: this.#nested,
      embedded: this.#embedded,
      ignored: this.#ignored,
      ignoredFiles: this.#ignoredFiles,
      unstorable: this.#unstorable,
      empty: this.#empty,
    };
  }

  /** Reads the folders of one level and returns those of the next; git is asked about all of them at once. */
  async #level(folders: readonly string[]): Promise<string[]> {
    const next: string[] = [];
    const candidates: string[] = [];
    const read = new Map<string, RememberedFolder>();
    for (const folder of folders) {
      const known = this.#earlier?.folders.get(folder);
      const stat = known ? this.#statOf(folder) : null;
      if (known && stat && sameStat(known.stat, stat)) {
        this.#visited.add(folder);
        next.push(...known.folders);
        this.#ignored.push(...known.ignored);
        for (const path of known.files) this.#lookAt(path);
        await this.#breath.after(1 + known.files.length);
        continue;
      }
      this.#earlier?.folders.delete(folder);
      const found = this.#read(folder);
      if (found === null) continue;
      this.#visited.add(folder);
      for (const path of found.paths) candidates.push(path);
      // A folder as recent as the clock may change again without a trace.
      if (this.#earlier && found.stat.ctimeNs < this.#earlier.clock)
        read.set(folder, { stat: found.stat, folders: [], files: [], ignored: [] });
      await this.#breath.after(1 + found.entries);
    }
    const judged = await this.#judge(candidates);
    for (const path of judged.folders) read.get(folderOf(path))?.folders.push(path);
    for (const path of judged.files) read.get(folderOf(path))?.files.push(path);
    for (const path of judged.ignored) read.get(folderOf(path))?.ignored.push(path);
    this.#ignored.push(...judged.ignored);
    for (const [folder, found] of read) this.#earlier?.folders.set(folder, found);
    return next.concat(judged.folders);
  }

  /**
   * Paths in the folder that git could see, folders with a final slash, without the files that git checks, and the number of
   * all entries. Null if it is not examined.
   */
  #read(folder: string): { stat: FileStat; paths: string[]; entries: number } | null {
    const { tracked, closed, setIds, onRuleFile } = this.#tree;
    const listing = closed.insist(folder, () => this.#view.listFolder(folder));
    if (listing.status === 'unreadable' || listing.status === 'too_large') this.#unreadable.push(folder);
    if (listing.status !== 'seen') return null;
    setIds.see(this.#view, folder, listing.stat);
    if (listing.entries.length === 0 && folder !== '') this.#empty.push(folder);
    const hasGit = folder !== '' && listing.entries.some(({ name }) => name === '.git');
    if (hasGit && !tracked.isFolder(folder)) {
      this.#nested.push(folder);
      return null;
    }
    if (hasGit) this.#embedded.push(folder);
    const paths: string[] = [];
    const isSettled = this.#earlier?.settled.settledIn(folder) ?? (() => false);
    for (const { name, folder: isFolder, special } of listing.entries) {
      // Most names are such, and cost no more than this.
      if (!(isFolder || special || MAYBE_GIT.test(name)) && isSettled(name)) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      if (special || !this.#isStorable(path, name)) continue;
      if (isFolder && tracked.isSubmodule(path)) continue;
      if (!isFolder && (name === '.gitignore' || name === '.gitattributes')) onRuleFile(path);
      if (isFolder) paths.push(`${path}/`);
      else if (!isSettled(name)) paths.push(path);
    }
    return { stat: listing.stat, paths, entries: listing.entries.length };
  }

  /** Records the files that git would see, and returns them, the folders it would descend into, and those it ignores. */
  async #judge(candidates: readonly string[]): Promise<Record<'folders' | 'files' | 'ignored', string[]>> {
    const { tracked, rules, keepsBase } = this.#tree;
    const isKnownFile = (path: string) => tracked.isFile(path) || (keepsBase && tracked.isInBase(path));
    const isKnown = (path: string) =>
      path.endsWith('/') ? tracked.isFolder(path.slice(0, -1)) : isKnownFile(path);
    const asked = candidates.filter((path) => !isKnown(path));
    if (asked.some((path) => rules.answered(path) === null))
      await rules.ignored([...asked, ...this.#ahead.below(candidates)]);
    const ignored = await rules.ignored(asked);
    const folders: string[] = [];
    const files: string[] = [];
    const ignoredFolders: string[] = [];
    for (const path of candidates) {
      if (path.endsWith('/')) {
        (ignored.has(path) ? ignoredFolders : folders).push(path.slice(0, -1));
      } else if (!ignored.has(path)) {
        files.push(path);
        this.#lookAt(path);
        const pause = this.#breath.after(1);
        if (pause !== null) await pause;
      } else this.#ignoredFiles.push(path);
    }
    return { folders, files, ignored: ignoredFolders };
  }

  /** Opens closed folders on the way. */
  #look(path: string): Look {
    return this.#tree.closed.insist(path, () => this.#view.lookAt(path));
  }

  #statOf(folder: string): FileStat | null {
    const look = this.#tree.closed.insist(folder, () => this.#view.lookAtFolder(folder));
    return look.status === 'seen' ? look.stat : null;
  }

  #isSettled(path: string): boolean {
    return this.#earlier?.settled.isSettled(path) === true;
  }

  /** Records the file if git would store it. */
  #lookAt(path: string): boolean {
    const look = this.#look(path);
    if (look.status === 'unreadable') this.#unreadable.push(path);
    if (look.status !== 'seen' || (look.stat.kind !== 'file' && look.stat.kind !== 'link')) return false;
    this.#tree.setIds.see(this.#view, path, look.stat);
    if (look.stat.kind === 'link' && this.#isUnstorableLink(path)) return false;
    this.#files.set(path, look.stat);
    return true;
  }

  /** Git's own folder is skipped; git refuses its other spellings unless the repository already contains them. */
  #isStorable(path: string, name: string): boolean {
    if (!MAYBE_GIT.test(name)) return true;
    if (name === '.git') return false;
    const { tracked } = this.#tree;
    if (!name.split('\\').some(isGitDirName) || tracked.isFile(path) || tracked.isFolder(path)) return true;
    this.#unstorable.push(path);
    return false;
  }

  /** Git refuses a link as `.gitmodules`, since it would follow it. */
  #isUnstorableLink(path: string): boolean {
    if (!/(^|\/)\.gitmodules$/i.test(path)) return false;
    this.#unstorable.push(path);
    return true;
  }
}
