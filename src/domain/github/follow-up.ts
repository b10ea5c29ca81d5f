/**
 * A run that continues a pull request of ours, and the rounds of such runs, each recorded before a model is asked: whether there may
 * be another.
 */

import * as z from 'zod';
import type { Environment } from '../environment.ts';
import { jsonOrUndefined } from '../text/json.ts';

const CommitId = z.string().regex(/^[0-9a-f]{40}$/, 'expected an object id');

/** Why the work continues: someone asked for it, a check of it failed, or its base changed the same lines. */
export const TRIGGERS = ['request', 'check', 'conflict'] as const;
/** One of `TRIGGERS`. */
export type Trigger = (typeof TRIGGERS)[number];

/** A review thread that a run was given to answer. */
const AskedThread = z.strictObject({
  id: z.string().max(200).describe('Its id in GraphQL'),
  comment: z.int().positive().describe('Its first comment, which replies go to'),
  path: z.string(),
});
export type AskedThread = z.infer<typeof AskedThread>;

/** The pull request that a run continues, as it was when the run began. */
export const FollowUp = z.strictObject({
  pullRequest: z.int().positive(),
  marker: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .describe('Id in the markers of its text'),
  branch: z.string(),
  head: CommitId.describe('Commit that the work continues from'),
  base: z.strictObject({
    branch: z.string(),
    sha: CommitId.describe(
      'Newest commit of the base that the branch contains; rules and plan are read there',
    ),
  }),
  trigger: z.enum(TRIGGERS),
  round: z
    .int()
    .nonnegative()
    .describe('Number of this round without a request by a person, from 1; 0 if a person requested it'),
  threads: z.array(AskedThread).max(50).describe('Review threads that the model was given'),
  merge: CommitId.nullable().describe('Commit of the base that the work merges; null when it merges nothing'),
});
export type FollowUp = z.infer<typeof FollowUp>;

/** What a round is for. The same request by a person, or else the same head, base and trigger, are paid for once. */
export const Round = z.strictObject({
  pull: z.int().positive(),
  /** The commit that the work continues from, and the one that the base was at. */
  head: CommitId,
  base: CommitId,
  trigger: z.enum(TRIGGERS),
  /** What it was requested with, such as `comment 1234`; null without a request. */
  request: z.string().max(100).nullable(),
  /** Whether a person asked for it. A bot's request counts as none. */
  byPerson: z.boolean(),
  /** The workflow run that carries it out; null outside a workflow. */
  job: z.strictObject({ run: z.string().max(40), attempt: z.int().positive() }).nullable(),
  /** The run that recorded it for itself alone; null for one that a preparation recorded for the runs after it. */
  runId: z.string().max(100).nullable(),
});
export type Round = z.infer<typeof Round>;

/** A round and the moment when GitHub recorded it, in milliseconds since 1970. */
export interface RecordedRound extends Round {
  readonly at: number;
}

/** How many rounds there may be. */
export interface RoundCaps {
  /** Of one pull request, in a row without a person asking. */
  readonly followUpRounds: number;
  /** Of all pull requests, in 24 hours, whoever asked. */
  readonly followUpsPerDay: number;
}

/** `number` counts rounds without a person asking, from 1; it is 0 if one asked. `today` are those of 24 hours, with this one. */
export interface RoundCounts {
  readonly number: number;
  readonly today: number;
}

/** `isSpent`: a cap is reached, which people should hear of. */
export type RoundVerdict =
  | ({ status: 'recorded' } & RoundCounts)
  | ({ status: 'due' } & RoundCounts)
  | { status: 'refused'; isSpent: boolean; why: string };

/** `round 1 of 2 without anyone asking, 3 of 20 in 24 hours`. */
export function roundWords({ number, today }: RoundCounts, caps: RoundCaps): string {
  const day = `${today} of ${caps.followUpsPerDay} in 24 hours`;
  return number === 0
    ? `round as requested, ${day}`
    : `round ${number} of ${caps.followUpRounds} without anyone asking, ${day}`;
}

const HOUR_MS = 3_600_000;
/** What a day is for the cap. */
export const DAY_MS = 24 * HOUR_MS;

/** Whether the round may begin at `now`; `rounds` are oldest first. */
export function judgeRound(
  rounds: readonly RecordedRound[],
  asked: Round,
  { caps, now }: { caps: RoundCaps; now: number },
): RoundVerdict {
  const own = recordedRound(rounds, asked, caps);
  if (own !== null) return own;
  const { pull, byPerson, job, head } = asked;
  const number = byPerson ? 0 : roundsInARow(rounds, pull) + 1;
  const counts = { number, today: inDayBefore(rounds, now) + 1 };
  // A person re-runs all jobs to have the same once more.
  const isAgain = (job?.attempt ?? 1) > 1;
  const same = isAgain ? undefined : rounds.find((round) => isSame(round, asked));
  if (same !== undefined)
    return refused(
      pull,
      `has had a round for this already, on ${timeText(same.at)}: the same request, or the same head, base and trigger, are paid for once. ${ASK}`,
    );
  const until = isAgain || byPerson ? 0 : pauseUntil(rounds, asked);
  const spent = spentBy(pull, counts, caps);
  if (spent !== null || until <= now) return spent ?? { status: 'due', ...counts };
  return refused(
    pull,
    `is not continued before ${timeText(until)}: the last round on its head ${head.slice(0, 8)} has not led to a commit. ${ASK}`,
  );
}

