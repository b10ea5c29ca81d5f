/**
 * The user's index as it was when the run began: a copy, which stays as it is for the whole run. Its stats say which files need
 * no reading, and its entries what they are.
 */

import { lstatSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { FileMode } from '../../../domain/changes/change.ts';
import { UnusableFile } from '../../../domain/errors/thrown.ts';
import { decodeName, encodeName } from '../../../files/names.ts';
import { viewing } from '../../../files/tree-view.ts';
import { copyIfThere, MAX_INDEX_BYTES } from '../../../git/repository-file.ts';

/** Name of the copy in the shadow repository; absent if there was no index. */
export const START_INDEX = 'start.index';

/** What the index has for one path. */
export interface IndexEntry {
  readonly mode: FileMode;
  readonly blob: string;
}

/** The listing of an index, `ls-files -s -v -z`: 90 bytes for each file, in the order of their paths, and searched as it is. */
export class StartIndex {
  /** A character for each byte. */
  readonly #listing: string;

  /** Throws `UnusableFile`, which names `file`, for paths that no work tree can have. */
  constructor(listing: Buffer, file: string) {
    this.#listing = listing.toString('latin1');
    if (UNUSABLE.test(this.#listing))
      throw new UnusableFile(file, 'holds paths or modes that no work tree can have');
    // Git reads such an index, and it is searched here as if it were in order: files would be overlooked.
    if (!isInOrder(this.#listing)) throw new UnusableFile(file, 'holds paths twice or out of order');
  }

  /** Null if it has none, or an unmerged one. */
  get(path: string): IndexEntry | null {
    const at = this.#entryOf(path);
    if (at === null) return null;
    const [, mode, blob = '', stage] = this.#listing.slice(at, this.#listing.indexOf('\t', at)).split(' ');
    return stage === '0' ? { mode: mode as FileMode, blob } : null;
  }

  /** Whether it has the path, in whatever state. */
  has(path: string): boolean {
    return this.#entryOf(path) !== null;
  }

  /** Whether it has anything below this folder. */
  hasBelow(folder: string): boolean {
    return !this.below(folder).next().done;
  }

  /** Paths below a folder. */
  *below(folder: string): Generator<string> {
    const beginning = bytesOf(`${folder}/`);
    for (let at = this.#firstFrom(beginning); at < this.#listing.length; ) {
      const path = this.#pathAt(at);
      if (!path.startsWith(beginning)) return;
      yield nameOf(path);
      at = this.#listing.indexOf('\0', at) + 1;
    }
  }

  /** Those of the entries whose facts, `TAG MODE`, begin as this pattern says. */
  *entries(facts: string): Generator<IndexEntry & { path: string }> {
    const pattern = new RegExp(`(?<![^\\0])(?=${facts}). (\\d+) ([0-9a-f]+) \\d\\t([^\\0]+)`, 'g');
    for (const [, mode, blob = '', path = ''] of this.#listing.matchAll(pattern))
      yield { mode: mode as FileMode, blob, path: nameOf(path) };
  }

  /** Where the first entry with this path begins, or null. */
  #entryOf(path: string): number | null {
    const bytes = bytesOf(path);
    const at = this.#firstFrom(bytes);
    return at < this.#listing.length && this.#pathAt(at) === bytes ? at : null;
  }

  /** Where the first entry begins whose path is not before this one, in git's order: that of the bytes. */
  #firstFrom(path: string): number {
    let low = 0;
    let high = this.#listing.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = middle === 0 ? 0 : this.#listing.lastIndexOf('\0', middle - 1) + 1;
      if (this.#pathAt(at) < path) low = this.#listing.indexOf('\0', middle) + 1;
      else high = at;
    }
    return low;
  }

  #pathAt(at: number): string {
    return this.#listing.slice(this.#listing.indexOf('\t', at) + 1, this.#listing.indexOf('\0', at));
  }
}

const bytesOf = (path: string) => encodeName(path).toString('latin1');
const nameOf = (bytes: string) => decodeName(Buffer.from(bytes, 'latin1'));

/** An entry that is not `TAG MODE ID STAGE TAB PATH`, or whose path leaves the work tree or enters its git dir. */
const UNUSABLE =
  /(?:^|\0)(?!$|[a-zA-Z?] (?:100644|100755|120000|160000) [0-9a-f]{40,64} [0-3]\t[^\0])|(?: [0-3]\t|\/)(?:\.{0,2}|\.git)[/\0]/i;

/** By path, then stage. */
function isInOrder(listing: string): boolean {
  let before = '';
  for (let at = 0; at < listing.length; ) {
    const tab = listing.indexOf('\t', at);
    const end = listing.indexOf('\0', tab);
    const key = `${listing.slice(tab + 1, end)}\0${listing[tab - 1]}`;
    if (key <= before) return false;
    before = key;
    at = end + 1;
  }
  return true;
}

const READING = { maxBytes: MAX_INDEX_BYTES };

/**
 * Copies index and shared indexes from one git dir to another. False if there is none. The copy keeps the mtime: with a later
 * one, git would trust files that changed at the moment when the real index was written.
 */
export function copyIndex(fromGitDir: string, toGitDir: string, name: string, fromName = 'index'): boolean {
  const from = join(fromGitDir, fromName);
  // Read before the copy: if the index is replaced in between, the copied one is younger and trusted less.
  const stat = statSync(from, { bigint: true, throwIfNoEntry: false });
  if (!copyIfThere(from, join(toGitDir, name), READING)) return false;
  setMtime(join(toGitDir, name), stat?.mtimeNs ?? 0n);
  for (const shared of readdirSync(fromGitDir))
    if (shared.startsWith('sharedindex.'))
      copyIfThere(join(fromGitDir, shared), join(toGitDir, shared), READING);
  return true;
}

/** Node sets times as floating-point seconds, so this rounds down to the microsecond: an older index is only trusted less. */
export function setMtime(path: string, mtimeNs: bigint): void {
  const seconds = Number(mtimeNs / 1000n - 1n) / 1e6;
  utimesSync(path, seconds, seconds);
}

/** Files that may have changed within the second in which they were indexed; none in an index that is older than the run. */
export function recentlyChanged(
  index: StartIndex,
  { root, shadowDir }: { readonly root: string; readonly shadowDir: string },
  startedNs: bigint,
): string[] {
  const stat = lstatSync(join(shadowDir, START_INDEX), { bigint: true, throwIfNoEntry: false });
  const since = (startedNs / SECOND - 1n) * SECOND;
  if (stat === undefined || stat.mtimeNs < since) return [];
  return viewing(root, (view) =>
    [...index.entries('H 1')].flatMap(({ path }) => {
      const look = view.lookAt(path);
      return look.status === 'seen' && look.stat.ctimeNs >= since ? [path] : [];
    }),
  );
}

/** In ns. */
export const SECOND = 1_000_000_000n;
