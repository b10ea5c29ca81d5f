/**
 * What happened to files: single changes as they were made.
 *
 * Paths are relative to the repository root, with `/`. Bytes of a name that are not UTF-8 are written as lone surrogates
 * U+DC80 … U+DCFF (one per byte), so that every file name survives a round trip through a string.
 */

import * as z from 'zod';
import { staysBelowRoot } from './path.ts';

/** An id of a git object. It is used in git's command lines and input, so its form is checked strictly. */
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
  /** A file that was read, and that only its owner may read; undo makes it private again. */
  isPrivate: z.literal(true).optional(),
});
export type FileState = z.infer<typeof FileState>;

/**
 * How ignore rules affect a changed path; absent for a file that git sees. `until_now`: a rule that hid the path is gone, so that
 * `before` null does not mean that there was no file. `from_now`: a new rule hides the file, which stays where it is.
 */
export const Ignored = z.enum(['until_now', 'from_now']);
export type Ignored = z.infer<typeof Ignored>;

/**
 * Why a change is left out of the patch. `ignored`: git ignores the path; `before` is null with the kind `modify` if the
 * earlier content is unknown. `identical`: the file was written, or changed and restored, and has its original content.
 * `put_back`: the path is protected, and the runner restored it at once.
 */
export const Excluded = z.enum(['ignored', 'identical', 'put_back']);
export type Excluded = z.infer<typeof Excluded>;

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

/** A single change of one file. A rename has `from`; its `before` is the state of the old path. */
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
  /** The change is recorded, and kept out of the patch, of blame and of what a resumed or replayed run applies. */
  excluded: Excluded.optional(),
});
export type CodeChange = z.infer<typeof CodeChange>;

/** A change as a look or a write found it. `kind` is left out where it follows from the states. */
export interface FoundChange extends PathChange {
  readonly kind?: ChangeKind;
  readonly excluded?: Excluded;
}

/** Turns observed path changes into code changes: a deletion and a creation of the same blob are one rename. */
export function toCodeChanges(
  changes: readonly FoundChange[],
  source: ChangeSource,
  iteration: number,
): CodeChange[] {
  const deletedByBlob = new Map<string, PathChange[]>();
  for (const change of changes) {
    if (change.before && !change.after && change.before.size > 0 && !change.excluded) {
      const same = deletedByBlob.get(change.before.blob);
      if (same) same.push(change);
      else deletedByBlob.set(change.before.blob, [change]);
    }
  }
  const renamedAway = new Set<string>();
  const made: CodeChange[] = [];
  for (const change of changes) {
    // Where a hidden file came from is not known.
    if (change.before || !change.after || change.ignored || change.excluded) continue;
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
    made.push({ ...change, kind: change.kind ?? kindOf(change), source, iteration });
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

/** Git stores the same bytes differently than before, because other attributes apply. */
export function isTurned({ before, after }: Pick<PathChange, 'before' | 'after'>): boolean {
  if (before === null || after === null || before.mode !== after.mode) return false;
  return before.blob !== after.blob && sameBytes(before, after);
}

/** Compares the bytes in the work tree as well: git considers files equal that differ only in line endings. */
export function sameOnDisk(a: FileState | null, b: FileState | null): boolean {
  return sameState(a, b) && a?.size === b?.size && (a?.raw ?? b?.raw) === (b?.raw ?? a?.raw);
}

/** A file of the final patch, as git's rename detection sees it. Line counts are null for binary files. */
export const ChangedFile = z.strictObject({
  path: z.string(),
  kind: ChangeKind,
  from: z.string().optional().describe('The old path of a rename'),
  additions: z.int().nullable().describe('Lines added; null for a binary file'),
  deletions: z.int().nullable().describe('Lines removed; null for a binary file'),
});
export type ChangedFile = z.infer<typeof ChangedFile>;

/**
 * Puts deletions first, so that a file can replace a folder and a folder a file; otherwise keeps the order. `stateOf`
 * returns the new state of an item, null for a deletion.
 */
export function deletionsFirst<Item>(items: readonly Item[], stateOf: (item: Item) => object | null): Item[] {
  const isDeletion = (item: Item) => stateOf(item) === null;
  return [...items.filter(isDeletion), ...items.filter((item) => !isDeletion(item))];
}

/**
 * For each path of the patch at that time, the state in which the verify commands left it too; `otherwise` for a path that was in
 * another state than the base with the patch has.
 */
export type VerifiedPatch = ReadonlyMap<string, FileState | null | 'otherwise'>;

/** `otherwise`: paths that differed from the base with `net` once the commands had ended. */
export function verifiedPatch(net: readonly PathChange[], otherwise: readonly string[]): VerifiedPatch {
  const verified: [string, FileState | null | 'otherwise'][] = net.map(({ path, after }) => [path, after]);
  return new Map([...verified, ...otherwise.map((path) => [path, 'otherwise'] as const)]);
}

/** Paths that the verify commands saw with other contents than the base with the patch has, sorted. Null: nothing was verified. */
export function unverifiedPaths(verified: VerifiedPatch | null, net: readonly PathChange[]): string[] {
  if (verified === null) return [];
  const now = new Map(net.map(({ path, after }) => [path, after]));
  const isAsVerified = (path: string) => {
    const state = verified.get(path);
    const after = now.get(path);
    return state !== undefined && state !== 'otherwise' && after !== undefined && sameState(state, after);
  };
  return [...new Set([...verified.keys(), ...now.keys()])].filter((path) => !isAsVerified(path)).sort();
}
