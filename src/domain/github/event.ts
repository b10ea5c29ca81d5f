/** The event that started a job on GitHub, as far as trust depends on it, and what follows from it. */

import { type Account, isBot, type UntrustedText } from './untrusted-text.ts';

/** The event that started a workflow, as far as trust depends on it. */
export interface GitHubEvent {
  /** `issues`, `pull_request`, … */
  readonly name: string;
  /** OWNER/NAME; null if the runner does not provide it. */
  readonly repository: string | null;
  readonly repositoryId: number | null;
  /** GITHUB_SHA: the commit that the workflow itself comes from, which is an outsider's only in a pull request. */
  readonly commit: string | null;
  /** The account that caused the event; null for events without one, such as a schedule. */
  readonly sender: Account | null;
  /** Login of the account that re-ran the job; null if none did, or it was the sender. */
  readonly rerunBy: string | null;
  readonly pullRequest: PullRequestHead | null;
  /** For `workflow_run`: the head of the triggering run, and the account that caused it. */
  readonly earlierRun: (HeadCommit & { readonly event: string; readonly actor: Account | null }) | null;
  /** Number of the pull request that was commented on; null for an issue, and for other events. */
  readonly commentedPull: number | null;
  /** Id of the comment or the review that the event is about, as in `comment 1234`; null for other events. */
  readonly request: string | null;
  /** Texts as they were when the event happened. */
  readonly texts: readonly UntrustedText[];
  /** The summary of the review that the event is about, read as a comment; null for other events. */
  readonly review: UntrustedText | null;
}

/** `repositoryId` is null if the repository no longer exists. */
export interface HeadCommit {
  readonly commit: string;
  readonly repositoryId: number | null;
}

/** The head of the pull request that an event is about. */
export interface PullRequestHead extends HeadCommit {
  readonly number: number;
  readonly baseCommit: string;
}

/** Only accounts with write access can cause these; GitHub starts no job for others. */
const BY_WRITERS = ['push', 'schedule', 'workflow_dispatch', 'repository_dispatch', 'merge_group'];

/** Jobs for these run with the repository's secrets even when outsiders cause them, and may concern an outsider's commit. */
const PRIVILEGED = [
  'pull_request_target',
  'workflow_run',
  'issue_comment',
  'check_run',
  'check_suite',
  'status',
];

/** The accounts whose write access must be verified before anything is spent. Empty if GitHub has ensured it. */
export function whoMustHaveWriteAccess(event: GitHubEvent): { people: Account[]; rerunBy: string | null } {
  if (BY_WRITERS.includes(event.name)) return { people: [], rerunBy: null };
  const hasEarlier = event.name === 'workflow_run' || event.earlierRun !== null;
  const causes = hasEarlier ? [event.sender, event.earlierRun?.actor ?? null] : [event.sender];
  // If any of them is unknown, no one qualifies.
  const people = causes.includes(null) ? [] : causes.filter((account) => account !== null);
  const unique = people.filter(({ id }, at) => people.findIndex((other) => other.id === id) === at);
  return { people: unique, rerunBy: event.rerunBy };
}

/** Whether GitHub only lets accounts with write access cause this event. */
export function isByWriters({ name }: GitHubEvent): boolean {
  return BY_WRITERS.includes(name);
}

/** Null if the account is not a bot, or a bot that may start runs. */
export function whyNoBot(account: Account, allowed: readonly string[]): string | null {
  if (!isBot(account) || allowed.includes(String(account.id))) return null;
  return `The bot ${account.login} started this job, and its id ${account.id} is not allowed. A name proves nothing: if this account may start runs, use --allow-bot ${account.id}.`;
}

/**
 * Whose code is checked out. `untrusted`: an outsider may have written it. `unsure`: it belongs to a pull request whose head
 * only the API knows. `rules` is the commit whose project file, principles and plans can be trusted; null if none is known.
 */
export type CheckoutTrust =
  | { is: 'trusted' }
  | { is: 'untrusted'; privileged: boolean; why: string; rules: string | null }
  | { is: 'unsure'; pull: number; rules: string | null };

/** `head` is the checked-out commit. */
export function trustInCheckout(event: GitHubEvent, head: string | null): CheckoutTrust {
  const { name, pullRequest, earlierRun, commentedPull, commit, repositoryId } = event;
  const isOwn = (other: HeadCommit | null) =>
    other !== null && repositoryId !== null && other.repositoryId === repositoryId;
  if (!PRIVILEGED.includes(name)) {
    if (pullRequest === null || isOwn(pullRequest) || head === pullRequest.baseCommit) return TRUSTED;
    const why = `The pull request ${pullRequest.number} comes from a fork`;
    return { is: 'untrusted', privileged: false, why, rules: pullRequest.baseCommit };
  }
  // An unknown commit equals none.
  if (head !== null && (head === commit || head === pullRequest?.baseCommit)) return TRUSTED;
  if (name === 'issue_comment') {
    return commentedPull === null ? TRUSTED : { is: 'unsure', pull: commentedPull, rules: commit };
  }
  const other = pullRequest ?? earlierRun;
  if (isOwn(other) && head !== null && head === other?.commit) return TRUSTED;
  const why = `${name} gives this job the secrets of the repository, and the commit that is checked out (${head ?? 'none'}) is not known to be one of its own`;
  return { is: 'untrusted', privileged: true, why, rules: commit };
}

/** The same, once the API has returned the head of the pull request. */
export function trustInPull(
  event: GitHubEvent,
  head: string | null,
  pull: { number: number; head: HeadCommit | null },
): Exclude<CheckoutTrust, { is: 'unsure' }> {
  const { repositoryId, commit } = event;
  const isOwn = pull.head !== null && repositoryId !== null && pull.head.repositoryId === repositoryId;
  if (isOwn && pull.head?.commit === head) return TRUSTED;
  const of = isOwn ? 'is not the head of' : 'may be of a fork, as is';
  const why = `issue_comment gives this job the secrets of the repository, and the commit that is checked out (${head ?? 'none'}) ${of} the pull request ${pull.number}`;
  return { is: 'untrusted', privileged: true, why, rules: commit };
}

const TRUSTED = { is: 'trusted' } as const;
