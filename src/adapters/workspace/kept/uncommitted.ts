/**
 * What a run starts from, the tree of the files as they are, and those that are not in its commit: uncommitted or untracked. At its end,
 * the objects are reduced to those that undo, blame and replay need and that the repository does not have.
 */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState, PathChange } from '../../../domain/changes/change.ts';
import type { BaseRevision } from '../../../domain/run/events.ts';
import type { Checkout } from '../../../git/checkout-layout.ts';
import { askIn, runIn } from '../../../git/git.ts';
import { EMPTY_TREE } from '../../../git/revision.ts';
import { sizesOf } from '../../../git/store/blobs.ts';
import { ScratchIndex, type TreeEdit, treeDifferences } from '../../../git/store/trees.ts';
import type { UncommittedPatch } from '../../../ports/workspace.ts';
import { makeTreePatch } from '../patch.ts';
import { START_INDEX } from '../tree/start-index.ts';
import { pack } from './base-copy.ts';

/** The largest uncommitted file that a run directory keeps although the run did not change it. */
const MAX_KEPT_FILE_BYTES = 8 * 1024 * 1024;

/** The most bytes of such files together; the smallest are kept first. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** A path that differs between commit and base. */
export interface UncommittedFile {
  readonly path: string;
  /** Its state in the commit, or null. */
  readonly committed: TreeEdit['state'];
  /** Blob in the base; null where the file had been deleted, and for a submodule. */
  readonly blob: string | null;
  /** Bytes of that blob; 0 without one. */
  readonly size: number;
}

/** The tree of the base's commit, or the empty tree if there are no commits; null if the repository does not have the commit. */
export async function committedTree(
  shadowDir: string,
  base: Pick<BaseRevision, 'commit' | 'objectFormat'>,
): Promise<string | null> {
  if (base.commit === null) return EMPTY_TREE[base.objectFormat];
  const answer = await askIn(shadowDir, ['rev-parse', '--verify', '--quiet', `${base.commit}^{tree}`]);
  return answer.exitCode === 0 ? answer.stdout.toString('latin1').trim() : null;
}

