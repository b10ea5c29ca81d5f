/**
 * The user's index as it was when the run began: a copy, which stays as it is for the whole run. Its stats say which files need
 * no reading, and its entries what they are.
 */

import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { FileMode } from '../../../domain/changes/change.ts';
import { foldersOf } from '../../../domain/changes/path.ts';
import { UnusableFile } from '../../../domain/errors/thrown.ts';
import { decodeName } from '../../../files/names.ts';
import { copyIfThere, MAX_INDEX_BYTES } from '../../../git/repository-file.ts';

/** Name of the copy in the shadow repository; absent if there was no index. */
export const START_INDEX = 'start.index';

/** What the index has for one path. */
export interface IndexEntry {
  readonly mode: FileMode;
  readonly blob: string;
}

/** The listing of an index, `ls-files -s -v -z`. */
export class StartIndex {
  /** `TAG MODE ID STAGE` by path. */
  readonly #facts = new Map<string, string>();
  /** All folders of the paths; null until one is asked for. */
  #folders: Set<string> | null = null;

  /** Throws `UnusableFile`, which names `file`, for paths that no work tree can have. */
  constructor(listing: Buffer, file: string) {
    const text = decodeName(listing);
    if (UNUSABLE.test(text)) throw new UnusableFile(file, 'holds paths or modes that no work tree can have');
    for (const entry of text.split('\0').slice(0, -1)) {
      const tab = entry.indexOf('\t');
      const [facts, path] = [entry.slice(0, tab), entry.slice(tab + 1)];
      if (facts.endsWith(MERGED) && this.#facts.has(path)) throw new UnusableFile(file, 'holds a path twice');
      this.#facts.set(path, facts);
    }
  }

  /** Null if it has none, or an unmerged one. */
  get(path: string): IndexEntry | null {
    const facts = this.#facts.get(path);
    return facts?.endsWith(MERGED) ? entryOf(facts) : null;
  }

  /** Whether it has the path, in whatever state. */
  has(path: string): boolean {
    return this.#facts.has(path);
  }

  /** All paths, in whatever state. */
  get paths(): Iterable<string> {
    return this.#facts.keys();
  }

  /** Whether it has anything below this folder. */
  hasBelow(folder: string): boolean {
    this.#folders ??= new Set([...this.#facts.keys()].flatMap((path) => [...foldersOf(path)]));
    return this.#folders.has(folder);
  }

  /** Paths below a folder. */
  *below(folder: string): Generator<string> {
    const beginning = `${folder}/`;
    for (const path of this.#facts.keys()) if (path.startsWith(beginning)) yield path;
  }

  /** Those of the entries whose facts, `TAG MODE`, begin as this pattern says. */
  *entries(facts: RegExp): Generator<IndexEntry & { path: string }> {
    for (const [path, known] of this.#facts) if (facts.test(known)) yield { path, ...entryOf(known) };
  }
}

/** How the facts of an entry end that is in no conflict. */
const MERGED = ' 0';

function entryOf(facts: string): IndexEntry {
  const [, mode, blob = ''] = facts.split(' ');
  return { mode: mode as FileMode, blob };
}

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
