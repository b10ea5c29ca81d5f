/** The ledger: folds the changes of a run into the net change. */

import {
  type ChangeSource,
  type CodeChange,
  type FileState,
  isTurned,
  type PathChange,
  sameState,
  toCodeChanges,
} from './change.ts';

/** A path at the baseline, as it is in the patch, and as it was last seen in the work tree. */
interface Touched {
  readonly base: FileState | null;
  readonly now: FileState | null;
  readonly seen: FileState | null;
}

/** What a ledger starts from. */
export interface LedgerStart {
  readonly includeForeign?: boolean;
  readonly setupChanges?: readonly PathChange[];
}

/**
 * The fold of all changes that tool calls made: for every touched path its state at the baseline and now.
 *
 * Only the model's own changes count towards the patch. Changes by verify commands or outside processes are in `unexplained`:
 * they are reported but stay out of the patch. `includeForeign` includes those made from outside.
 */
export class ChangeLedger {
  readonly includeForeign: boolean;
  readonly #touched = new Map<string, Touched>();
  readonly #unexplained = new Map<string, ChangeSource['by']>();
  /** Files that are not in the base and that a rule hides now. */
  readonly #hidden = new Set<string>();
  #history: CodeChange[];

  /** `setupChanges` were made before the first turn; they are part of the history and stay out of the patch. */
  constructor({ includeForeign = false, setupChanges = [] }: LedgerStart = {}) {
    this.includeForeign = includeForeign;
    this.#history = toCodeChanges(setupChanges, { by: 'setup' }, 0);
  }

  /** Adds one change. The ledger modifies its own maps, so a fold of events needs one ledger per run. */
  record(change: CodeChange): void {
    this.#history.push(change);
    if (change.excluded !== undefined) return;
    if (change.ignored === 'from_now') this.#hidden.add(change.path);
    else this.#hidden.delete(change.path);
    if (change.ignored === 'from_now') return;
    if (isTurned(change) && !this.#isOwn(change.path, change.before)) return;
    if (change.kind === 'rename' && change.from !== undefined) {
      this.#apply(change.from, change.before, null, change.source);
      this.#apply(change.path, null, change.after, change.source);
    } else {
      this.#apply(change.path, change.before, change.after, change.source);
    }
  }

  /**
   * Takes a change that the run does not explain into the baseline. A path the model has changed keeps the model's version,
   * and the change is reported as unexplained.
   */
  accept(change: PathChange, iteration: number): void {
    const { path } = change;
    if (this.hasChanged(path)) {
      for (const made of toCodeChanges([change], { by: 'outside' }, iteration)) this.record(made);
    } else {
      this.#touched.delete(path);
      this.#unexplained.delete(path);
      // What led to the old baseline is not part of what leads on from the new one.
      this.#history = this.#history.filter((made) => made.path !== path || made.from !== undefined);
    }
  }

  /** Whether the model's version of the path differs from the baseline. */
  hasChanged(path: string): boolean {
    const known = this.#touched.get(path);
    return known !== undefined && !sameState(known.base, known.now);
  }

  /** All changes recorded, from every source, in order; also those that are excluded from the patch. */
  get history(): readonly CodeChange[] {
    return this.#history;
  }

  /** Whether changes from this source are included in the patch. */
  takesIn(source: ChangeSource): boolean {
    return source.by === 'tool' || (source.by === 'outside' && this.includeForeign);
  }

  /**
   * Net changes of the model, sorted by path; a path that is back to its baseline is not among them, nor is a new file that a
   * rule hides.
   */
  net(): PathChange[] {
    return this.#differences().filter(({ path, before }) => before !== null || !this.#hidden.has(path));
  }

  /** New files of the model that are not in the patch, since a rule that came later hides them; sorted. */
  hidden(): string[] {
    return this.#differences().flatMap(({ path, before }) =>
      before === null && this.#hidden.has(path) ? [path] : [],
    );
  }

  #differences(): PathChange[] {
    const differences: PathChange[] = [];
    for (const [path, { base, now }] of this.#touched) {
      if (!sameState(base, now)) differences.push({ path, before: base, after: now });
    }
    return differences.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The model's version of the path is the one last seen there. */
  #isOwn(path: string, state: FileState | null): boolean {
    const known = this.#touched.get(path);
    return known !== undefined && sameState(known.now, state) && sameState(known.seen, state);
  }

  /**
   * Paths whose contents in the work tree were last seen to differ from those of the base with the patch, sorted. Of those that the
   * patch does not have, only what came from outside: verify commands would do the same again.
   */
  otherwise(): string[] {
    const patched = new Set(this.net().map(({ path }) => path));
    return [...this.#touched]
      .flatMap(([path, { now, seen }]) => {
        const counts = patched.has(path) || this.#unexplained.get(path) === 'outside';
        return counts && !sameState(seen, now) ? [path] : [];
      })
      .sort();
  }

  /** Paths whose last change was not the model's, sorted, with who changed them. */
  unexplained(): { path: string; by: ChangeSource['by'] }[] {
    return [...this.#unexplained]
      .map(([path, by]) => ({ path, by }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #apply(path: string, before: FileState | null, after: FileState | null, source: ChangeSource): void {
    const known = this.#touched.get(path);
    if (!this.takesIn(source)) {
      // The baseline is kept, so that a later edit by the model is not blamed for where this change started.
      this.#touched.set(path, { ...(known ?? { base: before, now: before }), seen: after });
      this.#unexplained.set(path, source.by);
      return;
    }
    this.#touched.set(path, { base: known ? known.base : before, now: after, seen: after });
    this.#unexplained.delete(path);
  }
}
