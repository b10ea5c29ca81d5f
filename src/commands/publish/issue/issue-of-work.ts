/** The issue on which people follow their request: `--issue`, which the workflow sets, its comment and its label. */

import * as z from 'zod';
import { putComment, putIssue, setStateLabel, type WorkState } from '../../../adapters/github/issues.ts';
import { GitHubRefused } from '../../../adapters/github/request.ts';
import { costOfRun } from '../../../domain/github/publishing/costs.ts';
import { issuePlanId, markerOf } from '../../../domain/github/publishing/identity.ts';
import { changeTitle, plainLine } from '../../../domain/github/publishing/plain-text.ts';
import { issueReference } from '../../../domain/github/reference.ts';
import { type RunOutcome, usageError } from '../../../domain/run/outcome.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { sha256Of } from '../../../files/hash.ts';
import { commentText } from '../../../texts/issue-comment.ts';
import type { IssueOfWork, PublishJob } from '../job.ts';
import { type PublishPlace, stop } from '../place.ts';
import { refusalSentence } from '../refusals.ts';
import { forReaders } from './input-words.ts';

/** Reads the issue of `--issue`; null when none was named. */
export async function readIssueOfWork({
  upstream,
  repository,
  settings: { issue, githubServerUrl: serverUrl },
}: PublishPlace): Promise<IssueOfWork | null> {
  if (issue === null) return null;
  const wrong = (reason: string) => stop(usageError('ERR_OTHER_ISSUE', `--issue: ${reason}`));
  const named = issueReference(issue, { repository, serverUrl });
  if (typeof named === 'string') return wrong(`${named}.`);
  const { number } = named;
  if (named.repository.toLowerCase() !== repository.toLowerCase())
    wrong(
      `${named.repository}#${number} is not an issue of ${repository}, the repository that is published to.`,
    );
  const schema = z.object({ html_url: z.string(), pull_request: z.unknown().optional() });
  const found = await upstream.find('/issues/{issue_number}', schema, { issue_number: number });
  if (found === null)
    return wrong(
      `there is no issue ${number} in ${repository}, or the token may not read it (issues: read).`,
    );
  const { html_url: url, pull_request: pull } = found;
  const askedIn = { repository, number, url, isPullRequest: pull !== undefined, isHere: true };
  return { askedIn, marker: markerOf(issuePlanId(url, sha256Of)) };
}

/** Sets the label of `--trigger-label`; what GitHub refuses of that is a warning. */
export async function labelIssue(
  { askedIn, settings, upstream, signal, publication }: PublishPlace & Pick<PublishJob, 'askedIn'>,
  state: WorkState,
): Promise<void> {
  if (settings.triggerLabel === null || askedIn === null || !askedIn.isHere || signal.aborted) return;
  try {
    await setStateLabel(upstream, { issue: askedIn.number, trigger: settings.triggerLabel }, state);
  } catch (error) {
    if (!(error instanceof GitHubRefused)) throw error;
    if (!signal.aborted)
      publication.warnings.push(warning('WARN_LABEL_NOT_SET', refusalSentence(error.refusal)));
  }
}

/** The part of a publication that the comment needs. */
export type CommentJob = PublishPlace &
  Pick<PublishJob, 'askedIn' | 'issueMarker' | 'result'> &
  Partial<Pick<PublishJob, 'made'>>;

/**
 * Reports how the publication ended; does nothing if no comment is wanted or the plan did not come from an issue of this
 * repository, unless that has to give the patch (`--fallback issue`).
 */
export async function commentOnIssue(job: CommentJob, end: RunOutcome): Promise<void> {
  const { askedIn, settings, upstream, publication, issueMarker: marker, patchFile, sayMade } = job;
  if (settings.comment === 'never' || job.signal.aborted) return;
  if (isToldElsewhere(job, end)) return;
  const patch = end.errorCode === 'ERR_GITHUB_REFUSED' ? (job.made?.patch ?? null) : null;
  if ((askedIn === null || !askedIn.isHere) && patch === null) {
    if (settings.comment === 'always')
      publication.warnings.push(
        warning(
          'WARN_NO_COMMENT',
          'No comment was posted because the plan did not come from an issue of this repository.',
        ),
      );
    return;
  }
  // The patch's path on this machine is of no use to readers of the issue; that it is among the artifacts is said below.
  const reason =
    patchFile === null
      ? end.reason
      : end.reason
          .replace(` The patch is kept in ${patchFile}.`, '')
          .replaceAll(patchFile, 'the artifacts of the run');
  const body = commentText({ ...publication, ...forReaders(job, { ...end, reason }), patch, marker });
  const isHere = askedIn?.isHere === true;
  publication.comment = isHere
    ? await putComment(upstream, { issue: askedIn.number, marker, body, spent: costOfRun(job.result) })
    : await putIssue(upstream, { title: plainLine(`Patch: ${changeTitle(job.result)}`, 256), marker, body });
  sayMade(
    `${isHere ? `comment on #${askedIn.number}` : 'issue with the patch'} ${publication.comment.operation}`,
  );
}

/**
 * Review threads get their own replies, and fixed checks need no comment. If an issue is named, the comment there that work has
 * begun is waiting for its outcome.
 */
function isToldElsewhere({ result: { followUp, plan }, settings }: CommentJob, end: RunOutcome): boolean {
  if (followUp === null || settings.issue !== null || settings.comment === 'always') return false;
  return end.exitCode === 0 && end.name === 'done' && plan?.source.kind !== 'comment';
}
