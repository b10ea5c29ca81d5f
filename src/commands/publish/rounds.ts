/**
 * The rounds of follow-ups, recorded before a model is asked: a round counts, whatever becomes of the run. A preparation records
 * those of the runs after it, and a run that also publishes its own.
 */

import { readGitHubEvent } from '../../adapters/github/event-file.ts';
import { type OwnPull, readOwnPull } from '../../adapters/github/pull-requests.ts';
import { addRound, readRounds } from '../../adapters/github/round-log.ts';
import type { GitHubEvent } from '../../domain/github/event.ts';
import {
  type FollowUp,
  jobOfRound,
  judgeRound,
  ROUNDS_REF,
  type Round,
  type RoundCaps,
  type RoundVerdict,
  roundWords,
  type Trigger,
  whyDamaged,
} from '../../domain/github/follow-up.ts';
import { issuePlanId, markerOf } from '../../domain/github/publishing/identity.ts';
import { escaped } from '../../domain/github/publishing/markdown.ts';
import { isBot } from '../../domain/github/untrusted-text.ts';
import { done, noChange, publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/words.ts';
import { sha256Of } from '../../files/hash.ts';
import type { Clock } from '../../ports.ts';
import { sayShortly } from './issue/issue-of-work.ts';
import { ended, type PublishPlace, stop } from './place.ts';
import { checkRules } from './preflight.ts';

/** What a round is recorded from. */
interface RoundQuestion {
  readonly event: GitHubEvent | null;
  readonly caps: RoundCaps;
  readonly now: Clock;
  /** The run that it is recorded for; null for all that follow in the workflow run. */
  readonly runId: string | null;
}

/** Most jobs that are expected to record rounds of a repository at the same moment. */
const TRIES = 10;

/** Adds the round to the log, unless it is there or one too many. Stops if the rules of the branch refuse it, or the log. */
async function beginRound(
  { upstream: where, env, settings }: PublishPlace,
  { event, caps, now, runId }: RoundQuestion,
  pull: OwnPull,
  trigger: Trigger,
): Promise<Exclude<RoundVerdict, { status: 'due' }>> {
  const ahead = { branch: pull.branch, isNew: false, isMerge: trigger === 'conflict' };
  await checkRules(where, settings, ahead);
  const job = jobOfRound(env);
  const isRequest = trigger === 'request';
  const asked: Round = {
    pull: pull.number,
    head: pull.head,
    base: pull.base.sha,
    trigger,
    request: isRequest ? (event?.request ?? `run ${job?.run ?? now()}`) : null,
    byPerson: isRequest && !(event?.sender != null && isBot(event.sender)),
    job,
    runId,
  };
  let said = '';
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const log = await readRounds(where, pull, now());
    if (log.damaged !== null) notRecorded(sentence(whyDamaged(log.damaged)));
    const verdict = judgeRound(log.rounds, asked, { caps, now: now() });
    if (verdict.status !== 'due') return verdict;
    const refusal = await addRound(where, log, asked, verdict);
    if (refusal === null) return { ...verdict, status: 'recorded' };
    said = refusal.message;
  }
  const why = `The round cannot be recorded in ${ROUNDS_REF}. GitHub refused it ${TRIES} times: ${said}`;
  return notRecorded(sentence(why));
}

function notRecorded(why: string): never {
  stop(publishFailed('ERR_ROUND_NOT_RECORDED', why));
}

/** For a job that runs and publishes. Stops if the run may not spend. */
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
  const begun = await beginRound(place, { ...question, event }, { ...pull, head }, trigger);
  if (begun.status !== 'refused') return;
  if (trigger === 'request') notRecorded(begun.why);
  stop(noChange(begun.why));
}

/**
 * Before an unrequested round, comments on the pull request that the round begins, or why it is refused. `ready` has the numbers of
 * pull requests with a round, `words` what to say about it, and `outcome` the reason for having no round. `isRepeated`: a person's
 * request was paid for already, and the pull request says what came of it.
 */
export async function prepareRounds(
  place: PublishPlace,
  { event, now }: Pick<RoundQuestion, 'event' | 'now'>,
  { pulls, trigger }: { readonly pulls: readonly OwnPull[]; readonly trigger: Trigger },
) {
  const { settings, say } = place;
  const question = { event, now, caps: settings, runId: null };
  const isRequest = trigger === 'request';
  const ready: number[] = [];
  const words: string[] = [];
  const reasons: string[] = [];
  let failed: RunOutcome | null = null;
  let isRepeated = false;
  for (const pull of pulls) {
    const begun = await ended(place, () => beginRound(place, question, pull, trigger));
    if ('name' in begun) {
      failed ??= begun;
      continue;
    }
    if (begun.status === 'recorded') {
      const said = roundWords(begun, settings);
      ready.push(pull.number);
      words.push(said);
      say(`pull request #${pull.number}: ${said}`);
    } else {
      reasons.push(begun.why);
      isRepeated ||= isRequest && !begun.isSpent;
    }
    if (!isRequest) await tell(place, pull.number, trigger, begun);
  }
  const reason = reasons.join(' ');
  const outcome: RunOutcome =
    failed ??
    (ready.length > 0
      ? done(`${RUN_CAN_START} ${reason}`.trim())
      : // A person is waiting for it.
        isRequest
        ? publishFailed('ERR_ROUND_NOT_RECORDED', reason)
        : noChange(reason || 'No pull request of patchsmith needs more work.'));
  return { ready, words, outcome, isRepeated };
}

/** How a preparation ends that stands in the way of nothing. */
export const RUN_CAN_START = 'GitHub permits the publication; the run can start.';

/** A pause is not worth a comment: it passes. */
async function tell(
  place: PublishPlace,
  number: number,
  trigger: Exclude<Trigger, 'request'>,
  begun: RoundVerdict,
): Promise<void> {
  const { settings, upstream, runUrl } = place;
  const url = `${settings.githubServerUrl}/${upstream.owner}/${upstream.repo}/pull/${number}`;
  const marker = markerOf(issuePlanId(url, sha256Of));
  if (begun.status === 'recorded') {
    const what = trigger === 'check' ? 'a failed check' : 'a conflict with the base';
    await sayShortly(place, number, {
      headline: 'Continuing this pull request',
      reason: `For ${what}: ${roundWords(begun, settings)}. It counts, whatever comes of it.`,
      next: 'The text of the pull request will list the commit; if there is none, this comment will say why.',
      link: 'See the log',
      ...{ runUrl, marker },
    });
  } else if (begun.status === 'refused' && begun.isSpent)
    await sayShortly(place, number, {
      headline: 'The pull request was not continued',
      reason: escaped(begun.why, 2_000),
      next: 'No model was asked.',
      // It stays the same, whatever happens after that.
      runUrl: null,
      marker,
    });
}