function refused(pull: number, why: string, isSpent = false): RoundVerdict {
  return { status: 'refused', isSpent, why: `Pull request #${pull} ${why}` };
}

/** Null while the caps permit this round. */
function spentBy(pull: number, { number, today }: RoundCounts, caps: RoundCaps): RoundVerdict | null {
  const why =
    number > caps.followUpRounds
      ? `was continued ${caps.followUpRounds} times without anyone asking for it, the maximum (--follow-up-rounds). ${ASK}`
      : today > caps.followUpsPerDay
        ? `is not continued: as many rounds of pull requests as may begin in 24 hours have begun (${caps.followUpsPerDay}, --follow-ups-per-day).`
        : null;
  return why === null ? null : refused(pull, why, true);
}

const ASK = 'Comment there with /patchsmith and what to do to continue.';

/**
 * The round that was recorded for this run, head and trigger, by itself or by a preparation in the same workflow run, judged by
 * the caps again; null if there is none. What is requested is carried out wherever the head is by then.
 */
export function recordedRound(
  rounds: readonly RecordedRound[],
  { pull, head, trigger, job, runId }: Pick<Round, 'pull' | 'head' | 'trigger' | 'job' | 'runId'>,
  caps: RoundCaps,
): RoundVerdict | null {
  const at = rounds.findIndex(
    (round) =>
      round.pull === pull &&
      (trigger === 'request' || round.head === head) &&
      round.trigger === trigger &&
      (round.runId === null ? isSameJob(round.job, job) : round.runId === runId),
  );
  const own = rounds[at];
  if (own === undefined) return null;
  const until = rounds.slice(0, at + 1);
  const number = own.byPerson ? 0 : roundsInARow(until, pull);
  const counts = { number, today: inDayBefore(until, own.at) };
  return spentBy(pull, counts, caps) ?? { status: 'recorded', ...counts };
}

function inDayBefore(rounds: readonly RecordedRound[], now: number): number {
  return rounds.filter(({ at }) => at > now - DAY_MS).length;
}

/** Those without a person asking, since the last one that a person asked for. */
export function roundsInARow(rounds: readonly RecordedRound[], pull: number): number {
  const own = rounds.filter((round) => round.pull === pull);
  return own.length - 1 - own.findLastIndex(({ byPerson }) => byPerson);
}

function isSameJob(one: Round['job'], other: Round['job']): boolean {
  return one !== null && one.run === other?.run && one.attempt === other.attempt;
}

/** What is requested is asked once, wherever the head is by then. The steps of one workflow do work of their own. */
function isSame(round: Round, asked: Round): boolean {
  if (isSameJob(round.job, asked.job)) return false;
  const keys = asked.request === null ? (['head', 'base', 'trigger'] as const) : (['request'] as const);
  return round.pull === asked.pull && keys.every((key) => round[key] === asked[key]);
}

/** Six weeks: much more is no date any more. */
const MAX_PAUSE_MS = HOUR_MS * 2 ** 10;

/** A head that still is one has got no commit from these rounds: an hour after the first, and twice as long after each more. */
function pauseUntil(rounds: readonly RecordedRound[], { pull, head }: Round): number {
  const failed = rounds.filter((round) => round.pull === pull && round.head === head);
  const last = failed.at(-1);
  return last === undefined ? 0 : last.at + Math.min(HOUR_MS * 2 ** (failed.length - 1), MAX_PAUSE_MS);
}

/** To the minute, in UTC. */
function timeText(at: number): string {
  return new Date(at).toISOString().replace(/^(.*)T(\d\d:\d\d).*$/, '$1 at $2 UTC');
}

/** The message of the commit that records a round: for people, and then what is read back. */
export function roundMessage(round: Round, { number, today }: RoundCounts): string {
  const which = number === 0 ? 'as requested' : `round ${number} without a person asking`;
  return `Pull request ${round.pull}: ${which} (${round.trigger}), ${today} today\n\n${JSON.stringify(round)}\n`;
}

/** The round in the message of a commit; null if it is not one of ours. */
export function roundIn(message: string): Round | null {
  const parsed = Round.safeParse(jsonOrUndefined(message.trimEnd().split('\n').at(-1) ?? ''));
  return parsed.success ? parsed.data : null;
}

/** The ref whose commits are the rounds: outside `heads` and `tags`, where rules for branches and workflows do not reach. */
export const ROUNDS_REF = 'refs/patchsmith/rounds';

/** What to do about a log with a commit that is not a round. */
export function whyDamaged(commit: string): string {
  return `The rounds of pull requests cannot be counted: the commit ${commit.slice(0, 8)} in ${ROUNDS_REF} is not patchsmith's. Delete the ref to begin a new count: git push origin --delete ${ROUNDS_REF}`;
}

/** The workflow run that this process belongs to; null outside a workflow. */
export function jobOfRound({ GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT: attempt }: Environment): Round['job'] {
  if (!/^\d{1,40}$/.test(run ?? '') || run === undefined) return null;
  return { run, attempt: /^[1-9]\d{0,5}$/.test(attempt ?? '') ? Number(attempt) : 1 };
}
