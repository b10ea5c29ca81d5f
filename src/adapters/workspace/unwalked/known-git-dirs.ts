/**
 * The user's git dirs, and what happened to those that a command moved or copied away: removing one of them could destroy
 * the only copy of someone's commits.
 */

import { lstatSync } from 'node:fs';
import { invisible } from '../../../files/stat.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import type { FoundGitDirs } from './git-dirs.ts';

/** `inode` identifies the entry wherever it is moved; empty if it could not be examined. */
export interface KnownGitDir {
  readonly path: string;
  readonly inode: string;
}

/** `from` is its earlier path, or that of the git dir that it may be a copy of. */
export type JudgedGitDir =
  | { is: 'new'; path: string }
  | { is: 'moved' | 'perhaps_copied'; path: string; from: string };

/** The user's git dirs, identified by inode and birth time, so that one is recognised after being moved. */
export class KnownGitDirs {
  readonly #root: string;
  readonly #inodes = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Records the current git dirs at these paths as the user's. */
  add(paths: Iterable<string>): void {
    viewing(this.#root, (view) => {
      for (const path of paths) if (!this.#inodes.has(path)) this.#inodes.set(path, inodeAt(view, path));
    });
  }

  /** The same, as an earlier process recorded them. */
  recall(known: Iterable<KnownGitDir>): void {
    for (const { path, inode } of known) this.#inodes.set(path, inode);
  }

  list(): KnownGitDir[] {
    return [...this.#inodes].map(([path, inode]) => ({ path, inode }));
  }

  /**
   * Judges those of the found git dirs that are not known. While a known one is missing, each of them may be a copy of it:
   * `mv` copies between file systems, and every mount counts as one.
   */
  judge({ gitDirs, repositories }: Omit<FoundGitDirs, 'unreadable'>): JudgedGitDir[] {
    const unknown = gitDirs.filter((path) => !this.#inodes.has(path));
    if (unknown.length === 0) return [];
    return viewing(this.#root, (view) => {
      const displaced = this.#displaced(view);
      const lost = this.#lostAmong(displaced, [...unknown, ...repositories], view);
      return unknown.map((path) => {
        const from = displaced.get(inodeAt(view, path));
        if (from !== undefined) return { is: 'moved', path, from };
        return lost === null ? { is: 'new', path } : { is: 'perhaps_copied', path, from: lost };
      });
    });
  }

  /** A known git dir that is neither at its own path nor at any of these, or null. */
  lost(places: readonly string[]): string | null {
    return viewing(this.#root, (view) => this.#lostAmong(this.#displaced(view), places, view));
  }

  #lostAmong(
    displaced: ReadonlyMap<string, string>,
    places: readonly string[],
    view: TreeView,
  ): string | null {
    if (displaced.size === 0) return null;
    const arrived = new Set(places.map((path) => inodeAt(view, path)));
    return [...displaced].find(([inode]) => !arrived.has(inode))?.[1] ?? null;
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

/** Inode number and birth time of the entry: numbers are reused, and birth times cannot be set. */
function inodeAt(view: TreeView, path: string): string {
  try {
    const stat = lstatSync(view.place(path), { bigint: true, throwIfNoEntry: false });
    return stat ? `${stat.ino}.${stat.birthtimeNs}` : '';
  } catch (error) {
    invisible(error);
    return '';
  }
}
