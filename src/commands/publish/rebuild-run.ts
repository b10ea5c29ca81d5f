/** The run's patch on the base as it is now, proven and reviewed again: trees in a clone, no checkout. */

import type { Clone } from '../../adapters/github/clone.ts';
import { foldersOf } from '../../domain/changes/path.ts';
import { pathMatcher } from '../../domain/changes/path-policy.ts';
import { isBinary } from '../../domain/github/conflict.ts';
import { flagLines } from '../../domain/report/result-lines.ts';
import { repositoriesInTree } from '../../domain/review/git-folder.ts';
import { noChange, policyViolation, publishFailed } from '../../domain/run/outcome.ts';
import { listed, sentence } from '../../domain/text/words.ts';
import { repositoriesReason, withheldReason } from '../../engine/finish/result.ts';
import { scanContents } from '../../engine/finish/review.ts';
import { readBlobs, sizesOf } from '../../git/store/blobs.ts';
import { mergeTrees } from '../../git/store/merge-trees.ts';
import {
  pathsOfTree,
  ScratchIndex,
  type TreeDifference,
  treeDifferences,
  treeEntries,
} from '../../git/store/trees.ts';
import type { PublishJob } from './job.ts';
import { stop } from './place.ts';
import type { CheckedPatch } from './read-run.ts';

/** The trees of a patch, which the clone has. */
export interface PatchTrees {
  /** The one that the run began with. */
  readonly began: string;
  /** The one to publish on, and its name for people. */
  readonly now: string;
  readonly name: string;
}

/** Maximum bytes of the changed contents, before and after together: a small patch can claim to make content of any size. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** Larger contents of a conflict are not looked at. */
const MAX_TEXT_BYTES = 2 * 1024 * 1024;

const DIFF = ['diff-tree', '-p', '--binary', '--full-index', '--no-color', '--no-ext-diff', '--no-textconv'];

/** Maximum single allocation of the git that applies the patch. */
const ENV = { GIT_ALLOC_LIMIT: '256m' };

/**
 * Applies the patch to what the run began with, which must give the tree that the run has proven, and merges that with today's
 * base. What comes out is checked as it is: the patch is not trusted to say what it does. Nothing new is refused, unless it is a merge.
 * The clone has the tree that this gives.
 */
export async function rebuildRun(
  job: PublishJob,
  clone: Clone,
  patch: CheckedPatch,
  trees: PatchTrees,
): Promise<string> {
  const { result, publication, findKnown, settings, say } = job;
  const proven = await provenTree(job, clone, patch, trees.began);
  const merged = await onBase(job, clone, trees, proven);
  const changes = await treeDifferences(clone.gitDir, trees.now, merged);
  const named = new Set(patch.files.flatMap(({ path, from }) => [path, from]));
  const why = 'the base has moved what the patch changes to it';
  const strays = changes.flatMap(({ path }) => (named.has(path) ? [] : [{ path, why }]));
  if (strays.length > 0) conflicting(job, trees, strays);

  const there = changes.flatMap(({ before }) => contentOf(before));
  const coming = changes.flatMap(({ after }) => contentOf(after));
  await clone.fetchContents(there);
  const sizes = await sizesOf(clone.gitDir, [...there, ...coming]);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (total > MAX_TOTAL_BYTES) broken(`its contents come to more than ${MAX_TOTAL_BYTES} bytes`);
  const sized = (state: TreeDifference['after']) => state && { ...state, size: sizes.get(state.blob) ?? 0 };
  const changed = new Set(changes.map(({ path }) => path));
  const review = await scanContents({
    files: result.changedFiles.filter(({ path }) => changed.has(path)),
    net: changes.map(({ path, before, after }) => ({ path, before: sized(before), after: sized(after) })),
    read: (ids, maxBytes) => readBlobs(clone.gitDir, ids, maxBytes),
    principles: result.principles.map(({ path }) => path),
    findKnown,
  });
  const isAccepted = pathMatcher(settings.acceptSecrets);
  const repositories = repositoriesInTree(changed, await pathsOfTree(clone.gitDir, merged));
  const withheld =
    repositoriesReason(repositories) ??
    withheldReason(review.secrets.filter(({ path }) => !isAccepted(path)));
  if (withheld !== null) stop(policyViolation(withheld.code, withheld.reason));

  publication.flags = review.flags;
  const made = new Map(
    (await treeDifferences(clone.gitDir, trees.began, proven)).map(({ path, after }) => [path, after?.blob]),
  );
  const both = changes.filter(({ path, after }) => made.get(path) !== after?.blob).map(({ path }) => path);
  publication.merged = both;
  for (const line of flagLines(review.flags)) say(line);
  if (both.length > 0) say(`merged with changes of ${trees.name}: ${both.join(', ')}`);
  const isMerge = (result.followUp?.merge ?? null) !== null;
  if (settings.fallback === 'issue' && !isMerge)
    job.made.patch = await clone.run([...DIFF, trees.now, merged]);
  // A merge that is kept as it is has both parents to tell.
  if (merged === trees.now && !isMerge) stop(noChange(`${trees.name} already contains the whole patch.`));
  return merged;
}

