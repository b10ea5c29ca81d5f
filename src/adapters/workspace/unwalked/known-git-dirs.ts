/**
 * The git dirs that are the user's, and what has become of those that a command has moved or copied away: with one of them
 * the only copy of somebody's commits would be removed.
 */

import { lstatSync } from 'node:fs';
import { invisible } from '../../../files/stat.ts';
import { lookAt, type TreeView, viewing } from '../../../files/tree-view.ts';

/** `inode` tells the very entry wherever it is moved; empty when it could not be examined. */
export interface KnownGitDir {
  readonly path: string;
  readonly inode: string;
}

/** `from` is where it was, or where the one was that it may be a copy of. */
export type JudgedGitDir =
  | { is: 'new'; path: string }
  | { is: 'moved' | 'perhaps_copied'; path: string; from: string };

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
   * What those of these paths are that are not known. While a known one is nowhere to be found, each may be a copy of it:
   * `mv` copies between file systems. No command in the sandbox can bring that about, as it reaches none of them.
   */
  judge(found: readonly string[]): JudgedGitDir[] {
    const unknown = found.filter((path) => !this.#inodes.has(path));
    if (unknown.length === 0) return [];
    const displaced = this.#displaced();
    const inodes = viewing(this.#root, (view) => new Map(unknown.map((path) => [path, inodeAt(view, path)])));
    const arrived = new Set(inodes.values());
    const [lost] = [...displaced].flatMap(([inode, { path, isGone }]) =>
      isGone && !arrived.has(inode) ? [path] : [],
    );
    return unknown.map((path) => {
      const from = displaced.get(inodes.get(path) ?? '')?.path;
      if (from !== undefined) return { is: 'moved', path, from };
      return lost === undefined ? { is: 'new', path } : { is: 'perhaps_copied', path, from: lost };
    });
  }

  /** The known ones that are not in their place any more, by their inodes. */
  #displaced(): Map<string, { path: string; isGone: boolean }> {
    return viewing(this.#root, (view) => {
      const displaced = new Map<string, { path: string; isGone: boolean }>();
      for (const [path, inode] of this.#inodes) {
        if (inode === '' || inodeAt(view, path) === inode) continue;
        // Commands in the sandbox are kept from no other spelling.
        const isGone = path.endsWith('/.git') && lookAt(this.#root, path).status === 'absent';
        displaced.set(inode, { path, isGone });
      }
      return displaced;
    });
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
