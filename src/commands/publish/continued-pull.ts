/**
 * A follow-up: a commit on the head of a pull request by patchsmith. The run directory only says which one; GitHub is asked
 * whether patchsmith made it, and for its rules.
 */

import { mergeBaseOf } from '../../adapters/github/branch.ts';
import { type Clone, MAX_CONTENT_BYTES } from '../../adapters/github/clone.ts';
import { ownTexts } from '../../adapters/github/issues.ts';
import {
  commitsOf,
  NOT_OWN,
  type OwnPull,
  readOwnPull,
  updatePullRequest,
} from '../../adapters/github/pull-requests.ts';
import { OnGitHub } from '../../adapters/github/request.ts';
import { readThreads, replyTo, resolveThread } from '../../adapters/github/reviews.ts';
import { conflictKind, hasMarkers } from '../../domain/github/conflict.ts';
import type { FollowUp } from '../../domain/github/follow-up.ts';
import { originOfCommit } from '../../domain/github/publishing/commit-message.ts';
import { requestOf } from '../../domain/github/publishing/identity.ts';
import { policyViolation, publishFailed } from '../../domain/run/outcome.ts';
import { listed, sentence } from '../../domain/text/words.ts';
import { warning } from '../../domain/warnings/warning.ts';
import type { MergedTrees } from '../../git/store/merge-trees.ts';
import { treeDifferences, treeEntries } from '../../git/store/trees.ts';
import { threadAnswer, withFollowUp } from '../../texts/pull-request.ts';
import type { Ground } from './change.ts';
import { cleanMergeIn, cloneFor, mergeIn, type PublishJob } from './job.ts';
import { obstacleIn, stop } from './place.ts';

/** The pull request as it is now: the change goes on its head, and never over it. Null if that moves meanwhile. */
export async function lookAtContinuedPull(job: PublishJob, followUp: FollowUp): Promise<Ground | null> {
  const { upstream, result, plan } = job;
  const pull = await readOwnPull(upstream, followUp.pullRequest);
  if (typeof pull === 'string') return moved(`${nothingAdded(followUp)} ${NOT_OWN[pull]}`);
  if (pull.branch !== followUp.branch || pull.marker !== followUp.marker)
    return moved(`${nothingAdded(followUp)} it is not the one that the run continued.`);
  const where = new OnGitHub(upstream.github, pull.repository);
  const clone = cloneFor(job, pull.repository);
  await refuseOthers(job, clone, pull, followUp);
  if (!(await clone.fetch([pull.head]))) return null;
  const head = await clone.commit(pull.head);
  const origin = originOfCommit(head.message);
  const isMade = origin?.runId === result.runId && origin.tree === head.tree;
  const { merge, trigger } = followUp;
  const name = `${pull.branch} (${pull.head.slice(0, 8)})`;
  const { began, now, refuseUnresolved } = await treesOf(job, clone, pull, followUp, head.tree);
  return {
    ...{ clone, head: pull.head, closed: null, rules: pull.record.rules },
    trees: { began, now, name, mayBeThere: isMade || merge !== null },
    base: { repository: pull.repository, ...pull.base },
    place: {
      upstream: where,
      wanted: { base: pull.base.branch, branch: pull.branch, headOwner: where.owner, headRepo: where.repo },
    },
    request: trigger === 'request' ? (requestOf(plan) ?? 'review') : trigger,
    async parents(tree) {
      if (isMade) return null;
      await refuseUnresolved?.(tree);
      return merge === null ? [pull.head] : [pull.head, merge];
    },
    // What was published with protected files has become a draft before.
    findOrOpen: async ({ protectedPaths }) => ({
      thing: { ...pull, html_url: pull.url, draft: pull.draft || protectedPaths.length > 0 },
      isNew: false,
    }),
    async update(_, { sha }) {
      const body = withFollowUp(pull.body, { result, followUp, sha });
      if (body !== pull.body) await updatePullRequest(upstream, pull, { title: pull.title, body });
      return body !== pull.body;
    },
    finish: (_, sha) => answerThreads(job, followUp, sha),
  };
}

function nothingAdded({ pullRequest }: FollowUp): string {
  return `Nothing was added to pull request #${pullRequest}:`;
}

function moved(reason: string): never {
  stop(publishFailed('ERR_PULL_REQUEST_MOVED', reason));
}