/**
 * The tree that the patch makes of the one that the run began with, which has to be the one that the run names; what is left out
 * of it is as it was.
 */
async function provenTree(
  job: PublishJob,
  clone: Clone,
  patch: CheckedPatch,
  began: string,
): Promise<string> {
  const all = [...patch.files, ...patch.excluded];
  const old = new Set(all.flatMap(({ path, from, before }) => (before ? [from ?? path] : [])));
  const entries = (await treeEntries(clone.gitDir, began)) ?? [];
  const wanted = entries.filter(({ path, mode }) => mode !== '160000' && old.has(path));
  await clone.fetchContents(wanted.map(({ id }) => id));
  const index = new ScratchIndex(clone.gitDir, 'patch.index', ENV);
  await index.readTree(began);
  // git refuses a patch without content.
  const { tree, stderr } =
    patch.bytes.length === 0
      ? { tree: await index.editedTree([]), stderr: '' }
      : await index.appliedTree(patch.bytes);
  if (tree === null) return broken(`git does not apply it: ${stderr || 'it did not say why'}`);
  if (tree !== job.result.treeSha)
    broken(
      `it makes the tree ${tree} of the run's own base, and the result says ${job.result.treeSha}: it is not the patch that the run proved`,
    );
  if (patch.excluded.length === 0) return tree;
  const before = new Map(entries.map(({ path, mode, id: blob }) => [path, { mode, blob }]));
  const back = patch.excluded.flatMap(({ path, from }) => (from === null ? [path] : [path, from]));
  const kept = patch.files.flatMap(({ path, after }) => (after ? [path] : []));
  const folders = new Set(kept.flatMap((path) => [...foldersOf(path)]));
  const isBlocked = (path: string) =>
    folders.has(path) || [...foldersOf(path)].some((one) => kept.includes(one));
  const blocked = back.find((path) => before.has(path) && isBlocked(path));
  if (blocked !== undefined) broken(`without ${blocked} (--exclude) the rest of it does not fit`);
  return index.editedTree(back.map((path) => ({ path, state: before.get(path) ?? null })));
}

async function onBase(job: PublishJob, clone: Clone, trees: PatchTrees, proven: string): Promise<string> {
  const { began, now } = trees;
  if (now === began) return proven;
  const merged = await mergeTrees(clone.gitDir, { before: began, ours: now, theirs: proven }, clone.network);
  if (merged.status === 'failed') return stop(publishFailed('ERR_COMMIT_NOT_MADE', sentence(merged.message)));
  if (merged.conflicts.length === 0) return merged.tree;
  const sides = merged.conflicts.flatMap(({ ours }) => contentOf(ours));
  const contents = await clone.contents(sides, MAX_TEXT_BYTES);
  return conflicting(
    job,
    trees,
    merged.conflicts.map(({ path, before, ours, theirs }) => ({
      path,
      why:
        ours === null
          ? 'it is gone'
          : before === null
            ? 'another file was created there since'
            : theirs === null || [before, ours, theirs].some(({ mode }) => !mode.startsWith('100'))
              ? 'it has changed since'
              : isBinary(contents.get(ours.blob) ?? Buffer.alloc(0))
                ? 'both sides changed it, and it is binary'
                : 'both sides changed the same lines',
    })),
  );
}

function conflicting(
  job: PublishJob,
  { name }: PatchTrees,
  files: readonly { path: string; why: string }[],
): never {
  job.publication.conflicts = [...files];
  const named = files.map(({ path, why }) => `${path} (${why})`);
  stop(
    publishFailed(
      'ERR_PATCH_CONFLICT',
      `The patch does not fit onto ${name}: ${listed(named, 10, 'file')}. Run the plan again on the current base.`,
    ),
  );
}

function broken(why: string): never {
  stop(publishFailed('ERR_PATCH_BROKEN', sentence(`The patch cannot be trusted: ${why}`)));
}

/** Submodules have no content here. */
function contentOf(state: { readonly mode: string; readonly blob: string } | null): string[] {
  return state === null || state.mode === '160000' ? [] : [state.blob];
}
