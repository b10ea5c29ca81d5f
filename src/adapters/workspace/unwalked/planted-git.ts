/**
 * Git dirs that commands create in the work tree. The user's own git would obey what they contain (hooks, filters, a file
 * system monitor), so any that did not exist when the run began is removed; the files beside it are ordinary files. A folder of the
 * user's that a command moved or copied away stays: removing it could destroy the only copy of someone's commits.
 */

import { lstatSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRuleFile, nameOf, quotedName } from '../../../domain/changes/path.ts';
import { UnusableFile } from '../../../domain/errors/thrown.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { orNone } from '../../../files/failures.ts';
import { encodeName } from '../../../files/names.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import { gitDirNamedIn } from '../../../git/nested-git.ts';
import { MAX_POINTER_BYTES } from '../../../git/repository-file.ts';
import type { Folders, FoundFolders } from './folders.ts';
import { removeGitDir } from './remove-git-dir.ts';

/** `inode` identifies the entry wherever it is moved; empty if it could not be examined. */
export interface KnownGitDir {
  readonly path: string;
  readonly inode: string;
}

/** `from` is its earlier path, or that of the git dir that it may be a copy of. */
type JudgedGitDir =
  | { is: 'new'; path: string }
  | { is: 'moved' | 'perhaps_copied'; path: string; from: string };

/** Removes git dirs planted by a command: the user's next `git status` would run what they configure. */
export class PlantedGit {
  /** The git dirs removed so far, in order. */
  readonly removed: string[] = [];
  /** Git dirs that commands created and that were kept, since each may be a copy of one that is gone. */
  readonly inDoubt: string[] = [];
  /** Looks at the folders of the work tree. */
  readonly folders: Folders;
  readonly #root: string;
  readonly #closed: ClosedPlaces;
  readonly #warn: (warning: Warning) => void;
  /** The user's git dirs: inode and birth time by path. */
  readonly #inodes = new Map<string, string>();
  /** What the last look found. */
  #repositories: readonly string[] = [];

  constructor(
    root: string,
    folders: Folders,
    { closed, warn }: { closed: ClosedPlaces; warn: (warning: Warning) => void },
  ) {
    this.folders = folders;
    this.#root = root;
    this.#closed = closed;
    this.#warn = warn;
    this.#add(['.git']);
  }

  /** Git dirs that existed when the run began, wherever they are now, and those created from outside since. */
  get known(): readonly KnownGitDir[] {
    return [...this.#inodes].map(([path, inode]) => ({ path, inode }));
  }

  /** A repository that existed when the run began and that the last look did not find anywhere; null if there is none. */
  lost(): string | null {
    return viewing(this.#root, (view) => lostAmong(this.#displaced(view), this.#repositories, view));
  }

  /**
   * Looks at all folders for the first time: what is there is the user's. Throws `UnusableFile` for a pipe or device that git would
   * wait for, unless commands of an earlier process may have made it: then it is removed.
   */
  async begin(clock: bigint, since: 'commands' | 'outside' = 'outside'): Promise<FoundFolders> {
    const found = await this.folders.look(clock);
    this.#repositories = [...found.gitDirs, ...found.repositories];
    this.#add(this.#repositories);
    const [first] = since === 'outside' ? blockingIn(this.#root, found) : [];
    if (first !== undefined) throw isBlocked(this.#root, first);
    await this.#unblock(found);
    return found;
  }

  /** Records what an earlier process knew as the user's. */
  recall(gitDirs: Iterable<KnownGitDir>): void {
    for (const { path, inode } of gitDirs) this.#inodes.set(path, inode);
  }

  /** Looks again. What is new is the user's if no command has run since the last look, and otherwise removed. */
  async look(clock: bigint, since: 'commands' | 'outside'): Promise<FoundFolders> {
    const found = await this.folders.look(clock);
    const before = this.removed.length;
    await this.#settle(found, since === 'commands');
    await this.#unblock(found);
    return this.removed.length > before ? this.folders.look(clock) : found;
  }

  /** Those of the found git dirs that are not known, sorted. While a known one is missing, each of them may be a copy of it: `mv` copies between mounts. */
  judge({ gitDirs, repositories }: Pick<FoundFolders, 'gitDirs' | 'repositories'>): JudgedGitDir[] {
    const unknown = gitDirs.filter((path) => !this.#inodes.has(path)).sort();
    if (unknown.length === 0) return [];
    return viewing(this.#root, (view) => {
      const displaced = this.#displaced(view);
      const lost = lostAmong(displaced, [...unknown, ...repositories], view);
      return unknown.map((path) => {
        const from = displaced.get(inodeAt(view, path));
        if (from !== undefined) return { is: 'moved', path, from };
        // A file or a link only names a git dir: no commits are lost with it.
        return lost === null || view.stat(path)?.isDirectory() === false
          ? { is: 'new', path }
          : { is: 'perhaps_copied', path, from: lost };
      });
    });
  }

  async #settle(found: FoundFolders, isByCommands: boolean): Promise<void> {
    this.#repositories = [...found.gitDirs, ...found.repositories];
    for (const path of isByCommands ? found.unreadable : [])
      if (!this.#closed.isAsFound(path))
        this.#warn(
          warning(
            'WARN_GIT_DIR_UNSEARCHED',
            `${JSON.stringify(path)} cannot be searched for git dirs that commands created.`,
          ),
        );
    for (const one of this.judge(found)) {
      const { path } = one;
      if (one.is === 'new' && isByCommands) {
        await removeGitDir(this.#root, path);
        this.removed.push(path);
      } else this.#add([path]);
      if (one.is === 'perhaps_copied' && isByCommands) this.inDoubt.push(path);
      this.#warn(warningOf(one, isByCommands));
    }
  }

  /** Removes what git would wait for. Throws `UnusableFile` if one is behind a link. */
  async #unblock(found: FoundFolders): Promise<void> {
    const root = this.#root;
    for (const path of blockingIn(root, found)) {
      if (!path.startsWith('/')) await removeGitDir(root, path);
      if (isBlocking(root, path)) throw isBlocked(root, path);
      this.#warn(
        warning('WARN_SPECIAL_REMOVED', `${quotedName(path)} was a pipe or device, and was removed.`),
      );
    }
  }

  #add(paths: Iterable<string>): void {
    viewing(this.#root, (view) => {
      for (const path of paths) if (!this.#inodes.has(path)) this.#inodes.set(path, inodeAt(view, path));
    });
  }

  /** The known ones that are no longer in their place, by inode. One that cannot be examined may still be there. */
  #displaced(view: TreeView): Map<string, string> {
    const displaced = new Map<string, string>();
    for (const [path, inode] of this.#inodes) {
      if (inode === '' || inodeAt(view, path) === inode) continue;
      if (view.lookAt(path).status !== 'unreadable') displaced.set(inode, path);
    }
    return displaced;
  }
}

