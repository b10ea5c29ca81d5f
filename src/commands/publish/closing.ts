/** Pull requests of a plan that people closed without merging, and those for which a later run has found nothing to change. */

import { ownAccount } from '../../adapters/github/access.ts';
import { commitsSince, deleteRef } from '../../adapters/github/branch.ts';
import { putComment } from '../../adapters/github/issues.ts';
import {
  findPullRequest,
  findUnmerged,
  type PullRequest,
  updatePullRequest,
} from '../../adapters/github/pull-requests.ts';
import type { Settings } from '../../config/schema.ts';
import { code } from '../../domain/github/publishing/markdown.ts';
import { publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/words.ts';
import { shortComment } from '../../texts/issue-comment.ts';
import {
  type Base,
  cleanMergeIn,
  cloneFor,
  type PublishJob,
  pullPlace,
  type Refused,
  readBase,
  refuse,
} from './job.ts';

/** The pull request to reopen, and null for none: there is an open one, or none that was closed unmerged. */
export async function findClosed(
  { upstream, wanted }: ReturnType<typeof pullPlace>,
  marker: string,
  setting: Settings['reopen'],
): Promise<Refused | { status: 'ok'; closed: PullRequest | null }> {
  const found = await findUnmerged(upstream, wanted, marker);
  if (found === null || (await findPullRequest(upstream, wanted)) !== null)
    return { status: 'ok', closed: null };
  const me = setting === 'always' ? null : await ownAccount(upstream.github);
  if (setting === 'always' || (me !== null && me.login === found.by))
    return { status: 'ok', closed: found.pull };
  const by = found.by === null ? '' : ` by ${found.by}`;
  return refuse(
    publishFailed(
      'ERR_PULL_REQUEST_CLOSED',
      `The pull request of this plan was closed${by} without being merged, and stays closed (--reopen never): ${found.pull.html_url}. Reopen it and publish again, or publish with --reopen always.`,
    ),
  );
}

/**
 * Closes the open one, or comments that it may no longer be needed (`--stale`). `end` is the outcome so far; the returned one says what was
 * done. A pull request that the run built on, other people's, and one into another base are left alone.
 */
export async function settleStale(job: PublishJob, end: RunOutcome): Promise<RunOutcome> {
  const { settings, result, marker } = job;
  if (settings.stale === 'keep') return end;
  const read = await readBase(job);
  if (read.status === 'refused') return end;
  const { base } = read;
  const { upstream, wanted } = pullPlace(job, base);
  const pull = await findPullRequest(upstream, wanted);
  const isStale =
    pull !== null &&
    pull.base.ref === base.branch &&
    pull.body?.includes(marker) === true &&
    pull.head.sha !== result.baseSha;
  if (!isStale) return end;
  const whyOpen = settings.stale === 'close' ? await whyNotClosed(job, base, pull) : null;
  const isClosed = settings.stale === 'close' && whyOpen === null;
  await tell(job, pull, { base, isClosed, whyOpen });
  return { ...end, reason: `${sentence(end.reason)} ${await settled(job, pull, { isClosed, whyOpen })}` };
}

/** Null when all of its commits are ours. */
async function whyNotClosed(job: PublishJob, base: Base, pull: PullRequest): Promise<string | null> {
  const { upstream } = job;
  const { foreign } = await commitsSince(upstream, {
    baseSha: base.sha,
    head: pull.head.sha,
    cleanMerge: cleanMergeIn(cloneFor(job, base.repository), upstream),
  });
  return foreign === null ? null : 'its branch has commits by others';
}

/** On the pull request itself, unless the outcome is reported there anyway. */
async function tell(
  { upstream, askedIn, settings, result, runUrl, marker }: PublishJob,
  { number }: PullRequest,
  { base, isClosed, whyOpen }: { base: Base; isClosed: boolean; whyOpen: string | null },
): Promise<void> {
  const isToldThere = askedIn?.isHere === true && askedIn.number === number;
  if (settings.comment === 'never' || isToldThere) return;
  const stays = whyOpen === null ? '' : `It stays open, since ${whyOpen}. `;
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

async function settled(
  job: PublishJob,
  pull: PullRequest,
  { isClosed, whyOpen }: { isClosed: boolean; whyOpen: string | null },
): Promise<string> {
  const { upstream, fork, branch, publication, sayMade, settings } = job;
  const name = `Pull request #${pull.number}`;
  if (!isClosed) {
    sayMade(`pull request #${pull.number} may not be needed any more: ${pull.html_url}`);
    return `${name} of an earlier run is still open${whyOpen === null ? '' : `, since ${whyOpen}`} (${pull.html_url}).`;
  }
  await updatePullRequest(upstream, pull, { state: 'closed' });
  const { number, html_url: url, head, draft = false } = pull;
  const made = { number, url, branch, headSha: head.sha, draft, draftReasons: [] };
  publication.pullRequest = { ...made, operation: 'closed' };
  sayMade(`pull request #${number} closed: ${url}`);
  if (!settings.deleteBranch) return `${name} of an earlier run was closed (${url}).`;
  await deleteRef(fork, `refs/heads/${branch}`);
  sayMade(`${branch} deleted`);
  return `${name} of an earlier run was closed, and its branch deleted (${url}).`;
}
