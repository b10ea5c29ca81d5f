/** The run's patch on the base as it is now, proven and reviewed again: trees in a clone, no checkout. */

import type { Clone } from '../../adapters/github/clone.ts';
import type { ChangedFile } from '../../domain/changes/change.ts';
import { foldersOf } from '../../domain/changes/path.ts';
import { pathMatcher } from '../../domain/changes/path-policy.ts';
import { flagLines } from '../../domain/report/result-lines.ts';
import { repositoriesInTree } from '../../domain/review/git-folder.ts';
import { noChange, policyViolation, publishFailed } from '../../domain/run/outcome.ts';
import type { PathRules } from '../../domain/run/plan.ts';
import { redactedStrings } from '../../domain/secrets/redact.ts';
import { listed, sentence } from '../../domain/text/words.ts';
import { warning } from '../../domain/warnings/warning.ts';
import { scanContents } from '../../engine/finish/review.ts';
import { readBlobs, sizesOf } from '../../git/store/blobs.ts';
import { mergeTrees } from '../../git/store/merge-trees.ts';
import {
  changedFilesBetween,
  DIFF_TREE,
  pathsOfTree,
  ScratchIndex,
  type TreeDifference,
  treeDifferences,
  treeEntries,
} from '../../git/store/trees.ts';
import type { PublishJob } from './job.ts';
import { stop } from './place.ts';
import { checkLinked, checkPolicy, touchedBy } from './policy-check.ts';

/** The trees of a patch, which the clone has. */
export interface PatchTrees {
  /** The one that the run began with. */
  readonly began: string;
  /** The one to publish on, and its name for people. */
  readonly now: string;
  readonly name: string;
  /** The patch may be in `now` already: as the commit of an earlier publication, or as a merge, which has both parents to tell. */
  readonly mayBeThere: boolean;
}

/** A change as it is to be published. */
interface RebuiltChange {
  /** Of `now` with the change; the clone has it. */
  readonly tree: string;
  /** What may only be published as a draft. */
  readonly protectedPaths: readonly string[];
}

/** Maximum bytes of the changed contents, before and after together: a small patch can claim to make content of any size. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** Maximum single allocation of the git that applies the patch. */
const ENV = { GIT_ALLOC_LIMIT: '256m' };

/**
 * Applies the patch to what the run began with, which must give the tree that the run has proven, and merges that with today's
 * base. What comes out is checked as it is: neither the patch nor the result is trusted to say what the patch does. Nothing new is
 * refused, unless it may be there already. `rules` are globs besides those of plan and settings.
 */
export async function rebuildRun(
  job: PublishJob,
  clone: Clone,
  trees: PatchTrees,
  rules: readonly PathRules[],
): Promise<RebuiltChange> {
  const { run, publication, findKnown, settings, say } = job;
  const { tree: proven, files } = await provenTree(job, clone, trees.began);
  const byName = checkPolicy(job, files, rules);
  const merged = await onBase(job, clone, trees, proven);
  const changes = await treeDifferences(clone.gitDir, trees.now, merged);
  const named = new Set(touchedBy(files));
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
    files: files.filter(({ path }) => changed.has(path)),
    net: changes.map(({ path, before, after }) => ({ path, before: sized(before), after: sized(after) })),
    read: (ids, maxBytes) => readBlobs(clone.gitDir, ids, maxBytes),
    repositories: repositoriesInTree(changed, await pathsOfTree(clone.gitDir, merged)),
    principles: run.result.principles.map(({ path }) => path),
    acceptSecrets: settings.acceptSecrets,
    findKnown,
  });
  const { withheld } = review;
  if (withheld !== null) stop(policyViolation(withheld.code, withheld.reason));

  publication.flags = review.flags;
  const made = new Map(
    (await treeDifferences(clone.gitDir, trees.began, proven)).map(({ path, after }) => [path, after?.blob]),
  );
  const both = changes.filter(({ path, after }) => made.get(path) !== after?.blob).map(({ path }) => path);
  publication.merged = both;
  for (const line of flagLines(review.flags)) say(line);
  if (both.length > 0) say(`merged with changes of ${trees.name}: ${both.join(', ')}`);
  if (settings.fallback === 'issue' && !trees.mayBeThere)
    job.made.patch = await clone.run([
      ...DIFF_TREE,
      '--patch',
      '--binary',
      '--full-index',
      trees.now,
      merged,
    ]);
  if (merged === trees.now && !trees.mayBeThere)
    stop(noChange(`${trees.name} already contains the whole patch.`));
  return { tree: merged, protectedPaths: [...byName, ...(await checkLinked(job, clone, files, merged))] };
}

