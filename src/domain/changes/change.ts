/**
 * What happened to files: single changes as they were made, and the ledger that folds them into the net change.
 *
 * Paths are relative to the repository root, with `/`. Bytes of a name that are not UTF-8 are written as lone surrogates
 * U+DC80 … U+DCFF (one per byte), so that every file name survives a round trip through a string.
 */

import * as z from 'zod';
import { staysBelowRoot } from './path.ts';

/** An id of a git object. It is put into git's command lines and input, so the form is checked strictly. */
export const ObjectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'not an id of a git object');

const ChangedPath = z.string().refine(staysBelowRoot, 'not a path below the root');

/** Git's file modes: regular, executable, symbolic link, nested repository. */
export const FileMode = z.enum(['100644', '100755', '120000', '160000']);
export type FileMode = z.infer<typeof FileMode>;

/**
 * A file at one moment: `blob` is git's object id (hex), `size` its bytes in the work tree. A size of 0 with a blob that is
 * not empty means a path without a file, as in a sparse checkout.
 */
export const FileState = z.strictObject({
  mode: FileMode,
  blob: ObjectId,
  size: z.int().nonnegative(),
  /**
   * Blob of the exact bytes in the work tree, when they were read and git would store different ones (line endings,
   * encodings).
   */
  raw: ObjectId.optional(),
});
export type FileState = z.infer<typeof FileState>;

/**
 * How ignore rules stand to a change; left out for a file that git sees. `until_now`: a rule that hid the path is gone, so that
 * `before` null does not mean that there was no file. `from_now`: a new rule hides the file, which stays where it is.
 */
export const Ignored = z.enum(['until_now', 'from_now']);
export type Ignored = z.infer<typeof Ignored>;

/** One path at two moments; null means absent. */
export const PathChange = z.strictObject({
  path: ChangedPath,
  before: FileState.nullable(),
  after: FileState.nullable(),
  ignored: Ignored.optional(),
});
export type PathChange = z.infer<typeof PathChange>;

/**
 * Who changed a file: tool calls of the model, commands of the runner before the first turn (`setup`) or after the work
 * (`verify`), or something that no call explains.
 */
export const ChangeSource = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('tool'), tool: z.string(), calls: z.array(z.string()).min(1) }),
  z.strictObject({ by: z.literal('setup') }),
  z.strictObject({ by: z.literal('verify') }),
  z.strictObject({ by: z.literal('outside') }),
]);
export type ChangeSource = z.infer<typeof ChangeSource>;

/** What happened to a path. */
export const ChangeKind = z.enum(['create', 'modify', 'delete', 'rename', 'mode']);
export type ChangeKind = z.infer<typeof ChangeKind>;

/** A change of one file as it was made. A rename has `from`; its `before` is the state of the old path. */
export const CodeChange = z.strictObject({
  path: ChangedPath,
  kind: ChangeKind,
  from: ChangedPath.optional(),
  before: FileState.nullable(),
  after: FileState.nullable(),
  source: ChangeSource,
  /** The model turn, counted from 1; 0 is before the first. */
  iteration: z.int().nonnegative(),
  ignored: Ignored.optional(),
});
export type CodeChange = z.infer<typeof CodeChange>;

/** Turns observed path changes into code changes: a deletion and a creation of the same blob are one rename. */
export function toCodeChanges(
  changes: readonly PathChange[],
  source: ChangeSource,
  iteration: number,
): CodeChange[] {
  const deletedByBlob = new Map<string, PathChange[]>();
  for (const change of changes) {
    if (change.before && !change.after && change.before.size > 0) {
      const same = deletedByBlob.get(change.before.blob);
      if (same) same.push(change);
      else deletedByBlob.set(change.before.blob, [change]);
    }
  }
  const renamedAway = new Set<string>();
  const made: CodeChange[] = [];
  for (const change of changes) {
    // Of a file that was hidden nobody knows where it came from.
    if (change.before || !change.after || change.ignored) continue;
    const origin = deletedByBlob.get(change.after.blob)?.shift();
    if (!origin) continue;
    renamedAway.add(origin.path);
    renamedAway.add(change.path);
    made.push({
      path: change.path,
      kind: 'rename',
      from: origin.path,
      before: origin.before,
      after: change.after,
      source,
      iteration,
    });
  }
  for (const change of changes) {
    if (renamedAway.has(change.path)) continue;
    made.push({ ...change, kind: kindOf(change), source, iteration });
  }
  return made;
}

function kindOf(change: PathChange): ChangeKind {
  if (!change.before) return 'create';
  if (!change.after) return 'delete';
  return change.before.mode !== change.after.mode && change.before.blob === change.after.blob
    ? 'mode'
    : 'modify';
}

/** Whether two states are the same file with the same mode and contents; null is no file. */
export function sameState(a: FileState | null, b: FileState | null): boolean {
  return a === b || (a !== null && b !== null && a.mode === b.mode && a.blob === b.blob);
}

/** The same bytes in the work tree, whatever git keeps of them. */
function sameBytes(a: FileState, b: FileState): boolean {
  return (a.raw ?? a.blob) === (b.raw ?? b.blob);
}

/** Git keeps the same bytes in another way than before, since other attributes hold. */
export function isTurned({ before, after }: Pick<PathChange, 'before' | 'after'>): boolean {
  return before !== null && after !== null && before.blob !== after.blob && sameBytes(before, after);
}

/** Compares the bytes in the work tree as well: git considers files equal that differ only in line endings. */
export function sameOnDisk(a: FileState | null, b: FileState | null): boolean {
  return sameState(a, b) && a?.size === b?.size && (a?.raw ?? b?.raw) === (b?.raw ?? a?.raw);
}

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
 * Only the model's own changes count towards the patch. Changes by verify commands or outside processes are kept in
 * `unexplained`, so that they can be reported but stay out of the patch; `includeForeign` includes those made from outside.
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

  /** All changes recorded, from every source, in order. */
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

  /** What the model made of the path is what was last seen there. */
  #isOwn(path: string, state: FileState | null): boolean {
    const known = this.#touched.get(path);
    return known !== undefined && sameState(known.now, state) && sameState(known.seen, state);
  }

  /** Paths of the patch whose contents in the work tree were last seen to differ from the patch. */
  otherwise(): string[] {
    return this.net().flatMap(({ path, after }) =>
      sameState(this.#touched.get(path)?.seen ?? null, after) ? [] : [path],
    );
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