/** A displaced git dir that is at none of these places, or null. */
function lostAmong(
  displaced: ReadonlyMap<string, string>,
  places: readonly string[],
  view: TreeView,
): string | null {
  if (displaced.size === 0) return null;
  const arrived = new Set(places.map((path) => inodeAt(view, path)));
  return [...displaced].find(([inode]) => !arrived.has(inode))?.[1] ?? null;
}

/** Whether a run began in this checkout, which may have been moved since. */
export function beganIn(
  root: string,
  began: { readonly root: string; readonly gitDirs: readonly KnownGitDir[] },
): boolean {
  const own = began.gitDirs.find(({ path }) => path === '.git');
  return (
    began.root === root || (!!own?.inode && viewing(root, (view) => inodeAt(view, '.git') === own.inode))
  );
}

/**
 * Inode number and birth time of the entry: numbers are reused, and birth times cannot be set. Of a file, what it says, since a command
 * may change that; one with a relative path names something else in another place.
 */
function inodeAt(view: TreeView, path: string): string {
  const stat = view.stat(path);
  if (!stat?.isFile()) return stat ? `${stat.ino}.${stat.birthtimeNs}` : '';
  const read = readRegularFile(String(view.place(path)), MAX_POINTER_BYTES);
  const text = read.status === 'ok' ? read.bytes.toString('latin1') : '';
  return text.startsWith('gitdir: /') ? text : '';
}

function warningOf(one: JudgedGitDir, isByCommands: boolean): Warning {
  const now = JSON.stringify(one.path);
  if (one.is === 'moved')
    return warning(
      'WARN_GIT_DIR_KEPT',
      `${JSON.stringify(one.from)}, which was there when the run began, was moved to ${now}, within reach of commands.`,
    );
  if (!isByCommands)
    return warning('WARN_GIT_DIR_KEPT', `Something outside the run created ${now} within reach of commands.`);
  return one.is === 'new'
    ? warning(
        'WARN_GIT_DIR_REMOVED',
        `A command created ${now}; it was removed, and the files next to it stay.`,
      )
    : warning(
        'WARN_GIT_DIR_KEPT',
        `${JSON.stringify(one.from)}, which was there when the run began, is gone; ${now} may be a copy of it and was kept. Inspect it before you use git there.`,
      );
}

/**
 * Pipes and devices where git opens a file of its own accord, and would wait: rule files, and what it opens in order to see whether
 * there is a repository. Relative to the root, or absolute behind a `.git` that names a folder.
 */
function blockingIn(root: string, { special, gitDirs }: FoundFolders): string[] {
  const opened = gitDirs
    .filter((path) => nameOf(path) === '.git')
    .map((path) => gitDirNamedIn(join(root, path)) ?? path)
    .flatMap((gitDir) => [`${gitDir}/HEAD`, `${gitDir}/commondir`]);
  return [...special.filter(isRuleFile), ...opened.filter((path) => isBlocking(root, path))];
}

function isBlocking(root: string, path: string): boolean {
  // A HEAD that is a link is not opened.
  const look = nameOf(path) === 'HEAD' ? lstatSync : statSync;
  const stat = orNone(() => look(encodeName(resolve(root, path))));
  return stat !== null && !(stat.isFile() || stat.isDirectory() || stat.isSymbolicLink());
}

function isBlocked(root: string, path: string): UnusableFile {
  return new UnusableFile(resolve(root, path), 'is a pipe or device, which git would wait for');
}
