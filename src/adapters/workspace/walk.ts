/** The walk: which files of the work tree git would see, found without git looking at the work tree. */

import { setImmediate } from 'node:timers/promises';
import { isGitDirName } from '../../domain/path.ts';
import type { SettledFiles } from './settled-files.ts';
import type { StartRules } from './start-rules.ts';
import { foldersOf, type TrackedPaths } from './tracked-paths.ts';
import { type FileStat, listFolder, lookAt } from './work-tree.ts';

/** What lies at and below `scope`. */
export interface Walked {
  /** The path that was looked at: the one asked for, or the folder above it that is no folder or is not git's to see. */
  readonly scope: string;
  readonly at: 'folder' | 'file' | 'absent' | 'foreign';
  /** Regular files and links that git would see; null for one that is as the start's index has it. */
  readonly files: ReadonlyMap<string, FileStat | null>;
  /** Files and folders that may not be read; what is known of them stays. */
  readonly unreadable: readonly string[];
  /** Folders that are repositories of their own. */
  readonly nested: readonly string[];
  /** Names that git refuses to keep. */
  readonly unstorable: readonly string[];
  /** Folders without any entry, of which git knows nothing. */
  readonly empty: readonly string[];
}

export interface WalkedTree {
  readonly root: string;
  readonly rules: StartRules;
  readonly tracked: TrackedPaths;
  /** Called for every rule file met, before its folder's entries are judged. */
  onRuleFile(path: string): void;
}

/** Looks at one path and everything below it; `''` is the whole tree. */
export async function walk(tree: WalkedTree, scope: string): Promise<Walked> {
  return new Walk(tree, () => false).from(scope);
}

/** Looks at the whole tree, and lets git look at the files that it knew at the start. */
export async function walkAll(tree: WalkedTree, { isSettled, changed }: SettledFiles): Promise<Walked> {
  const walking = new Walk(tree, isSettled);
  const [walked, paths] = await Promise.all([walking.from(''), changed()]);
  walking.lookAgain(paths);
  return walked;
}

/** Entries between two breaths, so that signals, timers and the network are served in a large tree. */
const BREATH = 200;

/** A cheap look before the dear one: no other name can be a spelling of `.git`. */
const MAYBE_GIT = /git|[^ -~]/i;

class Walk {
  readonly #tree: WalkedTree;
  readonly #isSettled: (path: string) => boolean;
  readonly #files = new Map<string, FileStat | null>();
  readonly #unreadable: string[] = [];
  readonly #nested: string[] = [];
  readonly #unstorable: string[] = [];
  readonly #empty: string[] = [];
  #looked = 0;

  /** Files that are settled are taken for unchanged. */
  constructor(tree: WalkedTree, isSettled: (path: string) => boolean) {
    this.#tree = tree;
    this.#isSettled = isSettled;
  }

