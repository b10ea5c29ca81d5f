/** What is known about every file of the work tree: most are as in the baseline index, and only the others need a record. */

import type { FileMode, FileState, PathChange } from '../../../domain/changes/change.ts';
import { sameState } from '../../../domain/changes/change.ts';
import { isWithin } from '../../../domain/changes/path.ts';
import type { FileStat } from '../../../files/stat.ts';
import type { TreeEdit } from '../../../git/store/trees.ts';
import type { BaselineIndex } from '../baseline/index/baseline-index.ts';
import type { StatUnchanged } from '../baseline/stat-unchanged.ts';
import { foldersOf, type TrackedPaths } from '../baseline/tracked-paths.ts';
import type { Walked } from './walked-tree.ts';

/** What the baseline states of files are derived from. */
export interface KnownParts {
  readonly index: BaselineIndex;
  readonly settled: StatUnchanged;
  readonly tracked: TrackedPaths;
  /** The executable bit of the work tree is significant. */
  readonly fileMode: boolean;
}

/** `stat` is null if the content must be examined at the next look, whatever its stat says. */
export interface Known {
  /** Null when the path is gone. */
  readonly state: FileState | null;
  readonly stat: FileStat | null;
}

/** The last known state of every file. Files that are as in the user's index take no memory. */
export class KnownFiles {
  readonly #parts: KnownParts;
  /** Paths that differ from the index, or that git does not examine. All other files are as in the index. */
  readonly #known = new Map<string, Known>();
  /** Submodules and files left out of a sparse checkout: they count as present although there is no file. */
  readonly #kept = new Map<string, FileState>();

  constructor(parts: KnownParts) {
    this.#parts = parts;
  }

  /** Null if it has no record of its own. */
  get(path: string): Known | null {
    return this.#known.get(path) ?? null;
  }

  set(path: string, known: Known): void {
    this.#known.set(path, known);
    this.#parts.tracked.addFolders(path);
  }

  /** From now on nothing in the index counts as present. */
  forgetIndex(): void {
    for (const path of this.#parts.index.entries.keys()) this.#known.set(path, GONE);
  }

  /** The path is examined again, whatever its stat says. */
  unsettle(path: string): void {
    const known = this.#known.get(path);
    if (known) this.#known.set(path, { ...known, stat: null });
  }

  /** The same for all files that have changed since. */
  unsettleSince(ns: bigint): void {
    for (const [path, { stat }] of this.#known) if (stat !== null && stat.ctimeNs >= ns) this.unsettle(path);
  }

  get isEmpty(): boolean {
    const { entries } = this.#parts.index;
    const isThere = (path: string) => this.stateOf(path) !== null;
    return ![...this.#known.keys()].some(isThere) && ![...entries.keys()].some(isThere);
  }

  /** The edits that turn the baseline index into the known state: few or none in a clean checkout. */
  differences(): TreeEdit[] {
    const { entries } = this.#parts.index;
    const edits: TreeEdit[] = [];
    for (const [path, { state }] of this.#known) {
      const entry = entries.get(path);
      if (state ? entry?.blob !== state.blob || entry.mode !== state.mode : entry)
        edits.push({ path, state });
    }
    // With many files, settled ones have no record.
    const { isMany } = this.#parts.settled;
    for (const path of isMany ? entries.unsettled() : entries.keys())
      if (!this.#known.has(path)) edits.push({ path, state: null });
    return edits;
  }

  /** Files known to exist, sorted; without submodules and what a sparse checkout leaves out. */
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

  /** Whether it is as in the index because nothing else is known. */
  #isImplied(path: string): boolean {
    const { settled } = this.#parts;
    return settled.isMany && settled.isSettled(path);
  }

  /** The state in the baseline index; null if it has none, or an unmerged entry. */
  inIndex(path: string): FileState | null {
    const entry = this.#parts.index.entries.get(path);
    return entry?.blob ? { mode: entry.mode, blob: entry.blob, size: entry.size } : null;
  }

  /** Marks submodules and files left out of a sparse checkout as present. */
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

  /** Drops known files that are gone, and restores entries that count as present without a file. */
  updateMissing({ scope, gone }: Walked, stays: (path: string) => boolean): PathChange[] {
    const { index, tracked } = this.#parts;
    // For the whole tree, git reports deleted files.
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

  /** Whether a file is where one of the path's folders was, or files are below the path. */
  #isDisplaced(path: string): boolean {
    for (const folder of foldersOf(path)) if (this.stateOf(folder)) return true;
    if (!this.#parts.tracked.isFolder(path)) return false;
    for (const [known, { state }] of this.#known) if (state && known.startsWith(`${path}/`)) return true;
    return false;
  }
}

const GONE: Known = { state: null, stat: null };