/**
 * The tree that the patch makes of the one that the run began with, which has to be the one that the run names, and its files as git
 * sees them, which replace those of the result. What is left out (`--exclude`) is as it was.
 */
async function provenTree(
  job: PublishJob,
  clone: Clone,
  began: string,
): Promise<{ tree: string; files: ChangedFile[] }> {
  const { run, settings, redact } = job;
  const { changedFiles: said, treeSha, unverified, warnings, followUp } = run.result;
  const old = new Set(said.flatMap(({ path, from = path, kind }) => (kind === 'create' ? [] : [from])));
  const entries = (await treeEntries(clone.gitDir, began)) ?? [];
  const wanted = entries.filter(({ path, mode }) => mode !== '160000' && old.has(path));
  await clone.fetchContents(wanted.map(({ id }) => id));
  const index = new ScratchIndex(clone.gitDir, 'patch.index', ENV);
  await index.readTree(began);
  // git refuses a patch without content.
  const { tree, stderr } = run.patch?.length
    ? await index.appliedTree(run.patch)
    : { tree: await index.editedTree([]), stderr: '' };
  if (tree === null) return broken(`git does not apply it: ${stderr || 'it did not say why'}`);
  if (tree !== treeSha)
    broken(
      `it makes the tree ${tree} of the run's own base, and the result says ${treeSha}: it is not the patch that the run proved`,
    );
  const all = await changedFilesBetween(clone.gitDir, began, tree);
  const [known, made] = [new Set(touchedBy(said)), new Set(touchedBy(all))];
  for (const path of [...known, ...made])
    if (!known.has(path) || !made.has(path))
      broken(
        `${JSON.stringify(path)} is ${made.has(path) ? 'changed, and not' : 'not changed, but'} listed in the result`,
      );

  const isOut = pathMatcher(settings.exclude);
  const excluded = all.filter(({ path, from = path }) => isOut(path) || isOut(from));
  const files = all.filter((file) => !excluded.includes(file));
  const names = excluded.map(({ path }) => path);
  const left = `Left out of the patch (--exclude): ${listed(names, 10, 'file')}.`;
  const published = {
    changedFiles: files,
    unverified: [...unverified, ...names],
    warnings: [...warnings, ...(names.length === 0 ? [] : [warning('WARN_FILES_EXCLUDED', left)])],
  };
  Object.assign(job.result, redactedStrings(published, redact));
  if (excluded.length === 0) return { tree, files };
  if (files.length === 0 && (followUp?.merge ?? null) === null)
    stop(noChange('All files that the run has changed are left out (--exclude).'));
  const before = new Map(entries.map(({ path, mode, id: blob }) => [path, { mode, blob }]));
  const back = touchedBy(excluded);
  const kept = files.flatMap(({ path, kind }) => (kind === 'delete' ? [] : [path]));
  const folders = new Set(kept.flatMap((path) => [...foldersOf(path)]));
  const isBlocked = (path: string) =>
    folders.has(path) || [...foldersOf(path)].some((one) => kept.includes(one));
  const blocked = back.find((path) => before.has(path) && isBlocked(path));
  if (blocked !== undefined) broken(`without ${blocked} (--exclude) the rest of it does not fit`);
  const edits = back.map((path) => ({ path, state: before.get(path) ?? null }));
  return { tree: await index.editedTree(edits), files };
}

async function onBase(job: PublishJob, clone: Clone, trees: PatchTrees, proven: string): Promise<string> {
  const { began, now } = trees;
  if (now === began) return proven;
  const merged = await mergeTrees(clone.gitDir, { before: began, ours: now, theirs: proven }, clone.network);
  if (merged.status === 'failed') return stop(publishFailed('ERR_COMMIT_NOT_MADE', sentence(merged.message)));
  if (merged.conflicts.length === 0) return merged.tree;
  const whyNot = (ours: object | null) => (ours === null ? 'it is gone' : 'both sides changed it');
  return conflicting(
    job,
    trees,
    merged.conflicts.map(({ path, ours }) => ({ path, why: whyNot(ours) })),
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
