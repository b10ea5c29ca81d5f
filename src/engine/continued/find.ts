/**
 * Which pull request a run continues, and whether it may: looked up before its settings are read, since rules come from its base, and
 * before anything is checked out, so that a workflow can check out its head.
 */

import * as z from 'zod';
import type { CommitsSince } from '../../adapters/github/branch.ts';
import { mayHaveFailedChecks } from '../../adapters/github/checks.ts';
import {
  commitsOf,
  listOwnPulls,
  NOT_OWN,
  type NotOwn,
  type OwnPull,
  readOwnPull,
} from '../../adapters/github/pull-requests.ts';
import { OnGitHub } from '../../adapters/github/request.ts';
import { readRounds } from '../../adapters/github/round-log.ts';
import type { Environment } from '../../domain/environment.ts';
import type { GitHubEvent } from '../../domain/github/event.ts';
import { type RecordedRound, type Round, type Trigger, whyDamaged } from '../../domain/github/follow-up.ts';
import {
  noChange,
  policyViolation,
  publishFailed,
  type RunOutcome,
  refused,
  type Stopped,
  stopped,
} from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/words.ts';
import type { GitHub } from '../../ports/github.ts';
import type { Clock } from '../../ports.ts';
import type { BesideCheckout } from './local-merge.ts';

/** Finds the pull request by patchsmith that a run continues. */
export interface Continued {
  readonly repository: OnGitHub;
  readonly pull: OwnPull;
  readonly commits: CommitsSince;
  readonly trigger: Trigger;
  /** All rounds so far, oldest first; not read for a request outside a workflow. */
  readonly rounds: readonly RecordedRound[];
}

/** What the search starts from. */
interface ContinueQuestion {
  /** The setting: `auto`, or a number. */
  readonly asked: string;
  /** OWNER/NAME; null if it is not known. */
  readonly repository: string | null;
  readonly event: GitHubEvent | null;
  /** The checked-out commit. */
  readonly head: string | null;
  readonly now: Clock;
  readonly job: Round['job'];
  readonly openGitHub: () => Promise<GitHub>;
  readonly beside: <T>(work: (beside: BesideCheckout) => Promise<T>) => Promise<T>;
}

/** `none`: the event is about no pull request by patchsmith, so the run is an ordinary one. */
type ContinueFound = { status: 'none' } | { status: 'found'; continued: Continued } | Stopped;

/** Throws `GitHubRefused` when GitHub refuses. */
export async function findContinued(question: ContinueQuestion): Promise<ContinueFound> {
  const { asked, repository, event, head } = question;
  if (repository === null)
    return refused(
      'ERR_NO_REPOSITORY_NAME',
      '--continue: the repository is unknown; pass --repository OWNER/NAME.',
    );
  const where = new OnGitHub(await question.openGitHub(), repository);
  const trigger = triggerOf(event);
  const pull = asked === 'auto' ? await pullOfEvent(where, event) : await readOwnPull(where, numberIn(asked));
  if (pull === null) {
    if (trigger === 'request') return { status: 'none' };
    return stopped(
      noChange(`The event ${event?.name} does not refer to an open pull request of patchsmith.`),
    );
  }
  if (typeof pull === 'string') {
    if (asked === 'auto' && trigger === 'request') return { status: 'none' };
    const name = asked === 'auto' ? 'The pull request of the event' : `Pull request #${numberIn(asked)}`;
    return stopped(notContinued(name, pull));
  }
  const name = `Pull request #${pull.number}`;
  if (head !== pull.head)
    return refused(
      'ERR_OTHER_HEAD_CHECKED_OUT',
      `${name} is at ${pull.head.slice(0, 8)}, and ${head?.slice(0, 8) ?? 'no commit'} is checked out. Check out its head with the whole history: ref: refs/pull/${pull.number}/head and fetch-depth: 0 for actions/checkout, or git fetch origin pull/${pull.number}/head && git checkout FETCH_HEAD.`,
    );
  const commits = await question.beside(({ cleanMerge }) => commitsOf(where, pull, cleanMerge));
  if (commits === null)
    return stopped(
      policyViolation(
        'ERR_NOT_OUR_PULL_REQUEST',
        `${name} was not made by patchsmith: no commit on its branch says so, whatever its text says.`,
      ),
    );
  const { rounds, damaged } =
    trigger === 'request' && question.job === null
      ? { rounds: [], damaged: null }
      : await readRounds(where, pull, question.now());
  if (damaged !== null)
    return stopped(publishFailed('ERR_ROUND_NOT_RECORDED', sentence(whyDamaged(damaged))));
  return { status: 'found', continued: { repository: where, pull, commits, trigger, rounds } };
}

/** Events that happen without a person asking for more work. */
function triggerOf(event: GitHubEvent | null): Trigger {
  const name = event?.name ?? '';
  if (['workflow_run', 'check_run', 'check_suite', 'status'].includes(name)) return 'check';
  return name === 'push' || name === 'schedule' ? 'conflict' : 'request';
}

