/** The merge that a follow-up has resolved, made again in the clone: the run directory only names the commits. */

import { mergeBaseOf } from '../../../adapters/github/branch.ts';
import { type Clone, MAX_CONTENT_BYTES } from '../../../adapters/github/clone.ts';
import type { OwnPull } from '../../../adapters/github/follow-up/continued-pull.ts';
import { conflictKind, hasMarkers } from '../../../domain/github/conflict.ts';
import type { FollowUp } from '../../../domain/github/follow-up.ts';
import { publishFailed } from '../../../domain/run/outcome.ts';
import { listed, sentence } from '../../../domain/text/words.ts';
import { type MergedTrees, mergeTrees } from '../../../git/store/merge-trees.ts';
import { treeDifferences, treeEntries } from '../../../git/store/trees.ts';
import type { PublishJob } from '../job.ts';
import { stop } from '../place.ts';

/** The merge of the head as the run saw it, and as it is now. */
export interface RemadeMerge {
  readonly began: string;
  readonly now: string;
  /** Stops if a tree made from `now` is not a resolved merge. */
  refuseUnresolved(tree: string): Promise<void>;
}

/** Refuses a commit that the base does not contain, and a merge with a different result. */
export async function remakeMerge(
  job: PublishJob,
  clone: Clone,
  pull: OwnPull,
  { head, merge }: FollowUp & { readonly merge: string },
): Promise<RemadeMerge> {
  const { upstream, result } = job;
  const notMade = (why: string) => stop(publishFailed('ERR_MERGE_NOT_MADE', why));
  const name = `${pull.base.branch} (${merge.slice(0, 8)})`;
  if ((await mergeBaseOf(upstream, pull.base.sha, merge)) !== merge)
    notMade(`The run has merged ${merge.slice(0, 8)}, which is not in ${pull.base.branch}.`);
  const mergeOf = async (ours: string): Promise<MergedTrees> => {
    const before = await mergeBaseOf(upstream, merge, ours);
    return (await clone.fetch([before, ours, merge]))
      ? mergeTrees(clone.gitDir, { before, ours, theirs: merge }, clone.network)
      : { status: 'failed', message: `GitHub no longer has all of ${before}, ${ours} and ${merge}` };
  };
  const began = await mergeOf(head);
  const now = pull.head === head ? began : await mergeOf(pull.head);
  if (began.status === 'failed') return notMade(sentence(began.message));
  if (now.status === 'failed') return notMade(sentence(now.message));
  if (began.tree !== result.baseTree)
    notMade(
      `The run began with the tree ${result.baseTree}, and merging ${name} gives ${began.tree}: there were other uncommitted changes, or a different version of git merged differently.`,
    );
  const known = new Set(began.conflicts.map(({ path }) => path));
  const more = now.conflicts.filter(({ path }) => !known.has(path)).map(({ path }) => path);
  if (more.length > 0)
    notMade(
      `Since the run started, the branch has more conflicts with ${name}: ${listed(more, 10, 'file')}. Run it again.`,
    );
  return {
    began: began.tree,
    now: now.tree,
    async refuseUnresolved(tree) {
      const left = await unresolved(clone, now, tree);
      if (left.length > 0)
        notMade(`The conflict with ${name} is not resolved in ${listed(left, 10, 'file')}.`);
    },
  };
}

/** Conflicts with markers in the result, and those that cannot be distinguished from a resolved one unless the change touches them. */
async function unresolved(
  clone: Clone,
  { tree: merged, conflicts }: MergedTrees & { status: 'merged' },
  tree: string,
): Promise<string[]> {
  const { gitDir } = clone;
  const changed = new Set((await treeDifferences(gitDir, merged, tree)).map(({ path }) => path));
  const blobs = new Map(((await treeEntries(gitDir, tree)) ?? []).map(({ path, id }) => [path, id]));
  const ids = conflicts.flatMap(({ path }) => blobs.get(path) ?? []);
  const contents = await clone.contents(ids, MAX_CONTENT_BYTES);
  return conflicts.flatMap((conflict) => {
    const content = contents.get(blobs.get(conflict.path) ?? '') ?? null;
    if (changed.has(conflict.path)) return hasMarkers(content?.toString('utf8') ?? '') ? conflict.path : [];
    const kind = conflictKind(conflict, content);
    return kind === 'lines' || kind === null ? conflict.path : [];
  });
}