/** The base of a run. `edits` are the paths where the work tree differs from the index. */
export async function baseRevision(
  { head: { commit, branchRef }, headTree, objectFormat }: Checkout,
  shadowDir: string,
  edits: ReadonlyMap<string, FileState | null>,
): Promise<BaseRevision> {
  const scratch = new ScratchIndex(shadowDir, 'base.index');
  scratch.copy(START_INDEX, objectFormat);
  const [tree, head] = await Promise.all([
    scratch.editedTree([...edits].map(([path, state]) => ({ path, state }))),
    headTree ?? committedTree(shadowDir, { commit, objectFormat }),
  ]);
  const branch = branchRef === null ? null : branchRef.replace(/^refs\/heads\//, '');
  if (head === null) throw new Error(`The repository has no commit ${commit}.`);
  return { commit, branch, objectFormat, tree, dirty: tree !== head };
}

/** `committed` and `tree` are trees of the repository at `shadowDir`. */
export async function uncommittedFiles(
  shadowDir: string,
  committed: string,
  tree: string,
): Promise<UncommittedFile[]> {
  const found = (await treeDifferences(shadowDir, committed, tree)).map(({ path, before, after }) => ({
    path,
    committed: before,
    blob: after === null || after.mode === SUBMODULE ? null : after.blob,
  }));
  const sizes = await sizesOf(
    shadowDir,
    found.flatMap(({ blob }) => blob ?? []),
  );
  return found.map((file) => ({ ...file, size: sizes.get(file.blob ?? '') ?? 0 }));
}

/** Those of the files that fit into the bounds, smallest first; `isNeeded` are kept whatever their size. */
export function withinBounds<T extends { readonly size: number }>(
  files: readonly T[],
  isNeeded: (file: T) => boolean,
): Set<T> {
  const kept = new Set(files.filter(isNeeded));
  let bytes = 0;
  for (const file of [...files].sort((a, b) => a.size - b.size)) {
    if (kept.has(file)) continue;
    bytes += file.size;
    if (file.size > MAX_KEPT_FILE_BYTES || bytes > MAX_KEPT_BYTES) break;
    kept.add(file);
  }
  return kept;
}

const SUBMODULE = '160000';

/** Those files as a patch of the commit, without large files that `net`, the changes of the run, does not touch: its patch applies without them. */
export async function makeUncommittedPatch(
  shadowDir: string,
  base: BaseRevision,
  net: readonly PathChange[],
): Promise<UncommittedPatch> {
  const committed = await committedTree(shadowDir, base);
  if (committed === null)
    return { status: 'failed', message: `The commit ${base.commit} is not there any more.` };
  const files = await uncommittedFiles(shadowDir, committed, base.tree);
  const touched = new Set(net.map(({ path }) => path));
  const kept = withinBounds(files, ({ path }) => touched.has(path));
  const left = files.filter((file) => !kept.has(file));
  const tree = left.length === 0 ? base.tree : await treeWithout(shadowDir, base.tree, left);
  const made = await makeTreePatch(shadowDir, committed, tree);
  return made.status === 'failed' ? made : { ...made, leftOut: left.map(({ path }) => path) };
}

async function treeWithout(
  shadowDir: string,
  tree: string,
  left: readonly UncommittedFile[],
): Promise<string> {
  const index = new ScratchIndex(shadowDir, 'uncommitted.index');
  await index.readTree(tree);
  return index.editedTree(left.map(({ path, committed }) => ({ path, state: committed })));
}

/** A run that has ended. */
export interface EndedRun {
  readonly shadowDir: string;
  readonly base: BaseRevision;
  /** Everything that it has recorded. */
  readonly changes: readonly PathChange[];
  /** All objects of the base are in one separate pack. */
  readonly hasWholeBase: boolean;
}

/**
 * Takes in what recorded changes began with, and uncommitted files of the base as far as they fit into the bounds; drops
 * larger ones that did not change, and the indexes that only a running run needs. Null on success, otherwise the reason.
 */
export async function keepEssentials(run: EndedRun): Promise<string | null> {
  const { shadowDir, base, changes, hasWholeBase } = run;
  for (const name of readdirSync(shadowDir))
    if (name.endsWith('.index') && name !== KEPT_INDEX) rmSync(join(shadowDir, name), { force: true });
  const recorded = recordedBlobs(changes);
  const committed = base.dirty ? await committedTree(shadowDir, base) : null;
  const files = committed === null ? [] : await uncommittedFiles(shadowDir, committed, base.tree);
  const isRecorded = ({ blob }: { blob: string | null }) => blob !== null && recorded.has(blob);
  const kept = withinBounds(files, isRecorded);
  const loose = (id: string) => join(shadowDir, 'objects', id.slice(0, 2), id.slice(2));
  const isBorrowed = (id: string) => !existsSync(loose(id));
  const keptBlobs = new Set([...kept].flatMap(({ blob }) => blob ?? []));
  if (!hasWholeBase) {
    const trees = committed === null ? [] : await treesOf(shadowDir, base.tree, committed);
    const wanted = [...(await smallOf(shadowDir, [...recorded].filter(isBorrowed))), ...keptBlobs, ...trees];
    const borrowed = new Set(wanted.filter(isBorrowed));
    const why = borrowed.size === 0 ? null : await pack(shadowDir, shadowDir, [...borrowed]);
    if (why !== null) return why;
  }
  for (const { blob } of files) {
    if (blob === null || recorded.has(blob) || (!hasWholeBase && keptBlobs.has(blob))) continue;
    rmSync(loose(blob), { force: true });
  }
  return null;
}

/** A run that is resumed looks at the work tree with the index of its start. */
const KEPT_INDEX = 'start.index';

function recordedBlobs(changes: readonly PathChange[]): Set<string> {
  const states = changes.flatMap(({ before, after }) => [before, after]);
  return new Set(
    states.flatMap((state) =>
      state === null || state.mode === '160000'
        ? []
        : [state.blob, ...(state.raw === undefined ? [] : [state.raw])],
    ),
  );
}

/** Those that fit into the bounds; the others are in the repository. */
async function smallOf(shadowDir: string, ids: readonly string[]): Promise<string[]> {
  const sized = [...(await sizesOf(shadowDir, ids))].map(([id, size]) => ({ id, size }));
  return [...withinBounds(sized, () => false)].map(({ id }) => id);
}

/** The trees that the commit does not have. */
async function treesOf(shadowDir: string, tree: string, committed: string): Promise<string[]> {
  const args = ['rev-list', '--objects', '--no-object-names', '--filter=blob:none', tree, `^${committed}`];
  const listed = await runIn(shadowDir, args);
  return listed
    .toString('latin1')
    .split('\n')
    .filter((id) => id !== '');
}
