/**
 * `patchsmith prepare`: before a run is paid for, checks that GitHub would permit its publication, and says on the issue that
 * work begins, or why it does not.
 */

import { posix } from 'node:path';
import { readGitHubEvent } from '../../../adapters/github/event-file.ts';
import type { OnGitHub } from '../../../adapters/github/request.ts';
import type { Settings } from '../../../config/schema.ts';
import type { GitHubEvent } from '../../../domain/github/event.ts';
import { issuePlanId, planId } from '../../../domain/github/publishing/identity.ts';
import { conclude } from '../../../domain/github/publishing/publication.ts';
import { done, type RunOutcome, usageError } from '../../../domain/run/outcome.ts';
import type { PlanSource } from '../../../domain/run/plan.ts';
import type { PullsToContinue } from '../../../engine/continued/find.ts';
import { refusedResult } from '../../../engine/finish/empty-result.ts';
import { sha256Of } from '../../../files/hash.ts';
import type { CommandOutcome, HostContext } from '../../../host/context.ts';
import { sayEnd, sayTo } from '../../../host/say.ts';
import type { Given } from '../../command.ts';
import { readBudget, type SpentBudget } from '../costs.ts';
import type { IssueOfWork } from '../job.ts';
import { ended, obstacleIn, openPlace, type PublishPlace, stop } from '../place.ts';
import { type BranchWork, refuseForeign } from '../plan-branch.ts';
import { preflightPublishing } from '../preflight.ts';
import { prepareRounds, RUN_CAN_START } from '../rounds.ts';
import { MAX_SAID, readPublishInputs } from '../start.ts';
import { commentOrWarn, labelIssue, readIssueOfWork, sayShortly } from './issue-of-work.ts';

/** Starts `patchsmith prepare` with the given flags and variables. */
export async function startPrepare(context: HostContext, given: Given): Promise<CommandOutcome> {
  const inputs = readPublishInputs(context, given);
  if (inputs.status === 'refused') return inputs;
  context.hide(inputs.token);
  const say = sayTo(context, MAX_SAID);
  const place = await openPlace({ ...context, ...inputs, say });
  const { publication } = place;
  const outcome = await prepare(context, place);
  conclude(publication, outcome);
  context.onPublication?.(publication);
  for (const warning of publication.warnings) say(`warning: ${warning}`);
  return sayEnd(context, outcome);
}

async function prepare(context: HostContext, place: PublishPlace): Promise<RunOutcome> {
  const { settings, upstream, version, runUrl } = place;
  const { now } = context;
  const read = await ended(place, async () => ({
    issue: await readIssueOfWork(place),
    asked: await pullsAskedFor(context, upstream, settings),
    budget: await readBudget(upstream, settings, now()),
  }));
  if ('name' in read) return read;
  const { issue, asked, budget } = read;
  const asks = asked.status === 'found' ? asked.pulls : null;
  const pulls = asks?.filter(({ marker }) => budget.whyNot(marker) === null) ?? null;
  const isAnswer = settings.publishAs !== 'pull-request';
  const made: { rounds: Awaited<ReturnType<typeof prepareRounds>> | null; ready: string[] } = {
    rounds: null,
    ready: [],
  };
  const obstacle = await obstacleIn(place, async () => {
    if (asked.status === 'stopped') stop(asked.outcome);
    const [first] = asks ?? [];
    const isSpent = pulls?.length === 0 && first !== undefined;
    const used =
      budget.whyNot(issue && issuePlanId(issue.askedIn.url, sha256Of)) ??
      (isSpent ? budget.whyNot(first.marker) : null);
    if (used !== null) stop(used);
    // The question whether it may write is a write itself, if one without an effect.
    if (!settings.dryRun && pulls?.length !== 0 && !isAnswer)
      await preflightPublishing(place, pulls !== null);
    if (asked.status === 'found') {
      made.rounds = await prepareRounds(place, { ...asked, now }, { ...asked, pulls: pulls ?? [] });
      if (made.rounds.outcome.exitCode !== 0) stop(made.rounds.outcome);
    } else if (!settings.dryRun && !isAnswer)
      await refuseObstacles(place, { budget, works: worksOf(context, settings, issue), ready: made.ready });
  });
  const { rounds, ready } = made;
  if (pulls !== null) context.onContinued?.(rounds?.ready ?? []);
  if (rounds?.isRepeated) return rounds.outcome;
  const good = rounds?.outcome ?? PERMITTED;
  const end = obstacle ?? { ...good, reason: `${good.reason} ${budget.words}`.trim() };
  if (issue === null) {
    context.onPrepared?.(ready);
    return end;
  }
  const result = { ...refusedResult(obstacle ?? PERMITTED, version), runId: 'none yet' };
  // An answer without the link stays the same, however often it is asked for.
  const job = { ...place, ...issue, result, runUrl: asked.status === 'stopped' ? null : runUrl };
  if (obstacle !== null) await commentOrWarn(job, obstacle);
  // The comment that the outcome will replace.
  else
    await sayShortly(place, issue.askedIn.number, {
      headline: 'Working on it',
      reason: [WILL_SAY, ...(rounds?.words ?? []).map((one) => `(${one})`)].join(' '),
      next: 'Stop it by cancelling the workflow run.',
      ...{ marker: issue.issueMarker, runUrl: job.runUrl, link: 'See it work' },
    });
  await labelIssue(job, obstacle === null ? 'running' : 'failed');
  return end;
}