/** The number in the setting. */
function numberIn(asked: string): number {
  return Number(asked.replace('#', ''));
}

/** The pull request that was commented on or reviewed; null when the event is about none. */
function numberOfEvent(event: GitHubEvent | null): number | null {
  return event?.pullRequest?.number ?? event?.commentedPull ?? null;
}

/** Null when the event is not about a pull request; for a comment on an issue, the pull request that the issue's plan has made. */
async function pullOfEvent(where: OnGitHub, event: GitHubEvent | null): Promise<OwnPull | NotOwn | null> {
  const number = numberOfEvent(event);
  if (number !== null) return readOwnPull(where, number);
  const issue = event?.texts.find(({ source }) => source.kind === 'issue')?.source.number;
  const head = event?.earlierRun?.commit;
  if (issue === undefined && head === undefined) return null;
  const found = (await listOwnPulls(where)).find((pull) =>
    issue === undefined ? pull.head === head : isOfIssue(pull, where, issue),
  );
  return found === undefined ? null : readOwnPull(where, found.number);
}

function isOfIssue({ record: { source } }: OwnPull, { owner, repo }: OnGitHub, number: number): boolean {
  if (source.kind !== 'issue' && source.kind !== 'comment') return false;
  return source.number === number && source.repository.toLowerCase() === `${owner}/${repo}`.toLowerCase();
}

/** Why `name` is no pull request to continue, and what is possible there. */
function notContinued(name: string, why: NotOwn): RunOutcome {
  const reason = `${name} is not continued: ${NOT_OWN[why]}${INSTEAD[why] ?? ''}`;
  return policyViolation('ERR_NOT_OUR_PULL_REQUEST', reason);
}

const READ_ONLY = ' In a checkout of it, patchsmith run --read-only answers questions and changes nothing';
const INSTEAD: Partial<Record<NotOwn, string>> = {
  'of a fork': `${READ_ONLY}.`,
  'not ours': `${READ_ONLY}; patchsmith run --publish opens a pull request into its branch.`,
};

const Mergeable = z.object({ mergeable: z.boolean().nullish() });

/** GitHub computes it after a push; until then it is null. */
const LOOKS = 6;

/** Our pull requests into this branch that GitHub can no longer merge. */
async function conflictingOn(where: OnGitHub, base: string, pauseMs: number): Promise<number[]> {
  const pulls = (await listOwnPulls(where)).filter((pull) => pull.base.branch === base);
  const found: number[] = [];
  for (const { number } of pulls) if (await isConflicting(where, number, pauseMs)) found.push(number);
  return found;
}

async function isConflicting(where: OnGitHub, number: number, pauseMs: number): Promise<boolean> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const { mergeable } = await where.get('/pulls/{pull_number}', Mergeable, { pull_number: number });
    if (typeof mergeable === 'boolean') return !mergeable;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return false;
}

/** The pull requests that a job continues. `ordinary`: none, so that its run begins from the base. */
export type PullsToContinue =
  | { status: 'ordinary' }
  | { status: 'found'; trigger: Trigger; pulls: readonly OwnPull[] }
  | Stopped;

/**
 * `asked` is the setting, and `pauseMs` the time before GitHub is asked again for what it has not computed yet. Without a person asking, only those with a conflict or a failed check. Refuses what is asked for on a
 * pull request that patchsmith did not make. Throws `GitHubRefused`.
 */
export async function pullsToContinue(
  where: OnGitHub,
  {
    asked,
    event,
    env,
    pauseMs,
  }: { asked: string; event: GitHubEvent | null; env: Environment; pauseMs: number },
): Promise<PullsToContinue> {
  if (asked === 'never') return { status: 'ordinary' };
  const trigger = triggerOf(event);
  const found = (pulls: readonly OwnPull[]): PullsToContinue => ({ status: 'found', trigger, pulls });
  if (asked === 'auto' && trigger === 'conflict') {
    const numbers = await conflictingOn(where, env.GITHUB_REF_NAME ?? '', pauseMs);
    const pulls = await Promise.all(numbers.map((number) => readOwnPull(where, number)));
    return found(pulls.filter((pull) => typeof pull !== 'string'));
  }
  const pull = asked === 'auto' ? await pullOfEvent(where, event) : await readOwnPull(where, numberIn(asked));
  if (pull === null || typeof pull === 'string') {
    const isAuto = asked === 'auto';
    if (isAuto && trigger !== 'request') return found([]);
    const number = isAuto ? numberOfEvent(event) : numberIn(asked);
    // Without a comment or a review, nothing was asked for there.
    if (pull === null || number === null || (isAuto && event?.request === null))
      return { status: 'ordinary' };
    return stopped(notContinued(`Pull request #${number}`, pull));
  }
  const isDue =
    trigger === 'request' ||
    (trigger === 'check'
      ? await mayHaveFailedChecks(where, pull.head)
      : await isConflicting(where, pull.number, pauseMs));
  return found(isDue ? [pull] : []);
}
