/**
 * The git dirs that are the user's, and what has become of those that a command has moved or copied away: with one of them
 * the only copy of somebody's commits would be removed.
 */

import { lstatSync } from 'node:fs';
import { invisible } from '../../../files/stat.ts';
import { type TreeView, viewing } from '../../../files/tree-view.ts';
import type { FoundGitDirs } from './git-dirs.ts';

/** `inode` tells the very entry wherever it is moved; empty when it could not be examined. */
export interface KnownGitDir {
  readonly path: string;
  readonly inode: string;
}

/** `from` is where it was, or where the one was that it may be a copy of. */
export type JudgedGitDir =
  | { is: 'new'; path: string }
  | { is: 'moved' | 'perhaps_copied'; path: string; from: string };

/** The git dirs of the user, known by inode and birth time, so that one that was moved is known again. */
export class KnownGitDirs {
  readonly #root: string;
  readonly #inodes = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Takes these paths for the user's, as they are now. */
  add(paths: Iterable<string>): void {
    viewing(this.#root, (view) => {
      for (const path of paths) if (!this.#inodes.has(path)) this.#inodes.set(path, inodeAt(view, path));
    });
  }

  /** The same as an earlier process has seen them. */
  recall(known: Iterable<KnownGitDir>): void {
    for (const { path, inode } of known) this.#inodes.set(path, inode);
  }

  list(): KnownGitDir[] {
    return [...this.#inodes].map(([path, inode]) => ({ path, inode }));
  }

  /**
   * What those of the found git dirs are that are not known. While a known one is nowhere to be found, each may be a copy of
   * it: `mv` copies between file systems, and every mount counts as one.
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

  /** One that is neither in its place nor in any of these; null for none. */
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

  /** The known ones that are not in their place any more, by their inodes. What cannot be looked at may still be there. */
  #displaced(view: TreeView): Map<string, string> {
    const displaced = new Map<string, string>();
    for (const [path, inode] of this.#inodes) {
      if (inode === '' || inodeAt(view, path) === inode) continue;
      if (view.lookAt(path).status !== 'unreadable') displaced.set(inode, path);
    }
    return displaced;
  }
}

/** Number and birth of the entry: a number is used again, and nobody can set a time of birth. */
function inodeAt(view: TreeView, path: string): string {
  try {
    const stat = lstatSync(view.place(path), { bigint: true, throwIfNoEntry: false });
    return stat ? `${stat.ino}.${stat.birthtimeNs}` : '';
  } catch (error) {
    invisible(error);
    return '';
  }
}
