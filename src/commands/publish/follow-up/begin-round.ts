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
import { noChange, publishFailed } from '../../../domain/run/outcome.ts';
import { sentence } from '../../../domain/text/words.ts';
import type { Clock } from '../../../ports.ts';
import { checkRulesAhead } from '../branch-rules.ts';
import { type PublishPlace, stop } from '../place.ts';

/** What a round is recorded from. */
export interface RoundQuestion {
  readonly event: GitHubEvent | null;
  readonly caps: RoundCaps;
  readonly now: Clock;
  /** The run that it is recorded for; null for all that follow in the workflow run. */
  readonly runId: string | null;
}

/** A verdict that is not `due` any more. */
export type RoundBegun = Exclude<RoundVerdict, { status: 'due' }>;

/** Most jobs that are expected to record rounds of a repository at the same moment. */
const TRIES = 10;

/** Adds the round to the log, unless it is there or one too many. Stops if the rules of the branch refuse it, or the log. */
export async function beginRound(
  { upstream: where, env, settings }: PublishPlace,
  { event, caps, now, runId }: RoundQuestion,
  { pull, trigger }: { readonly pull: OwnPull; readonly trigger: Trigger },
): Promise<RoundBegun> {
  const ahead = { branch: pull.branch, isNew: false, isMerge: trigger === 'conflict' };
  await checkRulesAhead(where, settings, ahead);
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
    if (log.damaged !== null) notRecorded(whyDamaged(log.damaged));
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

function notRecorded(why: string): never {
  stop(publishFailed('ERR_ROUND_NOT_RECORDED', sentence(why)));
}

/** The same for a job that runs and publishes. Stops if the run may not spend. */
export async function beginOwnRound(
  place: PublishPlace,
  question: Omit<RoundQuestion, 'event'>,
  { pullRequest, head, trigger }: FollowUp,
): Promise<void> {
  const read = await readGitHubEvent(place.env);
  const event = read.status === 'ok' ? read.event : null;
  const pull = await readOwnPull(place.upstream, pullRequest);
  if (typeof pull === 'string')
    return stop(publishFailed('ERR_PULL_REQUEST_MOVED', `Pull request #${pullRequest} is no longer open.`));
  // The head may have moved since it was checked out.
  const begun = await beginRound(place, { ...question, event }, { pull: { ...pull, head }, trigger });
  if (begun.status === 'refused')
    stop(trigger === 'request' ? publishFailed('ERR_ROUND_NOT_RECORDED', begun.why) : noChange(begun.why));
}
