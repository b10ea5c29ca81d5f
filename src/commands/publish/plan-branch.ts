/**
 * The branch of a plan as GitHub has it: looked at before a run is paid for, and again before it is published. Whether it may be
 * built on, and what becomes of its pull request when a later run has found nothing to change.
 */

import { ownAccount } from '../../adapters/github/access.ts';
import { type CommitsSince, commitsSince, findHead } from '../../adapters/github/branch.ts';
import { putComment } from '../../adapters/github/issues.ts';
import {
  closedBy,
  findPullRequest,
  findPulls,
  type PullRequest,
  updatePullRequest,
} from '../../adapters/github/pull-requests.ts';
import { branchOf, markerOf, planId, type RunPlan } from '../../domain/github/publishing/identity.ts';
import { code } from '../../domain/github/publishing/markdown.ts';
import { publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { sentence } from '../../domain/text/words.ts';
import { refusedResult } from '../../engine/finish/empty-result.ts';
import { sha256Of } from '../../files/hash.ts';
import { makeTemporaryFolder } from '../../files/replace-file.ts';
import { commentText, shortComment } from '../../texts/issue-comment.ts';
import type { Ground } from './change.ts';
import { forReaders } from './issue/input-words.ts';
import { cleanMergeIn, cloneFor, type PublishJob, type PullPlace, readBase } from './job.ts';
import { ended, type PublishPlace, stop } from './place.ts';

/** A branch that this run, or the one ahead, may be published on. */
export interface PlanBranch extends Pick<Ground, 'base' | 'place' | 'clone' | 'head' | 'closed'> {
  readonly since: CommitsSince | null;
}

/** The branch to look at. */
interface BranchToLookAt extends PublishPlace, Pick<PublishJob, 'branch' | 'scratch' | 'marker'> {
  /** The branch that the run began on, or is to begin on; null for the default one. */
  readonly began: string | null;
  /** Of the run that is published; null before there is one. */
  readonly result: RunResult | null;
  /** The caller reports it on the issue. */
  readonly hasIssue: boolean;
}

/** Stops if it has commits of others, which is reported once on its pull request, or if people closed that. */
export async function lookAtBranch(work: BranchToLookAt): Promise<PlanBranch> {
  const { upstream, fork, branch, marker, settings } = work;
  const { base, place } = await readBase(work, work.began);
  const closed = await findClosed(place, marker, settings.reopen);
  const clone = cloneFor(work, base.repository);
  const head = await findHead(fork, branch);
  const cleanMerge = cleanMergeIn(clone, upstream);
  const since = head === null ? null : await commitsSince(upstream, { baseSha: base.sha, head, cleanMerge });
  const foreign = since?.foreign ?? null;
  if (foreign !== null) {
    const reason = `The branch ${branch} has commits by others (${foreign.sha.slice(0, 8)} by ${foreign.author}), which are not overwritten. To build on them, comment /patchsmith and what to do on its pull request (--continue); otherwise merge or delete the branch, or choose another one with --branch.`;
    const outcome = publishFailed('ERR_COMMITS_OF_OTHERS', reason);
    if (!work.hasIssue) await sayOnPull(work, place, outcome);
    stop(outcome);
  }
  return { base, place, clone, head, since, closed };
}

/** One comment, if the branch has a pull request; its words are replaced when they change. */
async function sayOnPull(work: BranchToLookAt, { upstream, wanted }: PullPlace, outcome: RunOutcome) {
  const { settings, version, marker } = work;
  if (settings.comment === 'never') return;
  const pull = await findPullRequest(upstream, wanted);
  if (pull === null) return;
  const result = work.result ?? { ...refusedResult(outcome, version), runId: 'none yet' };
  const nothing = { pullRequest: null, conflicts: [], warnings: [], marker };
  const body = commentText({ ...forReaders({ ...work, result }, outcome), ...nothing });
  await putComment(upstream, { issue: pull.number, marker, body });
}

/** The work of a run that has not begun. */
export interface BranchWork {
  /** `sha256` matters only for a plan that came from no file and no issue. */
  readonly plan: Pick<RunPlan, 'source' | 'title' | 'sha256'>;
  /** The branch that it begins on; null where that is the default branch. */
  readonly base: string | null;
  /** The caller reports it on the issue. */
  readonly hasIssue: boolean;
}

/** Stops with exit 11 if publishing would be refused for its branch. */
export async function refuseForeign(place: PublishPlace, work: BranchWork): Promise<void> {
  const { settings, repository, env } = place;
  // With a suffix each run has its own branch.
  if (settings.branchSuffix !== 'none') return;
  const id = planId(work.plan, repository, sha256Of);
  const branch = settings.branch ?? branchOf(work.plan, id);
  const scratch = makeTemporaryFolder(env);
  const { base: began, hasIssue } = work;
  const wanted = { branch, began, hasIssue, marker: markerOf(id), result: null, scratch: scratch.path };
  try {
    await lookAtBranch({ ...place, ...wanted });
  } finally {
    scratch.remove();
  }
}

/** Our newest closed pull request into this base, to be reopened; null if one was merged since, or where one is open. */
export async function findClosed(
  { upstream, wanted }: PullPlace,
  marker: string,
  setting: PublishPlace['settings']['reopen'],
): Promise<PullRequest | null> {
  const isOurs = ({ body }: PullRequest) => body?.includes(marker) === true;
  const closed = (await findPulls(upstream, wanted, 'closed')).filter(({ base }) => base.ref === wanted.base);
  // One that people opened from the branch and closed again changes nothing about ours.
  const [pull] = closed
    .filter((one) => one.merged_at != null || isOurs(one))
    .sort((a, b) => b.number - a.number);
  if (pull === undefined || pull.merged_at != null) return null;
  if ((await findPullRequest(upstream, wanted)) !== null) return null;
  const login = setting === 'always' ? undefined : await closedBy(upstream, pull);
  if (setting === 'always' || (login !== undefined && login === (await ownAccount(upstream.github))?.login))
    return pull;
  const by = login === undefined ? '' : ` by ${login}`;
  return stop(
    publishFailed(
      'ERR_PULL_REQUEST_CLOSED',
      `The pull request of this plan was closed${by} without being merged, and stays closed (--reopen never): ${pull.html_url}. Reopen it and publish again, or publish with --reopen always.`,
    ),
  );
}

/**
 * Closes the open one, or comments that it may no longer be needed (`--stale`). `end` is the outcome so far; the returned one says what was
 * done. A pull request that the run built on, other people's, and one into another base are left alone.
 */
export async function settleStale(job: PublishJob, end: RunOutcome): Promise<RunOutcome> {
  const { settings, result, marker, branch, upstream, askedIn, runUrl, publication, sayMade } = job;
  if (settings.stale === 'keep') return end;
  const read = await ended(job, () => readBase(job, result.baseBranch));
  if ('name' in read) return read.errorCode === 'ERR_BASE_BRANCH' ? end : read;
  const { base, place } = read;
  publication.base = { branch: base.branch, sha: base.sha };
  const pull = await findPullRequest(place.upstream, place.wanted);
  if (pull === null || pull.base.ref !== base.branch || pull.head.sha === result.baseSha) return end;
  if (pull.body?.includes(marker) !== true) return end;
  const { number, html_url: url, head, draft = false } = pull;
  const isToClose = settings.stale === 'close';
  const clone = cloneFor(job, base.repository);
  const look = { baseSha: base.sha, head: head.sha, cleanMerge: cleanMergeIn(clone, upstream) };
  const isOthers = isToClose && (await commitsSince(upstream, look)).foreign !== null;
  const isClosed = isToClose && !isOthers;
  // On the pull request itself, unless the outcome is reported there anyway.
  if (settings.comment !== 'never' && !(askedIn?.isHere === true && askedIn.number === number)) {
    const stays = isOthers ? 'It stays open, since its branch has commits by others. ' : '';
    const body = shortComment({
      headline: isClosed ? 'Closed: there is nothing left to change' : 'This may not be needed any more',
      reason: `A later run of the same plan (${code(result.runId)}) found nothing to change on ${code(base.branch)} at ${code(base.sha.slice(0, 12))}.`,
      next: isClosed
        ? 'Reopen it if it is still wanted.'
        : `${stays}Merge it if it is still wanted, and close it if not.`,
      ...{ runUrl, marker },
    });
    await putComment(upstream, { issue: number, marker, body });
  }
  const ending = (what: string) => ({
    ...end,
    reason: `${sentence(end.reason)} Pull request #${number} of an earlier run ${what} (${url}).`,
  });
  if (!isClosed) {
    sayMade(`pull request #${number} may not be needed any more: ${url}`);
    return ending(isOthers ? 'is still open, since its branch has commits by others' : 'is still open');
  }
  await updatePullRequest(place.upstream, pull, { state: 'closed' });
  const made = { number, url, branch, headSha: head.sha, draft, draftReasons: [] };
  publication.pullRequest = { ...made, operation: 'closed' };
  sayMade(`pull request #${number} closed: ${url}`);
  if (!settings.deleteBranch) return ending('was closed');
  if (!(await clone.remove(head.sha, `refs/heads/${branch}`)))
    return ending('was closed; its branch has moved since, and stays');
  sayMade(`${branch} deleted`);
  return ending('was closed, and its branch deleted');
}
