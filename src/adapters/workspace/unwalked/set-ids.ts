/**
 * Set-uid and set-gid bits that commands leave in the work tree. A program of root's with such a bit is a way to root for
 * every user of the machine, long after the run. The sandbox's filter lets nobody set one; where there is no filter, the
 * bits are cleared by whoever comes to the place: the walk after every command, and for what git ignores the look at the
 * end of the run. Until then they are there, as they are while the command runs.
 *
 * The time of the last change tells what is the run's: it moves with the mode, and nobody can set it back. A file that had
 * a bit before keeps it until a command changes or moves the file, since what it would run may then be the command's. A
 * folder keeps a set-gid bit that it had at the start, under the same path, or that the folder above it has: so folders get
 * one without anybody asking, and all that is in them a group.
 *
 * What remains unseen: capabilities of files, for which Node has no call. Inside the sandbox nobody has the right to give
 * any.
 */

import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../../files/failures.ts';
import { decodeName, encodeName } from '../../../files/names.ts';
import { type FileStat, fileStat, invisible, S_ISGID } from '../../../files/stat.ts';
import { O_PATH, type TreeView } from '../../../files/tree-view.ts';

/** Its place in the shadow repository. */
export function setIdsFile(shadowDir: string): string {
  return join(shadowDir, 'set-gid-folders');
}

/** Clears set-user-id and set-group-id bits that were not there when the run began. */
export class SetIds {
  /** Remembers the start of the run by its ctime, and which folders had a set-gid bit then. */
  readonly #file: string;
  #asFound = new Set<string>();
  /** ctime, in ns. Null during the first look, which clears nothing. */
  #sinceNs: bigint | null = null;
  readonly #cleared = new NamedPlaces();
  readonly #left = new NamedPlaces();

  constructor(file: string) {
    this.#file = file;
  }

  /** Ends the first look: what has changed since is the run's. */
  begin(): void {
    if (this.#sinceNs !== null) return;
    writeFileSync(this.#file, Buffer.concat([...this.#asFound].map((folder) => encodeName(`${folder}\0`))));
    this.#sinceNs = lstatSync(this.#file, { bigint: true }).ctimeNs;
  }

  /** The same for a run that goes on, as its first process has kept it. */
  recall(): void {
    if (!existsSync(this.#file)) return;
    this.#asFound = new Set(decodeName(readFileSync(this.#file)).split('\0').slice(0, -1));
    this.#sinceNs = lstatSync(this.#file, { bigint: true }).ctimeNs;
  }

  /** Clears what a place must not have, as it was just seen; folders come before what is in them. */
  see(view: TreeView, path: string, stat: FileStat): void {
    if (stat.setId === 0 || (stat.kind !== 'file' && stat.kind !== 'folder')) return;
    if (this.#sinceNs === null) {
      if (stat.kind === 'folder' && (stat.setId & S_ISGID) !== 0) this.#asFound.add(path);
    } else if (stat.ctimeNs >= this.#sinceNs && !this.#isInherited(view, path, stat)) {
      (clear(view, path) ? this.#cleared : this.#left).add(path);
    }
  }

  /** What people must know; one sentence for each kind. */
  warnings(): string[] {
    const cleared = `Commands set set-uid or set-gid bits, which were cleared: ${this.#cleared}.`;
    const left = `Commands set set-uid or set-gid bits that could not be cleared; clear them yourself: ${this.#left}.`;
    return [...(this.#left.count > 0 ? [left] : []), ...(this.#cleared.count > 0 ? [cleared] : [])];
  }

  #isInherited(view: TreeView, path: string, { kind, setId }: FileStat): boolean {
    if (kind !== 'folder' || setId !== S_ISGID) return false;
    if (this.#asFound.has(path)) return true;
    const above = path === '' ? null : view.lookAtFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    return above?.status === 'seen' && (above.stat.setId & S_ISGID) !== 0;
  }
}

/** False where the bits are still there. Through a descriptor of the very place that is looked at once more. */
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

/** Names that are told; a command could make thousands. */
const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 200;

class NamedPlaces {
  readonly #named: string[] = [];
  count = 0;

  add(path: string): void {
    this.count += 1;
    if (this.#named.length < MAX_NAMED) this.#named.push(JSON.stringify(path.slice(0, MAX_NAME_LENGTH)));
  }

  toString(): string {
    const more = this.count - this.#named.length;
    return this.#named.join(', ') + (more > 0 ? ` and ${more} more` : '');
  }
}
