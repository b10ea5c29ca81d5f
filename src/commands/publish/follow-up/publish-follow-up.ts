/**
 * A follow-up: a commit on the head of a pull request by patchsmith. The run directory only says which one; GitHub is asked
 * whether patchsmith made it, and for its rules.
 */

import { mergeBaseOf } from '../../../adapters/github/branch.ts';
import type { Clone } from '../../../adapters/github/clone.ts';
import {
  commitsOf,
  NOT_OWN,
  type OwnPull,
  readOwnPull,
} from '../../../adapters/github/follow-up/continued-pull.ts';
import { findPulls, updatePullRequest } from '../../../adapters/github/pull-requests.ts';
import { OnGitHub } from '../../../adapters/github/request.ts';
import type { FollowUp } from '../../../domain/github/follow-up.ts';
import { originOfCommit } from '../../../domain/github/publishing/commit-message.ts';
import { requestOf } from '../../../domain/github/publishing/identity.ts';
import { done, policyViolation, publishFailed, type RunOutcome } from '../../../domain/run/outcome.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import { withFollowUp } from '../../../texts/follow-up.ts';
import { makeCommit } from '../commit-run.ts';
import { cleanMergeIn, cloneFor, type PublishJob, type Refused, refuse } from '../job.ts';
import { draftFirst, draftsOf, keptDraft } from '../open-pull-request.ts';
import { checkLinked, checkPolicy } from '../policy-check.ts';
import type { CheckedPatch } from '../read-run.ts';
import { type Change, rebuildRun } from '../rebuild-run.ts';
import { answerThreads } from './answer-threads.ts';
import { remakeMerge } from './remade-merge.ts';

/** A follow-up that may be published. */
export interface FollowUpToPublish {
  readonly patch: CheckedPatch;
  readonly followUp: FollowUp;
  readonly unfinished: boolean;
}

/** Others may move the branch at the same time; everything is then read again. */
const TRIES = 3;

/** Commits on the head as it is now, and never over it. */
export async function publishFollowUp(job: PublishJob, made: FollowUpToPublish): Promise<RunOutcome> {
  const { followUp } = made;
  const name = `pull request #${followUp.pullRequest}`;
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const pull = await readOwnPull(job.upstream, followUp.pullRequest);
    const why = typeof pull === 'string' ? NOT_OWN[pull] : whyAnother(pull, followUp);
    if (typeof pull === 'string' || why !== null)
      return publishFailed('ERR_PULL_REQUEST_MOVED', `Nothing was added to ${name}: ${why}`);
    const end = await commitOn(job, pull, made);
    if (end.status === 'refused') return end.outcome;
    if (end.status === 'made')
      return tellOnPull(job, { ...pull, draft: end.draft, head: end.sha }, made, end);
  }
  return publishFailed(
    'ERR_PULL_REQUEST_MOVED',
    `The branch of ${name} was updated by others ${TRIES} times in a row. Publish again.`,
  );
}

function whyAnother({ branch, marker }: OwnPull, followUp: FollowUp): string | null {
  return branch === followUp.branch && marker === followUp.marker
    ? null
    : 'it is not the one that the run continued.';
}

type CommitEnd =
  | { status: 'made'; sha: string; protectedPaths: readonly string[]; draft: boolean }
  | { status: 'moved' }
  | { status: 'refused'; outcome: RunOutcome };

async function commitOn(job: PublishJob, pull: OwnPull, made: FollowUpToPublish): Promise<CommitEnd> {
  const { result, publication, sayMade } = job;
  const { patch, followUp } = made;
  const clone = cloneFor(job, pull.repository);
  const notOurs = await whyNotOurs(job, clone, pull, followUp);
  if (notOurs !== null) return refuse(notOurs);
  const judged = checkPolicy(job, patch, pull.record.rules);
  if (judged.status === 'refused') return judged;
  if (!(await clone.fetch([pull.head]))) return { status: 'moved' };
  const head = await clone.commit(pull.head);
  publication.base = { branch: pull.base.branch, sha: pull.base.sha };
  const origin = originOfCommit(head.message);
  if (origin?.runId === result.runId && origin.tree === head.tree) {
    publication.commit = { sha: pull.head, tree: head.tree, operation: 'none', verified: null };
    sayMade(`${pull.branch} has this change already`);
    const linked = await checkLinked(job, clone, patch, head.tree);
    if (linked.status === 'refused') return linked;
    const protectedPaths = [...judged.protectedPaths, ...linked.protectedPaths];
    return { status: 'made', sha: pull.head, protectedPaths, draft: pull.draft };
  }
  // People may have pushed since; what they pushed is built upon.
  const began = followUp.head;
  if (pull.head !== began && (await mergeBaseOf(job.upstream, began, pull.head)) !== began)
    return refuse(
      publishFailed(
        'ERR_PULL_REQUEST_MOVED',
        `The branch ${pull.branch} was replaced during the run: ${began.slice(0, 8)}, which it continued from, is no longer part of it.`,
      ),
    );
  const order = await orderOn(job, clone, pull, { ...made, headTree: head.tree });
  if (order.status === 'refused') return order;
  const protectedPaths = [...judged.protectedPaths, ...order.protectedPaths];
  const others = protectedPaths.length === 0 ? [] : await othersOf(job, pull);
  const notADraft = await draftFirst(job, [pull, ...others], protectedPaths);
  if (notADraft !== null) return refuse(notADraft);
  const { tree, parents } = order;
  const commit = await makeCommit(job, clone, {
    ...{ tree, parents, branch: pull.branch, head: pull.head, base: pull.base.branch },
    request: requestBehind(result, followUp),
  });
  if (commit.status !== 'made') return commit;
  return { ...commit, protectedPaths, draft: pull.draft || protectedPaths.length > 0 };
}

