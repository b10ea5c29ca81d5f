/** The plan of a run that continues a pull request: the first run's, and what asks for more. */

import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchIssue } from '../../adapters/github/access.ts';
import type { OwnPull } from '../../adapters/github/pull-requests.ts';
import { readPlan } from '../../adapters/plan/plan-file.ts';
import type { Settings } from '../../config/schema.ts';
import { parseRepoPath } from '../../domain/changes/path.ts';
import { pathMatcher, pathPolicy, pathsOf } from '../../domain/changes/path-policy.ts';
import {
  type FollowUp,
  jobOfRound,
  type RoundVerdict,
  recordedRound,
  roundsInARow,
} from '../../domain/github/follow-up.ts';
import { consequenceOf } from '../../domain/github/publishing/policy.ts';
import type { PullRecord } from '../../domain/github/publishing/pull-text.ts';
import {
  noChange,
  publishFailed,
  type RunOutcome,
  refused,
  type Stopped,
  stopped,
} from '../../domain/run/outcome.ts';
import type { ContextPart, Plan } from '../../domain/run/plan.ts';
import type { Session } from '../session.ts';
import { CONTEXT_BOUNDS, contextPart, type IssueTask } from '../trust/context.ts';
import { type ChecksRead, failedChecks, openThreads, type ThreadsRead } from './asks.ts';
import type { Continued } from './find.ts';
import { besideCheckout } from './local-merge.ts';
import { type ConflictFound, conflictWithBase } from './merge.ts';

/** Maximum characters of the work so far that the model is shown; it can read the files. */
const MAX_DIFF = 30_000;

/** What the plan is made from. */
interface ContinueTask extends IssueTask {
  readonly continued: Continued;
  readonly session: Session;
  /** Root of the work tree. */
  readonly root: string;
  /** The plan of a file or a message, or what a comment asks for; null if neither was given. */
  readonly given: Plan | null;
}

type ContinuedPlan = { status: 'ok'; plan: Plan } | Stopped;

/** Ends the run if nothing asks for more, or if people's commits are in the way. */
export async function continuedPlan(task: ContinueTask): Promise<ContinuedPlan> {
  const { continued, session } = task;
  const { pull, commits, trigger } = continued;
  const requested = await requestedWork(task);
  if (requested.status === 'stopped') return requested;
  const first = await firstPlan(task, pull.record);
  if (first.status === 'stopped') return first;
  const paths = pull.record.rules[1] ?? { allow: [], protect: [] };
  const rules = {
    permits: pathPolicy(first.plan, pathsOf(task.settings, paths)),
    isProtected: protectedBy(task.settings),
  };
  const { diff, conflict } = await besideCheckout(task.root, session.input.env, async (beside) => ({
    diff: await beside.diff(commits.mergeBase, pull.head, MAX_DIFF),
    conflict:
      // Not where the base has not moved.
      trigger === 'check' || commits.behind === 0
        ? NO_CONFLICT
        : await conflictWithBase(beside, {
            ...{ before: commits.mergeBase, head: pull.head, base: pull.base },
            ...rules,
          }),
  }));
  if (conflict.status === 'refused' && trigger === 'request')
    session.warn('WARN_CONFLICT_LEFT', `The conflict with its base is left alone: ${conflict.why}`);
  const asks = [...requested.asks, ...(conflict.status === 'found' ? conflict.asks : [])];
  const merge = conflict.status === 'found' ? pull.base.sha : null;
  const round = roundOf(task);
  const number = round.status === 'refused' ? 0 : round.number;
  const facts = factsOf(continued, { threads: requested.threads, merge, round: number });
  const check = conflict.status === 'found' ? conflict.check : null;
  const plan: Plan = {
    ...first.plan,
    verify: [...first.plan.verify, ...(check === null ? [] : [check])],
    followUp: {
      facts,
      paths,
      title: pull.title,
      diff,
      asks,
      context: await firstRequest(task, pull.record),
    },
  };
  const { title, source, sha256, allow, protect } = plan;
  session.record({
    plan: { title, source, sha256, allow: [...allow], protect: [...protect] },
    followUp: facts,
  });
  const hasAsks = asks.length > 0 || plan.outside !== undefined || task.settings.message !== null;
  const refusal = whyNot(task, { round, conflict, hasAsks }) ?? (await whyTaken(task, round));
  return refusal === null ? { status: 'ok', plan } : stopped(refusal);
}

