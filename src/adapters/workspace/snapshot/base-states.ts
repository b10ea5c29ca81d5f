/** The state that each path has in the base of the run. */

import type { FileState, PathChange } from '../../../domain/changes/change.ts';
import type { BaselineIndex } from '../baseline/index/baseline-index.ts';
import type { TrackedPaths } from '../baseline/tracked-paths.ts';
import type { KnownFiles } from './file-states.ts';

/** Where the base is read from. */
interface BaseSources {
  readonly index: BaselineIndex;
  readonly known: KnownFiles;
  readonly tracked: TrackedPaths;
}

/** The states of the base: those in the user's index except for edits, or those that an earlier process recorded. */
export class BaseStates {
  readonly #sources: BaseSources;
  /** Files of the base that the index has otherwise; null is absence. */
  #edits: ReadonlyMap<string, FileState | null> = new Map();
  /** The files of the base if an earlier process recorded it; null means those of the index except for edits. */
  #taken: ReadonlyMap<string, FileState> | null = null;

  constructor(sources: BaseSources) {
    this.#sources = sources;
  }

  /** An earlier process has taken the base, so sizes in it are not those of the work tree. */
  get isRecalled(): boolean {
    return this.#taken !== null;
  }

  /** The base is what an earlier process has taken. */
  recall(base: ReadonlyMap<string, FileState>): void {
    this.#taken = base;
    this.#keep(new Map());
  }

  /** The base is the index, except for paths that differed in the work tree at the start. */
  takeEdits(edits: ReadonlyMap<string, FileState | null>): void {
    this.#keep(edits);
  }

  /** Takes changes into the base. */
  rebase(changes: readonly PathChange[]): void {
    const edits = new Map(this.#edits);
    for (const { path, after } of changes) edits.set(path, after);
    this.#keep(edits);
  }

  /** Null for a path that the base does not have. */
  stateOf(path: string): FileState | null {
    const edit = this.#edits.get(path);
    if (edit !== undefined) return edit;
    return this.#taken ? (this.#taken.get(path) ?? null) : this.#sources.known.inIndex(path);
  }

  /** Whether the rules of the start have it from the work tree; one that git ignores is in neither base nor index. */
  isRuleFileThere(path: string): boolean {
    const entry = this.#sources.index.entries.get(path);
    return entry === undefined || (!entry.skipWorktree && this.stateOf(path) !== null);
  }

  #keep(edits: ReadonlyMap<string, FileState | null>): void {
    this.#edits = edits;
    this.#sources.tracked.keepBase((path) => this.stateOf(path) !== null);
  }
}
