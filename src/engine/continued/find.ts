/** Which pull request a run continues, and whether it may: looked up before its settings are read, since rules come from its base. */

import type { CommitsSince } from '../../adapters/github/branch.ts';
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
  readonly openBeside: () => Promise<BesideCheckout>;
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
  const commits = await commitsOf(where, pull, (await question.openBeside()).cleanMerge);
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
export function triggerOf(event: GitHubEvent | null): Trigger {
  const name = event?.name ?? '';
  if (['workflow_run', 'check_run', 'check_suite', 'status'].includes(name)) return 'check';
  return name === 'push' || name === 'schedule' ? 'conflict' : 'request';
}

/** The number in the setting. */
export function numberIn(asked: string): number {
  return Number(asked.replace('#', ''));
}

/** The pull request that was commented on or reviewed; null when the event is about none. */
export function numberOfEvent(event: GitHubEvent | null): number | null {
  return event?.pullRequest?.number ?? event?.commentedPull ?? null;
}

/** Null when the event is not about a pull request; for a comment on an issue, the pull request that the issue's plan has made. */
export async function pullOfEvent(
  where: OnGitHub,
  event: GitHubEvent | null,
): Promise<OwnPull | NotOwn | null> {
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
export function notContinued(name: string, why: NotOwn): RunOutcome {
  const reason = `${name} is not continued: ${NOT_OWN[why]}${INSTEAD[why] ?? ''}`;
  return policyViolation('ERR_NOT_OUR_PULL_REQUEST', reason);
}

const READ_ONLY = ' In a checkout of it, patchsmith run --read-only answers questions and changes nothing';
const INSTEAD: Partial<Record<NotOwn, string>> = {
  'of a fork': `${READ_ONLY}.`,
  'not ours': `${READ_ONLY}; patchsmith run --publish opens a pull request into its branch.`,
};
