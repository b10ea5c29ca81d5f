/** What is known of every file of the work tree: most are as the start's index has them, and only the others need a record. */

import type { FileMode, FileState, PathChange } from '../../../domain/changes/change.ts';
import { sameState } from '../../../domain/changes/change.ts';
import { isWithin } from '../../../domain/changes/path.ts';
import type { FileStat } from '../../../files/stat.ts';
import type { TreeEdit } from '../../../git/store/trees.ts';
import type { BaselineIndex } from '../baseline/baseline-index.ts';
import type { StatUnchanged } from '../baseline/stat-unchanged.ts';
import { foldersOf, type TrackedPaths } from '../baseline/tracked-paths.ts';
import type { Walked } from './walk.ts';

/** What the states of files at the start are known by. */
export interface KnownParts {
  readonly index: BaselineIndex;
  readonly settled: StatUnchanged;
  readonly tracked: TrackedPaths;
  /** The executable bit of the work tree counts. */
  readonly fileMode: boolean;
}

/** `stat` is null when the content has to be looked at as soon as the file is, whatever its stat says. */
export interface Known {
  /** Null when the path is gone. */
  readonly state: FileState | null;
  readonly stat: FileStat | null;
}

/** The last known state of every file. Files that are as the user's index has them cost nothing. */
export class KnownFiles {
  readonly #parts: KnownParts;
  /** Paths that are not as the index has them, or that git does not look at. All other files are in the index. */
  readonly #known = new Map<string, Known>();
  /** Submodules and files left out of a sparse checkout: they count as present though no file is there. */
  readonly #kept = new Map<string, FileState>();

  constructor(parts: KnownParts) {
    this.#parts = parts;
  }

  /** Null when there is no record of its own. */
  get(path: string): Known | null {
    return this.#known.get(path) ?? null;
  }

  set(path: string, known: Known): void {
    this.#known.set(path, known);
    this.#parts.tracked.addFolders(path);
  }

  /** Nothing of the index counts as present any more. */
  forgetIndex(): void {
    for (const path of this.#parts.index.entries.keys()) this.#known.set(path, GONE);
  }

  /** What is at the path is looked at again, whatever its stat says. */
  unsettle(path: string): void {
    const known = this.#known.get(path);
    if (known) this.#known.set(path, { ...known, stat: null });
  }

  get isEmpty(): boolean {
    const { entries } = this.#parts.index;
    const isThere = (path: string) => this.stateOf(path) !== null;
    return ![...this.#known.keys()].some(isThere) && ![...entries.keys()].some(isThere);
  }

  /** What has to be done to the start's index to make it what is known: little or nothing in a clean checkout. */
  differences(): TreeEdit[] {
    const { entries } = this.#parts.index;
    const edits: TreeEdit[] = [];
    for (const [path, { state }] of this.#known) {
      const entry = entries.get(path);
      if (state ? entry?.blob !== state.blob || entry.mode !== state.mode : entry)
        edits.push({ path, state });
    }
    // What is settled is implied where there are many files.
    const { isMany } = this.#parts.settled;
    for (const path of isMany ? entries.unsettled() : entries.keys())
      if (!this.#known.has(path)) edits.push({ path, state: null });
    return edits;
  }

  /** Files that are known to be there, sorted; without submodules and what a sparse checkout leaves out. */
  present(): string[] {
    const paths = new Set([...this.#known.keys(), ...this.#parts.index.entries.keys()]);
    return [...paths].filter((path) => !this.#kept.has(path) && this.stateOf(path) !== null).sort();
  }

  /** Null when nothing is known to be there. */
  stateOf(path: string): FileState | null {
    const known = this.#known.get(path);
    if (known) return known.state;
    return this.#isImplied(path) ? this.inIndex(path) : null;
  }

  /** Is as in the index unless something else is known. */
  #isImplied(path: string): boolean {
    const { settled } = this.#parts;
    return settled.isMany && settled.isSettled(path);
  }

  /** What the start's index has; null when it has nothing, or several things to be merged. */
  inIndex(path: string): FileState | null {
    const entry = this.#parts.index.entries.get(path);
    return entry?.blob ? { mode: entry.mode, blob: entry.blob, size: entry.size } : null;
  }

  /** Takes submodules and files left out of a sparse checkout for present. */
  keepWithoutFile(): void {
    for (const [path, { mode, blob }] of this.#parts.index.entries.withoutFile()) {
      if (blob === null) continue;
      const state = { mode, blob, size: 0 };
      this.#kept.set(path, state);
      this.#known.set(path, { state, stat: null });
    }
  }

  modeOf(path: string, { kind, executable }: { kind: FileStat['kind']; executable: boolean }): FileMode {
    if (kind === 'link') return '120000';
    if (this.#parts.fileMode) return executable ? '100755' : '100644';
    return this.#parts.index.entries.get(path)?.mode === '100755' ? '100755' : '100644';
  }

  /** Drops what is known and gone, and puts back what counts as present without a file. */
  updateMissing({ scope, gone }: Walked, stays: (path: string) => boolean): PathChange[] {
    const { index, tracked } = this.#parts;
    // Git tells what is gone of the whole tree.
    const inIndex = scope === '' ? gone : tracked.isFolder(scope) ? index.entries.keys() : [scope].values();
    const changes: PathChange[] = [];
    for (const path of new Set([...this.#known.keys(), ...inIndex])) {
      if (!isWithin(path, scope) || this.#kept.has(path) || stays(path)) continue;
      const before = this.stateOf(path);
      this.#known.set(path, GONE);
      if (before) changes.push({ path, before, after: null });
    }
    for (const [path, kept] of this.#kept) {
      if (!(isWithin(path, scope) || isWithin(scope, path)) || stays(path)) continue;
      const before = this.stateOf(path);
      const after = this.#isDisplaced(path) ? null : kept;
      this.#known.set(path, { state: after, stat: null });
      if (!sameState(before, after)) changes.push({ path, before, after });
    }
    return changes;
  }

  /** A file stands where one of the path's folders was, or files stand below the path. */
  #isDisplaced(path: string): boolean {
    for (const folder of foldersOf(path)) if (this.stateOf(folder)) return true;
    if (!this.#parts.tracked.isFolder(path)) return false;
    for (const [known, { state }] of this.#known) if (state && known.startsWith(`${path}/`)) return true;
    return false;
  }
}

const GONE: Known = { state: null, stat: null };