/** Stops unless the branch has commits by patchsmith, and other people's only if somebody asked to build on them. */
async function refuseOthers(
  { upstream }: PublishJob,
  clone: Clone,
  pull: OwnPull,
  { trigger }: FollowUp,
): Promise<void> {
  const since = await commitsOf(upstream, pull, cleanMergeIn(clone, upstream));
  if (since === null)
    return stop(
      policyViolation(
        'ERR_NOT_OUR_PULL_REQUEST',
        `Pull request #${pull.number} was not made by patchsmith: no commit on its branch says so.`,
      ),
    );
  if (since.foreign === null || trigger === 'request') return;
  stop(
    publishFailed(
      'ERR_COMMITS_OF_OTHERS',
      `The branch ${pull.branch} has commits by others (${since.foreign.sha.slice(0, 8)} by ${since.foreign.author}), and no one asked patchsmith to build on them.`,
    ),
  );
}

/** What the change was made of and what it goes on: the head then and now, or the merge of the base with each. */
interface TreesOfChange {
  readonly began: string;
  readonly now: string;
  /** Stops if a tree made from `now` is not a resolved merge. */
  refuseUnresolved?(tree: string): Promise<void>;
}

async function treesOf(
  job: PublishJob,
  clone: Clone,
  pull: OwnPull,
  followUp: FollowUp,
  now: string,
): Promise<TreesOfChange> {
  const { head: began, merge } = followUp;
  // People may have pushed since; what they pushed is built upon.
  if (pull.head !== began && (await mergeBaseOf(job.upstream, began, pull.head)) !== began)
    moved(
      `The branch ${pull.branch} was replaced during the run: ${began.slice(0, 8)}, which it continued from, is no longer part of it.`,
    );
  if (merge !== null) return remakeMerge(job, clone, pull, { ...followUp, merge });
  if (!(await clone.fetch([began]))) moved(`GitHub no longer has ${began}.`);
  return { began: (await clone.commit(began)).tree, now };
}

/** Refuses a commit that the base does not contain, and a merge with a different result. */
async function remakeMerge(
  job: PublishJob,
  clone: Clone,
  pull: OwnPull,
  { head, merge }: FollowUp & { readonly merge: string },
): Promise<TreesOfChange> {
  const { upstream, result } = job;
  const notMade = (why: string) => stop(publishFailed('ERR_MERGE_NOT_MADE', why));
  const name = `${pull.base.branch} (${merge.slice(0, 8)})`;
  if ((await mergeBaseOf(upstream, pull.base.sha, merge)) !== merge)
    notMade(`The run has merged ${merge.slice(0, 8)}, which is not in ${pull.base.branch}.`);
  const began = await mergeIn(clone, upstream, head, merge);
  const now = pull.head === head ? began : await mergeIn(clone, upstream, pull.head, merge);
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

/** Answers in the review threads that the run was given, once each. Only threads whose file was changed are resolved. */
async function answerThreads(job: PublishJob, followUp: FollowUp, sha: string): Promise<void> {
  const { upstream, result, settings, publication, sayMade, marker } = job;
  if (followUp.threads.length === 0) return;
  const threads = await readThreads(upstream, followUp.pullRequest);
  const changed = new Set(result.changedFiles.flatMap(({ path, from }) => [path, ...(from ? [from] : [])]));
  const mark = `${marker.replace(/ -->$/, '')} run ${result.runId} -->`;
  // Anybody can read the mark, and write it.
  const isOurs = await ownTexts(upstream.github, mark);
  for (const { id } of followUp.threads) {
    // The run directory only names threads; what they are, GitHub says.
    const thread = threads.find((one) => one.id === id);
    const [first] = thread?.comments ?? [];
    if (thread === undefined || first === undefined) continue;
    const isChanged = changed.has(thread.path);
    if (!thread.comments.some(({ author: user, body }) => isOurs({ user, body }))) {
      const body = threadAnswer({ result, sha, isChanged, mark });
      await replyTo(upstream, { pull: followUp.pullRequest, comment: first.id, body });
      sayMade(`answered the review of ${thread.path}`);
    }
    if (!settings.resolveThreads || !isChanged || thread.isResolved) continue;
    const why = await obstacleIn(job, () => resolveThread(upstream, id));
    if (why !== null) publication.warnings.push(warning('WARN_THREAD_NOT_RESOLVED', why.reason));
  }
}
