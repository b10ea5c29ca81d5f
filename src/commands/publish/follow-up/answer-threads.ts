/** Answers in the review threads that a follow-up was given, once each. */

import {
  type ReviewThread,
  readThreads,
  replyTo,
  resolveThread,
} from '../../../adapters/github/follow-up/review-threads.ts';
import { GitHubRefused } from '../../../adapters/github/request.ts';
import type { FollowUp } from '../../../domain/github/follow-up.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { threadAnswer } from '../../../texts/follow-up.ts';
import type { PublishJob } from '../job.ts';
import { explained } from '../refusals.ts';

/** A thread that has this run's answer gets no second one. Only threads whose file was changed are resolved. */
export async function answerThreads(job: PublishJob, followUp: FollowUp, sha: string): Promise<void> {
  const { upstream, result, settings, publication, sayMade, marker } = job;
  if (followUp.threads.length === 0) return;
  const read = await readThreads(upstream, followUp.pullRequest);
  if (read.status === 'refused') throw new GitHubRefused(read.refusal);
  const changed = new Set(result.changedFiles.flatMap(({ path, from }) => [path, ...(from ? [from] : [])]));
  const mark = `${marker.replace(/ -->$/, '')} run ${result.runId} -->`;
  for (const { id } of followUp.threads) {
    // The run directory only names threads; what they are, GitHub says.
    const thread = read.data.find((one) => one.id === id);
    const [first] = thread?.comments ?? [];
    if (thread === undefined || first === undefined) continue;
    const isChanged = changed.has(thread.path);
    if (!hasAnswer(thread, mark)) {
      const body = threadAnswer({ result, sha, isChanged, mark });
      await replyTo(upstream, { pull: followUp.pullRequest, comment: first.id, body });
      sayMade(`answered the review of ${thread.path}`);
    }
    if (!settings.resolveThreads || !isChanged || thread.isResolved) continue;
    const why = await refusalOf(() => resolveThread(upstream, id));
    if (why !== null) publication.warnings.push(warning('WARN_THREAD_NOT_RESOLVED', why));
  }
}

function hasAnswer({ comments }: ReviewThread, mark: string): boolean {
  return comments.some(({ body }) => body.includes(mark));
}

async function refusalOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof GitHubRefused)) throw error;
    return explained(error.refusal);
  }
}
