/**
 * The user's index as it was when the run began: a copy, which stays as it is for the whole run. Its stats say which files need
 * no reading, and its entries what they are.
 */

import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { FileMode } from '../../../domain/changes/change.ts';
import { UnusableFile } from '../../../domain/errors/unusable-file.ts';
import { decodeName, encodeName } from '../../../files/names.ts';
import { copyIfThere, MAX_INDEX_BYTES } from '../../../git/repository-file.ts';

/** Name of the copy in the shadow repository; absent if there was no index. */
export const START_INDEX = 'start.index';

/** What the index has for one path. */
export interface IndexEntry {
  readonly mode: FileMode;
  readonly blob: string;
}

/** The listing of an index, `ls-files -s -v -z`: 90 bytes for each file, searched as it is. */
export class StartIndex {
  readonly #listing: Buffer;

  /** Throws `UnusableFile`, which names `file`, for paths that no work tree can have. */
  constructor(listing: Buffer, file: string) {
    if (UNUSABLE.test(listing.toString('latin1')))
      throw new UnusableFile(file, 'holds paths or modes that no work tree can have');
    this.#listing = listing;
  }

  /** Null if it has none, or an unmerged one. */
  get(path: string): IndexEntry | null {
    const [, mode, blob, stage] = this.#factsOf(`${path}\0`) ?? [];
    return stage === '0' && mode !== undefined && blob !== undefined
      ? { mode: mode as FileMode, blob }
      : null;
  }

  /** Whether it has the path, in whatever state. */
  has(path: string): boolean {
    return this.#factsOf(`${path}\0`) !== null;
  }

  /** Whether it has anything below this folder. */
  hasBelow(folder: string): boolean {
    return this.#factsOf(`${folder}/`) !== null;
  }

  /** Entries with their tags, as in `git ls-files -v`, of those that `wanted` accepts. */
  *entries(
    wanted: (facts: string) => boolean = () => true,
  ): Generator<IndexEntry & { path: string; tag: string }> {
    const listing = this.#listing;
    for (let from = 0; from < listing.length; ) {
      const tab = listing.indexOf(TAB, from);
      const end = listing.indexOf(0, tab);
      const facts = listing.toString('latin1', from, tab);
      if (wanted(facts)) {
        const [tag = '', mode, blob = ''] = facts.split(' ');
        yield { tag, mode: mode as FileMode, blob, path: decodeName(listing.subarray(tab + 1, end)) };
      }
      from = end + 1;
    }
  }

  /** The facts of the first entry whose path begins like this. A tab may also be part of a name. */
  #factsOf(beginning: string): string[] | null {
    const name = encodeName(`\t${beginning}`);
    for (let at = this.#listing.indexOf(name); at >= 0; at = this.#listing.indexOf(name, at + 1)) {
      const start = this.#listing.lastIndexOf(0, at) + 1;
      const facts = this.#listing.toString('latin1', start, at);
      if (!facts.includes('\t')) return facts.split(' ');
    }
    return null;
  }
}

const TAB = 9;

/** An entry that is not `TAG MODE ID STAGE TAB PATH`, or whose path leaves the work tree or enters its git dir. */
const UNUSABLE =
  /(?:^|\0)(?!$|[a-zA-Z?] (?:100644|100755|120000|160000) [0-9a-f]{40,64} [0-3]\t[^\0])|(?: [0-3]\t|\/)(?:\.{0,2}|\.git)[/\0]/i;

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