/** What open threads ask for, and what failed checks do. */
async function requestedWork(task: ContinueTask): Promise<ThreadsRead> {
  const { continued, session } = task;
  const { trigger } = continued;
  const open = trigger === 'request' ? await openThreads(task, continued) : NOTHING;
  if (open.status === 'stopped') return open;
  const checks = trigger === 'conflict' ? NO_CHECKS : await failedChecks(continued);
  if (checks.status === 'ok') return { ...open, asks: [...open.asks, ...checks.asks] };
  if (trigger === 'check') return checks;
  const why = `Failed checks are left out. ${checks.outcome.reason}`;
  session.warn('WARN_CHECKS_LEFT_OUT', why);
  return open;
}

/** What is recorded of the pull request. */
function factsOf(
  continued: Continued,
  { threads, merge, round }: Pick<FollowUp, 'threads' | 'merge' | 'round'>,
): FollowUp {
  const { pull, commits, trigger } = continued;
  return {
    pullRequest: pull.number,
    marker: pull.marker,
    branch: pull.branch,
    head: pull.head,
    base: { branch: pull.base.branch, sha: commits.mergeBase },
    trigger,
    round,
    threads,
    merge,
  };
}

const NO_CONFLICT: ConflictFound = { status: 'none' };
const NO_CHECKS: ChecksRead = { status: 'ok', asks: [] };
const NOTHING: ThreadsRead = { status: 'ok', threads: [], asks: [] };

/** The round of this job was recorded before it; a job that publishes as well records it when the plan is known. */
function roundOf({ continued, session, settings }: ContinueTask): RoundVerdict {
  const { pull, trigger, rounds } = continued;
  const { env, beforeSpending } = session.input;
  const job = jobOfRound(env);
  // Somebody has typed the command.
  if (trigger === 'request' && job === null) return { status: 'recorded', number: 0, today: 0 };
  const asked = { pull: pull.number, head: pull.head, trigger, job, runId: session.runId };
  const number = trigger === 'request' ? 0 : roundsInARow(rounds, pull.number) + 1;
  return (
    recordedRound(rounds, asked, settings) ??
    (beforeSpending === undefined
      ? { status: 'refused', isSpent: false, why: notRecorded(pull) }
      : { status: 'due', number, today: 0 })
  );
}

function notRecorded({ number, head }: OwnPull): string {
  return `Pull request #${number} is not continued: no round was recorded for its head ${head.slice(0, 8)} in this workflow run. A job with mode: prepare and the same continue has to go before it, as in the workflow of patchsmith init; re-run all jobs, not only this one.`;
}

/**
 * Null unless an earlier step of this job has used up the round that a preparation recorded. Without write access to the log,
 * the steps of a job know this from a file.
 */
async function whyTaken(
  { continued: { pull }, session: { input } }: ContinueTask,
  round: RoundVerdict,
): Promise<RunOutcome | null> {
  const job = jobOfRound(input.env);
  const isFirst = input.isCheck !== true && (input.attempt?.number ?? 1) === 1;
  if (round.status !== 'recorded' || job === null || !isFirst) return null;
  const name = `patchsmith-round-${job.run}-${job.attempt}-${pull.number}`;
  try {
    await writeFile(join(input.env.RUNNER_TEMP || tmpdir(), name), '', { flag: 'wx', mode: 0o600 });
    return null;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return publishFailed(
      'ERR_ROUND_NOT_RECORDED',
      `Pull request #${pull.number} is not continued: an earlier step of this job has already used the round that was recorded for it. Steps with mode: run-and-publish, and no preparation, record a round each.`,
    );
  }
}

