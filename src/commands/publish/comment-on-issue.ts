/** The comment on the issue that the plan came from. */

import { putComment } from '../../adapters/github/sticky-comment.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { commentText } from '../../texts/issue-comment.ts';
import type { PublishJob } from './job.ts';

/**
 * Reports any end of the publication; does nothing if no comment is wanted or the plan came from no issue of this
 * repository.
 */
export async function commentOnIssue(job: PublishJob, end: RunOutcome): Promise<null> {
  const { askedIn, settings, upstream, result, told, marker, runUrl, sayMade } = job;
  if (settings.comment === 'never' || job.signal.aborted) return null;
  if (askedIn === null || !askedIn.isHere) {
    if (settings.comment === 'always')
      told.warnings.push(
        'No comment was posted because the plan did not come from an issue of this repository.',
      );
    return null;
  }
  const body = commentText({ ...told, result, outcome: end, runUrl, marker });
  told.comment = await putComment(upstream, { issue: askedIn.number, marker, body });
  sayMade(`comment on #${askedIn.number} ${told.comment.operation}`);
  return null;
}