/** The other open pull requests of its branch. */
async function othersOf({ upstream: { github } }: PublishJob, { repository, branch, number }: OwnPull) {
  const where = new OnGitHub(github, repository);
  const wanted = { branch, headOwner: where.owner, headRepo: where.repo };
  return (await findPulls(where, wanted, 'open')).filter((pull) => pull.number !== number);
}

/** Null if the branch has commits by patchsmith, and other people's only if somebody asked to build on them. */
async function whyNotOurs(
  job: PublishJob,
  clone: Clone,
  pull: OwnPull,
  followUp: FollowUp,
): Promise<RunOutcome | null> {
  const since = await commitsOf(job.upstream, pull, cleanMergeIn(clone, job.upstream));
  if (since === null)
    return policyViolation(
      'ERR_NOT_OUR_PULL_REQUEST',
      `Pull request #${pull.number} was not made by patchsmith: no commit on its branch says so.`,
    );
  if (since.foreign === null || followUp.trigger === 'request') return null;
  return publishFailed(
    'ERR_COMMITS_OF_OTHERS',
    `The branch ${pull.branch} has commits by others (${since.foreign.sha.slice(0, 8)} by ${since.foreign.author}), and no one asked patchsmith to build on them.`,
  );
}

/** The contents of the commit: the change on the head, or the merge of the base with it. */
async function orderOn(
  job: PublishJob,
  clone: Clone,
  pull: OwnPull,
  { patch, followUp, headTree }: FollowUpToPublish & { readonly headTree: string },
): Promise<
  Refused | ({ status: 'ok'; parents: readonly string[] } & Pick<Change, 'tree' | 'protectedPaths'>)
> {
  const { merge, head } = followUp;
  const name = `${pull.branch} (${pull.head.slice(0, 8)})`;
  const remade = merge === null ? null : await remakeMerge(job, clone, pull, { ...followUp, merge });
  if (remade?.status === 'refused') return remade;
  const isThere = remade !== null || (await clone.fetch([head]));
  if (!isThere) return refuse(publishFailed('ERR_PULL_REQUEST_MOVED', `GitHub no longer has ${head}.`));
  const trees = remade ?? { began: (await clone.commit(head)).tree, now: headTree };
  const rebuilt = await rebuildRun(job, clone, patch, { ...trees, name });
  if (rebuilt.status === 'refused') return rebuilt;
  const { tree, protectedPaths } = rebuilt.change;
  const unresolved = remade === null ? null : await remade.whyUnresolved(tree);
  if (unresolved !== null) return unresolved;
  const parents = merge === null ? [pull.head] : [pull.head, merge];
  return { status: 'ok', tree, protectedPaths, parents };
}

function requestBehind({ plan }: RunResult, { trigger }: FollowUp): string {
  return trigger === 'request' ? ((plan && requestOf(plan)) ?? 'review') : trigger;
}

/** The account in the pull request's text, a draft where the work is red, and the answers in the threads. */
async function tellOnPull(
  job: PublishJob,
  pull: OwnPull,
  { followUp, unfinished }: FollowUpToPublish,
  { protectedPaths }: { protectedPaths: readonly string[] },
): Promise<RunOutcome> {
  const { publication, result, upstream, sayMade } = job;
  const { number, url, branch, head: headSha } = pull;
  const reasons = draftsOf(job, { unfinished, protectedPaths });
  const operation = publication.commit?.operation === 'none' ? 'none' : 'updated';
  const tell = (draft: boolean) => {
    publication.pullRequest = { number, url, operation, branch, headSha, draft, draftReasons: reasons };
  };
  tell(pull.draft);
  const body = withFollowUp(pull.body, { result, followUp, sha: headSha });
  if (body !== pull.body) await updatePullRequest(upstream, pull, { title: pull.title, body });
  tell(await keptDraft(job, pull, reasons));
  sayMade(`pull request #${number} updated: ${url}`);
  await answerThreads(job, followUp, headSha);
  return done(`Pull request #${number} is continued: ${url}`);
}
