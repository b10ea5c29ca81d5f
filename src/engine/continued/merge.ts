/** A conflict of the pull request with its base: what the model is asked to resolve, and how the merge gets into the work tree. */

import { revertChanges } from '../../adapters/workspace/restore/restore.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import type { Environment } from '../../domain/environment.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { type ConflictKind, conflictHunks, conflictKind, markerCheck } from '../../domain/github/conflict.ts';
import type { FollowUp } from '../../domain/github/follow-up.ts';
import type { FollowUpAsk } from '../../domain/run/plan.ts';
import { listed } from '../../domain/text/words.ts';
import { readBlobs, sizesOf } from '../../git/store/blobs.ts';
import type { MergedTrees } from '../../git/store/merge-trees.ts';
import { treeDifferences } from '../../git/store/trees.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { type BesideCheckout, besideCheckout } from './local-merge.ts';

/** Maximum files of a conflict, bytes of one of them, and characters of it that the model is shown. */
const MAX_FILES = 20;
const MAX_BYTES = 1024 * 1024;
const MAX_HUNKS = 8_000;

/** What is to be merged. */
export interface MergeQuestion {
  /** The newest commit that both contain, the head of the pull request, and the commit that its base is at. */
  readonly before: string;
  readonly head: string;
  readonly base: { readonly branch: string; readonly sha: string };
  /** Whether the run may change a path, and whether publishing would refuse that. */
  readonly permits: (path: string) => boolean;
  readonly isProtected: (path: string) => boolean;
}

/** `check` is a command that fails until everything is resolved; null if there are no conflict markers. */
export type ConflictFound =
  | { status: 'none' }
  | { status: 'found'; asks: FollowUpAsk[]; check: string | null }
  | { status: 'refused'; why: string };

/** Whether the two conflict, and whether a model can resolve that. */
export async function conflictWithBase(
  beside: BesideCheckout,
  question: MergeQuestion,
): Promise<ConflictFound> {
  const { before, head, base } = question;
  const merged = await beside.merge(before, head, base.sha);
  if (merged.status === 'failed')
    return {
      status: 'refused',
      why: `${nameOf(base)} cannot be merged here: ${merged.message}. Check it out with the whole history (fetch-depth: 0), and run it again.`,
    };
  if (merged.conflicts.length === 0) return { status: 'none' };
  const found = await conflictedFiles(beside, head, merged);
  const why = whyNotResolvable(found, question);
  if (why !== null) return { status: 'refused', why };
  const inLines = found.filter(({ kind }) => kind === 'lines');
  return {
    status: 'found',
    asks: found.map(({ path, bytes, kind }) => ({
      tag: 'conflict',
      attributes: { path, ...(kind === 'lines' ? {} : { kind: `${kind}, changed on the other side` }) },
      text: kind === 'lines' ? conflictHunks(bytes?.toString('utf8') ?? '', MAX_HUNKS) : IN_WORK_TREE,
      remarks: [],
    })),
    check: inLines.length === 0 ? null : markerCheck(inLines.map(({ path }) => path)),
  };
}

/** A file as the merge left it; `kind` is null for a conflict that cannot be resolved as text. */
interface ConflictedFile {
  readonly path: string;
  readonly bytes: Buffer | null;
  readonly kind: ConflictKind | null;
}

async function conflictedFiles(
  beside: BesideCheckout,
  head: string,
  { tree, conflicts }: MergedTrees & { status: 'merged' },
): Promise<ConflictedFile[]> {
  const states = new Map(
    (await treeDifferences(beside.gitDir, head, tree)).map(({ path, after }) => [path, after]),
  );
  const mergedOf = (path: string, ours: { blob: string } | null) =>
    (states.has(path) ? states.get(path) : ours)?.blob ?? '';
  const ids = conflicts.map(({ path, ours }) => mergedOf(path, ours));
  const contents = await readBlobs(beside.gitDir, ids, () => MAX_BYTES);
  return conflicts.map((conflict) => {
    const { path, ours } = conflict;
    const bytes = contents.get(mergedOf(path, ours)) ?? null;
    return { path, bytes, kind: conflictKind(conflict, bytes) };
  });
}