/** A plan to carry out. `file` is as given; null for an issue's plan. */
type PlannedWork = BranchWork & { readonly file: string | null };

/** That of the issue, or of each plan file; none where the plan is not known here. */
function worksOf(
  { env }: HostContext,
  { plan }: Pick<Settings, 'plan'>,
  found: IssueOfWork | null,
): PlannedWork[] {
  const [, base = null] = /^refs\/heads\/(.+)$/.exec(env.GITHUB_REF ?? '') ?? [];
  const workFrom = (source: PlanSource, file: string | null) => ({
    plan: { source, title: '', sha256: '' },
    base,
    hasIssue: found !== null,
    file,
  });
  if (found === null)
    return planFiles(plan).map((file) => workFrom({ kind: 'file', path: posix.normalize(file) }, file));
  const { repository, number, url, isPullRequest } = found.askedIn;
  return isPullRequest ? [] : [workFrom({ kind: 'issue', repository, number, url, author: '' }, null)];
}

/** One a line, as a workflow with a matrix of plans names them. */
function planFiles(plan: string | null): string[] {
  const lines = (plan ?? '').split('\n').map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== '' && line !== '-'))];
}

/** Stops with all obstacles in one; the plan files without one go into `ready`. */
async function refuseObstacles(
  place: PublishPlace,
  given: { budget: SpentBudget; works: readonly PlannedWork[]; ready: string[] },
): Promise<void> {
  const { budget, works, ready } = given;
  const refusals: RunOutcome[] = [];
  for (const work of works) {
    const id = planId(work.plan, place.repository, sha256Of);
    const obstacle = budget.whyNot(id) ?? (await obstacleIn(place, () => refuseForeign(place, work)));
    if (obstacle !== null) refusals.push(obstacle);
    else if (work.file !== null) ready.push(work.file);
  }
  const [first] = refusals;
  if (first === undefined) return;
  const others = ready.length > 0 ? ['The other plans may be carried out.'] : [];
  stop({ ...first, reason: [...refusals.map(({ reason }) => reason), ...others].join(' ') });
}

/** Whoever may not start a run gets no answer to a comment and no round: one asked for by a person begins the count anew. */
async function pullsAskedFor(
  { env, interrupt }: HostContext,
  where: OnGitHub,
  settings: Settings,
): Promise<PullsToContinue & { event: GitHubEvent | null }> {
  const { continued } = settings;
  const { pullsToContinue } = await import('../../../engine/continued/find.ts');
  const { passGate } = await import('../../../engine/trust/gate.ts');
  const read = await readGitHubEvent(env);
  if (read.status === 'failed' && continued !== 'never')
    stop(usageError('ERR_EVENT_UNREADABLE', read.message));
  const event = read.status === 'ok' ? read.event : null;
  const found = await pullsToContinue(where, { asked: continued, event, env, pauseMs: PAUSE_MS });
  if (found.status === 'ordinary' && event?.request == null) return { ...found, event };
  const openGitHub = () => Promise.resolve(where.github);
  const trust = { event, refusal: null, token: 'given', openGitHub };
  const gate = await passGate({ input: { trust, settings }, interrupt });
  return gate.status === 'stopped' ? stop(gate.outcome) : { ...found, event };
}

/** Length of a pause in which GitHub computes whether something can be merged. */
const PAUSE_MS = 5_000;

const PERMITTED = done(RUN_CAN_START);

const WILL_SAY = 'This comment will say what came of it.';
