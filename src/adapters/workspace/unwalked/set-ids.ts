/**
 * Clears set-uid and set-gid bits that commands leave in the work tree: a program of root's with one gives every user root access,
 * long after the run. The sandbox's filter prevents setting one; without it, the walk after every command and, for ignored files,
 * the look at the end of the run clear them.
 *
 * The ctime shows what the run did: it cannot be set back. A file that had a bit before keeps it until a command changes or moves
 * it. A folder keeps a set-gid bit that it had at the start, or that its parent has, from which folders inherit it.
 */

import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs';
import { folderOf } from '../../../domain/changes/path.ts';
import { listed } from '../../../domain/text/words.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import { hasCode } from '../../../files/failures.ts';
import { type FileStat, fileStat, invisible, S_ISGID } from '../../../files/stat.ts';
import { O_PATH, type TreeView } from '../../../files/tree-view.ts';

/** Clears set-user-id and set-group-id bits that were not set when the run began. */
export class SetIds {
  readonly #asFound = new Set<string>();
  /** ctime, in ns. Null during the first look, which clears nothing. */
  #sinceNs: bigint | null = null;
  readonly #cleared: string[] = [];
  readonly #left: string[] = [];

  /** Folders that had a set-gid bit at the first look. */
  get asFound(): string[] {
    return [...this.#asFound];
  }

  /** Ends the first look, which may have been that of an earlier process: later changes are the run's. */
  begin(sinceNs: bigint, asFound: readonly string[] = []): void {
    this.#sinceNs = sinceNs;
    for (const folder of asFound) this.#asFound.add(folder);
  }

  /** Clears bits that a place must not have, given its current stat; folders come before their contents. */
  see(view: TreeView, path: string, stat: FileStat): void {
    if (stat.setId === 0 || (stat.kind !== 'file' && stat.kind !== 'folder')) return;
    if (this.#sinceNs === null) {
      if (stat.kind === 'folder' && (stat.setId & S_ISGID) !== 0) this.#asFound.add(path);
    } else if (stat.ctimeNs >= this.#sinceNs && !this.#isInherited(view, path, stat)) {
      (clear(view, path) ? this.#cleared : this.#left).push(path);
    }
  }

  /** What people must know; one sentence per kind. */
  warnings(): Warning[] {
    const cleared = warning(
      'WARN_SET_ID_CLEARED',
      `Commands set set-uid or set-gid bits, which were cleared: ${named(this.#cleared)}.`,
    );
    const left = warning(
      'WARN_SET_ID_LEFT',
      `Commands set set-uid or set-gid bits that could not be cleared; clear them yourself: ${named(this.#left)}.`,
    );
    return [...(this.#left.length > 0 ? [left] : []), ...(this.#cleared.length > 0 ? [cleared] : [])];
  }

  #isInherited(view: TreeView, path: string, { kind, setId }: FileStat): boolean {
    if (kind !== 'folder' || setId !== S_ISGID) return false;
    if (this.#asFound.has(path)) return true;
    const above = path === '' ? null : view.lookAt(folderOf(path));
    return above?.status === 'seen' && (above.stat.setId & S_ISGID) !== 0;
  }
}

/** False if the bits are still set. Works through a descriptor of the very place, which is checked again. */
function clear(view: TreeView, path: string): boolean {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(view.place(path), O_PATH | constants.O_NOFOLLOW);
    const stats = fstatSync(descriptor, { bigint: true });
    const { kind, setId } = fileStat(stats);
    if (setId === 0 || (kind !== 'file' && kind !== 'folder')) return true;
    chmodSync(`/proc/self/fd/${descriptor}`, Number(stats.mode) & 0o1777);
    return true;
  } catch (error) {
    if (hasCode(error, 'EROFS')) return false;
    return invisible(error) === 'absent';
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function named(paths: readonly string[]): string {
  return listed(
    paths.map((path) => JSON.stringify(path.slice(0, 200))),
    5,
  );
}