function whyNot(
  { continued: { pull, commits, trigger } }: ContinueTask,
  { round, conflict, hasAsks }: { round: RoundVerdict; conflict: ConflictFound; hasAsks: boolean },
): RunOutcome | null {
  const name = `Pull request #${pull.number}`;
  const { foreign } = commits;
  if (foreign !== null && trigger !== 'request')
    return publishFailed(
      'ERR_COMMITS_OF_OTHERS',
      `${name} has commits by others (${foreign.sha.slice(0, 8)} by ${foreign.author}), so it is continued only when someone asks for it. Comment there with /patchsmith and what to do: the work then builds on these commits.`,
    );
  if (conflict.status === 'refused' && trigger === 'conflict')
    return publishFailed('ERR_MERGE_NOT_MADE', `${name} is not continued: ${conflict.why}`);
  if (!hasAsks) return noChange(`Nothing requests more work on pull request #${pull.number}.`);
  if (round.status !== 'refused') return null;
  return round.isSpent ? noChange(round.why) : publishFailed('ERR_ROUND_NOT_RECORDED', round.why);
}

/** The plan and the rules of the run that opened the pull request, as in the base, and the current request. */
async function firstPlan(task: ContinueTask, { source, rules, sha256 }: PullRecord): Promise<ContinuedPlan> {
  const { given, continued, settings, session, trust, root, signal } = task;
  const { title } = continued.pull;
  const none = { task: '', verify: [], verifyBaseline: false, setup: [], allow: [], protect: [] };
  let own: Plan = given ?? { ...none, title, source, sha256 };
  if (source.kind === 'file' && settings.plan === null && isInRepository(source.path)) {
    const { revision } = trust;
    const files = { cwd: root, root, revision, signal };
    const read = await readPlan({ ...files, plan: source.path, message: null, stdin: session.input.stdin });
    if (read.status === 'failed') return refused('ERR_PLAN_UNREADABLE', read.message);
    const asked = given ?? { title, source, sha256, task: '' };
    const { task: now, ...names } = asked;
    own = { ...read.plan, ...names, ...rulesOf(read.plan), task: [read.plan.task, now].join('\n\n').trim() };
  }
  const [first] = rules;
  return {
    status: 'ok',
    plan: {
      ...own,
      allow: own.allow.length > 0 ? own.allow : (first?.allow ?? []),
      protect: [...new Set([...own.protect, ...(first?.protect ?? [])])],
    },
  };
}

function rulesOf({ allow, protect, verify, verifyBaseline, setup }: Plan) {
  return { allow, protect, verify, verifyBaseline, setup };
}

/** A record cannot make the run use a file elsewhere. */
function isInRepository(path: string): boolean {
  const verdict = parseRepoPath(path);
  return verdict.ok && verdict.path === path && path !== '';
}

/** The issue that the pull request was opened for, unless it has come along already. */
async function firstRequest(task: ContinueTask, { source }: PullRecord): Promise<ContextPart[]> {
  const { given, trust, signal } = task;
  if (source.kind !== 'issue' && source.kind !== 'comment') return [];
  if (given?.outside?.context?.parts.some(({ kind }) => kind === 'issue')) return [];
  const { repository, number } = source;
  const read = await fetchIssue(await trust.openGitHub(signal), { repository, number });
  return read.status === 'ok' ? [await contextPart(read.data, CONTEXT_BOUNDS.body)] : [];
}

/** The reasons for which publishing would be refused, as far as this job knows its settings. */
function protectedBy({ protectedPaths, acceptProtected, principles }: Settings): (path: string) => boolean {
  const isAccepted = pathMatcher(acceptProtected);
  const rules = { mode: protectedPaths, isAccepted, principles: principles ?? [] };
  return (path) => consequenceOf(path, rules) === 'refuse';
}
