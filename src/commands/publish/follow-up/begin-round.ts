/** The round of a follow-up, recorded before a model is asked: it counts, whatever becomes of the run. */

import { readGitHubEvent } from '../../../adapters/github/event-file.ts';
import { type OwnPull, readOwnPull } from '../../../adapters/github/follow-up/continued-pull.ts';
import { addRound, readRounds } from '../../../adapters/github/follow-up/round-log.ts';
import type { GitHubEvent } from '../../../domain/github/event.ts';
import type { FollowUp, Trigger } from '../../../domain/github/follow-up.ts';
import {
  jobOfRound,
  judgeRound,
  ROUNDS_REF,
  type Round,
  type RoundCaps,
  type RoundVerdict,
  whyDamaged,
} from '../../../domain/github/rounds.ts';
import { isBot } from '../../../domain/github/untrusted-text.ts';
import { noChange, publishFailed, type RunOutcome } from '../../../domain/run/outcome.ts';
import { sentence } from '../../../domain/text/words.ts';
import type { Clock } from '../../../ports.ts';
import { rulesAhead } from '../branch-rules.ts';
import { ended, type PublishPlace } from '../place.ts';

/** What a round is recorded from. */
export interface RoundQuestion {
  readonly event: GitHubEvent | null;
  readonly caps: RoundCaps;
  readonly now: Clock;
  /** The run that it is recorded for; null for all that follow in the workflow run. */
  readonly runId: string | null;
}

/** A verdict that is not `due` any more, or why there is none. */
export type RoundBegun = Exclude<RoundVerdict, { status: 'due' }> | { status: 'failed'; outcome: RunOutcome };

/** Most jobs that are expected to record rounds of a repository at the same moment. */
const TRIES = 10;

/** Adds the round to the log, unless it is there, one too many, or of a branch whose rules refuse it. Throws `GitHubRefused`. */
export async function beginRound(
  { upstream: where, env, settings }: PublishPlace,
  { event, caps, now, runId }: RoundQuestion,
  { pull, trigger }: { readonly pull: OwnPull; readonly trigger: Trigger },
): Promise<RoundBegun> {
  const ahead = { branch: pull.branch, isNew: false, isMerge: trigger === 'conflict' };
  const obstacle = await rulesAhead(where, settings, ahead);
  if (obstacle !== null) return { status: 'failed', outcome: obstacle };
  const job = jobOfRound(env);
  const asked: Round = {
    pull: pull.number,
    head: pull.head,
    base: pull.base.sha,
    trigger,
    request: trigger === 'request' ? (event?.request ?? `run ${job?.run ?? now()}`) : null,
    byPerson: trigger === 'request' && !(event?.sender != null && isBot(event.sender)),
    job,
    runId,
  };
  let said = '';
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const log = await readRounds(where, pull, now());
    if (log.damaged !== null) return notRecorded(whyDamaged(log.damaged));
    const verdict = judgeRound(log.rounds, asked, { caps, now: now() });
    if (verdict.status !== 'due') return verdict;
    const refusal = await addRound(where, log, asked, verdict);
    if (refusal === null) return { ...verdict, status: 'recorded' };
    said = refusal.message;
  }
  return notRecorded(
    `The round cannot be recorded in ${ROUNDS_REF}. GitHub refused it ${TRIES} times: ${said}`,
  );
}

function notRecorded(why: string): RoundBegun {
  return { status: 'failed', outcome: publishFailed('ERR_ROUND_NOT_RECORDED', sentence(why)) };
}

/** The same for a job that runs and publishes; null if the run may spend. */
export async function roundObstacle(
  place: PublishPlace,
  question: Omit<RoundQuestion, 'event'>,
  { pullRequest, head, trigger }: FollowUp,
): Promise<RunOutcome | null> {
  const read = await readGitHubEvent(place.env);
  const event = read.status === 'ok' ? read.event : null;
  return ended(place, async () => {
    const pull = await readOwnPull(place.upstream, pullRequest);
    if (typeof pull === 'string')
      return publishFailed('ERR_PULL_REQUEST_MOVED', `Pull request #${pullRequest} is no longer open.`);
    // The head may have moved since it was checked out.
    const begun = await beginRound(place, { ...question, event }, { pull: { ...pull, head }, trigger });
    if (begun.status === 'recorded') return null;
    return begun.status === 'failed'
      ? begun.outcome
      : trigger === 'request'
        ? publishFailed('ERR_ROUND_NOT_RECORDED', begun.why)
        : noChange(begun.why);
  });
}