/** Why the run does not try to resolve it; null if it does. */
function whyNotResolvable(
  found: readonly ConflictedFile[],
  { base, permits, isProtected }: MergeQuestion,
): string | null {
  const conflicts = `it conflicts with ${nameOf(base)} in`;
  const by = `Merge ${base.branch} into the branch yourself, and push it.`;
  const hopeless = found.filter(({ path, kind }) => kind === null || !isPlain(path));
  if (hopeless.length > 0)
    return `${conflicts} files that cannot be merged as text (binary, moved, too large, or of an odd name): ${namesOf(hopeless)}. ${by}`;
  const barred = found.filter(({ path }) => !permits(path));
  if (barred.length > 0)
    return `${conflicts} files that the plan and the settings do not allow to be changed: ${namesOf(barred)}. ${by}`;
  const guarded = found.filter(({ path }) => isProtected(path));
  if (guarded.length > 0)
    return `${conflicts} protected files, whose changes are not published: ${namesOf(guarded)}. ${by} Or let the run resolve them: name them with --accept-protected GLOB, for the run and for publish.`;
  return found.length > MAX_FILES
    ? `${conflicts} ${found.length} files, but a run gets at most ${MAX_FILES}. ${by}`
    : null;
}

function nameOf({ branch, sha }: MergeQuestion['base']): string {
  return `${branch} (${sha.slice(0, 8)})`;
}

const IN_WORK_TREE = 'The changed file is in the work tree.';

function namesOf(files: readonly { path: string }[]): string {
  return listed(
    files.map(({ path }) => path),
    10,
    'file',
  );
}

/** A name that can be used in a command line. */
function isPlain(path: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(path);
}

/** Where a merge is to be put. */
interface MergePlace {
  readonly facts: FollowUp & { readonly merge: string };
  /** Its baseline is that of the head, and is made that of the merge. */
  readonly workspace: Workspace;
  readonly shadowDir: string;
  readonly env: Environment;
}

/**
 * Puts the merge with its conflicts into the work tree, and into the baseline: the patch of the run is what it makes of the
 * merge. `takeBack` restores the head's files.
 */
export async function putMerge({
  facts,
  workspace,
  shadowDir,
  env,
}: MergePlace): Promise<Failed | { status: 'ok'; takeBack: () => Promise<void> }> {
  const { root } = workspace;
  if (workspace.base().dirty)
    return failed(
      `The work tree has uncommitted changes, and the merge of ${facts.base.branch} needs a clean one. Commit or stash them.`,
    );
  return besideCheckout(root, env, async ({ merge, gitDir }) => {
    const merged = await merge(facts.base.sha, facts.head, facts.merge);
    if (merged.status === 'failed') return merged;
    const wanted = await statesOf(gitDir, facts.head, merged.tree);
    const failure = await revertChanges({ root, shadowDir, objectsGitDir: gitDir }, wanted);
    // With a capture of `all` the work would begin, and setup commands are still to come.
    const changes = await workspace.capture('after_commands');
    const takeBack = async () => void (await workspace.putBack(changes, changes));
    await workspace.rebase(changes);
    if (failure === null && workspace.base().tree === merged.tree) return { status: 'ok', takeBack };
    const found = new Map(changes.map(({ path, after }) => [path, after?.blob]));
    const other = wanted.filter(({ path, before }) => found.get(path) !== before?.blob);
    await takeBack();
    const why = failure ?? `other contents in ${namesOf(other)}`;
    return failed(`The merge of ${facts.base.branch} cannot be put into the work tree: ${why}`);
  });
}

/** The differing paths with their states in `to`, to restore them. */
async function statesOf(gitDir: string, from: string, to: string): Promise<PathChange[]> {
  const found = await treeDifferences(gitDir, from, to);
  const sizes = await sizesOf(
    gitDir,
    found.flatMap(({ after }) => after?.blob ?? []),
  );
  return found.map(({ path, after }) => ({
    path,
    before: after && { ...after, size: sizes.get(after.blob) ?? 0 },
    after: null,
  }));
}
