/** Compares the results of a scan with the known states, updates these, and returns the changes. */

import { type FileState, type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import { quotedName } from '../../../domain/changes/path.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { sameStat } from '../../../files/stat.ts';
import type { BaselineIndex } from '../baseline/index/baseline-index.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';
import type { BaseStates } from './base-states.ts';
import { type ContentSources, type Taken, takeContents, type Wanted } from './content-store.ts';
import type { KnownFiles } from './file-states.ts';
import type { Looks } from './looks.ts';
import { hiddenChange, type IntoView, type RuleEffects } from './rule-effects.ts';
import type { Walked, WalkedTree } from './walked-tree.ts';

/** What a scan is compared with, and what stores the result. */
export interface ComparisonParts {
  readonly tree: WalkedTree;
  readonly index: BaselineIndex;
  readonly contents: ContentSources;
  readonly known: KnownFiles;
  readonly base: BaseStates;
  readonly effects: RuleEffects;
  readonly looks: Looks;
}

/** Updates the known states after each scan. */
export class Comparison {
  readonly #parts: ComparisonParts;
  /** Files and folders that the last look could not read. */
  #unreadable: ReadonlySet<string> = new Set();
  #hidden: readonly string[] = [];
  /** Files that came into view in the last scan. */
  #shown: ReadonlySet<string> = new Set();

  constructor(parts: ComparisonParts) {
    this.#parts = parts;
  }

  get unreadable(): ReadonlySet<string> {
    return this.#unreadable;
  }

  /** Files that existed when last seen and that the last full look could not examine, sorted. */
  get hidden(): readonly string[] {
    return this.#hidden;
  }

  /** Updates what is known about the walked part and returns the differences. `clock`: the file system's time before the look, in ns. */
  async take(walked: Walked, clock: bigint): Promise<PathChange[]> {
    const { contents, known, effects } = this.#parts;
    const isNew = (path: string) => known.stateOf(path) === null;
    const view = await effects.intoView(walked, isNew);
    this.#shown = view.shown;
    const wanted = this.#wantedOf(walked, view);
    const taken = wanted.length > 0 ? await takeContents(wanted, contents) : new Map<string, Taken>();
    await this.#keepUnchanged(wanted, taken);
    const changes = this.#takeOver(wanted, taken, clock);
    const isUnreadable = ({ path }: Wanted) => taken.get(path)?.status === 'unreadable';
    this.#noteUnreadable(walked, wanted.filter(isUnreadable));
    const missing = this.#missing(walked, taken);
    return [...changes, ...(await this.#withHidden(missing))];
  }

  /** Files whose content has to be read, since their stat is not the known one. */
  #wantedOf({ files }: Walked, { left }: IntoView): Wanted[] {
    const { index, known } = this.#parts;
    const wanted: Wanted[] = [];
    for (const [path, stat] of files) {
      if (left.has(path)) continue;
      const found = known.get(path);
      if (found?.stat && sameStat(found.stat, stat)) continue;
      const before = known.stateOf(path);
      wanted.push({ path, stat, before, inIndex: index.entries.get(path)?.blob ?? null });
    }
    // Files that existed before come first, so that many new files cannot hide what happened to them.
    return wanted.sort((a, b) => Number(a.before === null) - Number(b.before === null));
  }

  /**
   * New attributes apply to files that the run has changed. A file with its original bytes keeps its state, as in git, which does
   * not reread it.
   */
  async #keepUnchanged(wanted: readonly Wanted[], taken: Map<string, Taken>): Promise<void> {
    const { contents, tree, base } = this.#parts;
    if (tree.rules.attributesGeneration === 0) return;
    const doubtful = wanted.filter(({ path }) => {
      const one = taken.get(path);
      const atStart = base.stateOf(path);
      return one?.status === 'ok' && one.kind === 'file' && atStart !== null && atStart.blob !== one.blob;
    });
    if (doubtful.length === 0) return;
    const conversions = (paths: readonly string[]) => tree.rules.conversionsAtStart(paths);
    const asAtStart = await takeContents(doubtful, { ...contents, budget: NO_BUDGET, conversions });
    for (const [path, one] of asAtStart) {
      const atStart = base.stateOf(path);
      if (one.status !== 'ok' || one.blob !== atStart?.blob) continue;
      // Sizes of a base that was read from its tree are not those in the work tree.
      if (!base.isRecalled && one.size !== atStart.size) continue;
      taken.set(path, one);
    }
  }

  /** Everything that was read counts as known from now on. */
  #takeOver(wanted: readonly Wanted[], taken: ReadonlyMap<string, Taken>, clock: bigint): PathChange[] {
    const { known, effects } = this.#parts;
    const changes: PathChange[] = [];
    for (const { path } of wanted) {
      const one = taken.get(path);
      if (one?.status !== 'ok') continue;
      const raw = one.raw === undefined ? {} : { raw: one.raw };
      const state: FileState = { mode: known.modeOf(path, one), blob: one.blob, size: one.size, ...raw };
      const before = known.stateOf(path);
      known.set(path, { state, stat: one.stat && one.stat.ctimeNs < clock ? one.stat : null });
      const ignored =
        this.#shown.has(path) && effects.mayHaveBeen(path) ? { ignored: 'until_now' as const } : {};
      if (!sameOnDisk(before, state)) changes.push({ path, before, after: state, ...ignored });
    }
    return changes;
  }

  #noteUnreadable(walked: Walked, besides: readonly Wanted[]): void {
    const { contents, known, tree } = this.#parts;
    const unreadable = new Set([...walked.unreadable, ...besides.map(({ path }) => path)]);
    this.#unreadable = unreadable;
    for (const path of unreadable)
      contents.warn(
        warning('WARN_UNREADABLE', `${quotedName(path)} cannot be read and counts as unchanged.`),
      );
    if (walked.scope !== '') return;
    const closed = new Set([...unreadable].filter((path) => !tree.closed.isAsFound(path)));
    this.#hidden = closed.size === 0 ? [] : known.present().filter((path) => isWithinAny(closed, path));
  }

  /** Known files that the look did not find. */
  #missing(walked: Walked, taken: ReadonlyMap<string, Taken>): PathChange[] {
    const isThere = (path: string) =>
      walked.isUnchanged(path) || (walked.files.has(path) && taken.get(path)?.status !== 'absent');
    return this.#parts.known.updateMissing(
      walked,
      (path) => isThere(path) || isWithinAny(this.#unreadable, path),
    );
  }

  /** A file that git no longer sees is gone, or a rule hides it. */
  async #withHidden(missing: readonly PathChange[]): Promise<readonly PathChange[]> {
    const { looks, effects } = this.#parts;
    if (missing.length === 0 || !looks.hasNewRules) return missing;
    const gone = missing.flatMap(({ path, after }) => (after === null ? [path] : []));
    const hidden = await effects.outOfView(gone);
    return missing.map((change) =>
      hidden.has(change.path) ? hiddenChange(change.path, change.before) : change,
    );
  }
}

/** For what has been counted. */
const NO_BUDGET = { fits: () => true, count: () => true };

/** Whether the path or a folder that contains it is one of these. */
function isWithinAny(places: ReadonlySet<string>, path: string): boolean {
  return places.size > 0 && [path, ...foldersOf(path), ''].some((place) => places.has(place));
}
