/** The comment on the issue that the plan came from. */

import { putComment } from '../../../adapters/github/issues.ts';
import type { RunOutcome } from '../../../domain/run/outcome.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { commentText } from '../../../texts/issue-comment.ts';
import type { PublishJob } from '../job.ts';
import { forReaders } from './input-words.ts';

/** The part of a publication that the comment needs. */
export type CommentJob = Pick<
  PublishJob,
  | 'askedIn'
  | 'issueMarker'
  | 'patchFile'
  | 'settings'
  | 'upstream'
  | 'result'
  | 'publication'
  | 'runUrl'
  | 'isStep'
  | 'sayMade'
  | 'signal'
>;

/**
 * Reports how the publication ended; does nothing if no comment is wanted or the plan did not come from an issue of this
 * repository.
 */
export async function commentOnIssue(job: CommentJob, end: RunOutcome): Promise<null> {
  const { askedIn, settings, upstream, publication, issueMarker: marker, patchFile, sayMade } = job;
  if (settings.comment === 'never' || job.signal.aborted) return null;
  if (isToldElsewhere(job, end)) return null;
  if (askedIn === null || !askedIn.isHere) {
    if (settings.comment === 'always')
      publication.warnings.push(
        warning(
          'WARN_NO_COMMENT',
          'No comment was posted because the plan did not come from an issue of this repository.',
        ),
      );
    return null;
  }
  // The patch's path on this machine is of no use to readers of the issue; that it is among the artifacts is said below.
  const reason =
    patchFile === null
      ? end.reason
      : end.reason
          .replace(` The patch is kept in ${patchFile}.`, '')
          .replaceAll(patchFile, 'the artifacts of the run');
  const body = commentText({ ...publication, ...forReaders(job, { ...end, reason }), marker });
  publication.comment = await putComment(upstream, { issue: askedIn.number, marker, body });
  sayMade(`comment on #${askedIn.number} ${publication.comment.operation}`);
  return null;
}

/**
 * Review threads get their own replies, and fixed checks need no comment. If an issue is named, the comment there that work has
 * begun is waiting for its outcome.
 */
function isToldElsewhere({ result: { followUp, plan }, settings }: CommentJob, end: RunOutcome): boolean {
  if (followUp === null || settings.issue !== null || settings.comment === 'always') return false;
  return end.exitCode === 0 && end.name === 'done' && plan?.source.kind !== 'comment';
}