  /** Looks at files that were taken for unchanged and are not. */
  lookAgain(paths: ReadonlySet<string>): void {
    for (const path of paths)
      if (this.#files.get(path) === null && !this.#lookAt(path)) this.#files.delete(path);
  }

  async from(scope: string): Promise<Walked> {
    const { root, tracked } = this.#tree;
    const steps = scope === '' ? [] : [...foldersOf(scope)].reverse().concat(scope);
    for (const step of steps) {
      if (tracked.isSubmodule(step)) return this.#found(step, 'foreign');
      if (!this.#isStorable(step, step.slice(step.lastIndexOf('/') + 1))) return this.#found(step, 'foreign');
      const look = lookAt(root, step);
      if (look.status === 'unreadable') this.#unreadable.push(step);
      if (look.status !== 'seen') return this.#found(step, 'absent');
      if (look.stat.kind !== 'folder') {
        if (look.stat.kind !== 'special') await this.#judge([step]);
        return this.#found(step, look.stat.kind === 'special' ? 'absent' : 'file');
      }
      if (!tracked.isFolder(step) && lookAt(root, `${step}/.git`).status === 'seen') {
        this.#nested.push(step);
        return this.#found(step, 'foreign');
      }
    }
    let level = scope === '' ? [''] : await this.#judge([`${scope}/`]);
    while (level.length > 0) level = await this.#level(level);
    return this.#found(scope, 'folder');
  }

  #found(scope: string, at: Walked['at']): Walked {
    return {
      scope,
      at,
      files: this.#files,
      unreadable: this.#unreadable,
      nested: this.#nested,
      unstorable: this.#unstorable,
      empty: this.#empty,
    };
  }

  /** Reads the folders of one depth and returns those of the next, so that git is asked at most once a depth. */
  async #level(folders: readonly string[]): Promise<string[]> {
    const { root, tracked, onRuleFile } = this.#tree;
    const candidates: string[] = [];
    for (const folder of folders) {
      const listing = listFolder(root, folder);
      if (listing.status === 'unreadable') this.#unreadable.push(folder);
      if (listing.status !== 'seen') continue;
      if (listing.entries.length === 0 && folder !== '') this.#empty.push(folder);
      if (this.#isForeign(folder, listing.entries)) {
        this.#nested.push(folder);
        continue;
      }
      for (const { name, folder: isFolder, special } of listing.entries) {
        const path = folder === '' ? name : `${folder}/${name}`;
        if (special || !this.#isStorable(path, name)) continue;
        if (isFolder && tracked.isSubmodule(path)) continue;
        if (!isFolder && (name === '.gitignore' || name === '.gitattributes')) onRuleFile(path);
        candidates.push(isFolder ? `${path}/` : path);
      }
      await this.#breathe(listing.entries.length);
    }
    return this.#judge(candidates);
  }

  /** Takes in the files that git would see and returns the folders that it would look into. */
  async #judge(candidates: readonly string[]): Promise<string[]> {
    const { tracked, rules } = this.#tree;
    const isKnown = (path: string) =>
      path.endsWith('/') ? tracked.isFolder(path.slice(0, -1)) : tracked.isFile(path);
    const ignored = await rules.ignored(candidates.filter((path) => !isKnown(path)));
    const folders: string[] = [];
    for (const path of candidates) {
      if (ignored.has(path)) continue;
      if (path.endsWith('/')) {
        folders.push(path.slice(0, -1));
        continue;
      }
      if (this.#isSettled(path)) this.#files.set(path, null);
      else this.#lookAt(path);
      await this.#breathe(1);
    }
    return folders;
  }

  /** Takes the file in, if it is one that git would keep. */
  #lookAt(path: string): boolean {
    const look = lookAt(this.#tree.root, path);
    if (look.status === 'unreadable') this.#unreadable.push(path);
    if (look.status !== 'seen' || (look.stat.kind !== 'file' && look.stat.kind !== 'link')) return false;
    if (look.stat.kind === 'link' && this.#isUnstorableLink(path)) return false;
    this.#files.set(path, look.stat);
    return true;
  }

  #isForeign(folder: string, entries: readonly { name: string }[]): boolean {
    return (
      folder !== '' && !this.#tree.tracked.isFolder(folder) && entries.some(({ name }) => name === '.git')
    );
  }

  /** Git's own folder is passed over; its other spellings are refused by git unless the repository has them already. */
  #isStorable(path: string, name: string): boolean {
    if (!MAYBE_GIT.test(name)) return true;
    if (name.toLowerCase() === '.git') return false;
    const { tracked } = this.#tree;
    if (!name.split('\\').some(isGitDirName) || tracked.isFile(path) || tracked.isFolder(path)) return true;
    this.#unstorable.push(path);
    return false;
  }

  /** Git takes no link for `.gitmodules`, since it would be followed. */
  #isUnstorableLink(path: string): boolean {
    if (!/(^|\/)\.gitmodules$/i.test(path)) return false;
    this.#unstorable.push(path);
    return true;
  }

  async #breathe(entries: number): Promise<void> {
    this.#looked += entries;
    if (this.#looked < BREATH) return;
    this.#looked = 0;
    await setImmediate();
  }
}
