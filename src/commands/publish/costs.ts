/**
 * What runs have cost: whether that leaves room for another one (`--cost-per-day`, `--cost-per-plan`), and `patchsmith outcomes`, with
 * what became of the pull requests. Only reads.
 */

import * as z from 'zod';
import { ownAccount } from '../../adapters/github/access.ts';
import { GitHubObjectId, type OnGitHub } from '../../adapters/github/request.ts';
import { startOfId } from '../../adapters/storage/run-directory.ts';
import type { Settings } from '../../config/schema.ts';
import { originOfCommit } from '../../domain/github/publishing/commit-message.ts';
import {
  costOfCommit,
  countedOnce,
  type OutcomesReport,
  type PullOutcome,
  type RunCost,
  recordOfCosts,
  sumOfCosts,
} from '../../domain/github/publishing/costs.ts';
import { done, limitReached, type RunOutcome } from '../../domain/run/outcome.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import { columns, jsonDocument } from '../../domain/text/terminal.ts';
import { pluralize } from '../../domain/text/words.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { type OverRuns, overRuns } from '../work.ts';
import { ended, openPlace } from './place.ts';
import { type PublishInputs, readPublishInputs } from './start.ts';

const DAY_MS = 24 * 3_600_000;

/** How far back the runs of a plan count. */
const DAYS = 30;

/** What is left: `words` are for people, empty without a limit. */
export interface SpentBudget {
  readonly words: string;
  /** Null if another run may begin; `marker` is the id of its plan or pull request. */
  whyNot(marker: string | null): RunOutcome | null;
}

/** Reads nothing where nothing is limited. Throws `GitHubRefused`. */
export async function readBudget(
  where: OnGitHub,
  { costPerDay, costPerPlan }: Pick<Settings, 'costPerDay' | 'costPerPlan'>,
  now: number,
): Promise<SpentBudget> {
  if (costPerDay === null && costPerPlan === null) return { words: '', whyNot: () => null };
  const { costs } = await readCosts(where, now - (costPerPlan === null ? 1 : DAYS) * DAY_MS);
  const since = (days: number) =>
    costs.filter(({ runId }) => (startOfId(runId) ?? now) > now - days * DAY_MS);
  const used = (some: readonly RunCost[], limit: number, span: string) =>
    `USD ${sumOfCosts(some).toFixed(2)} of ${limit.toFixed(2)} ${span} (${pluralize(some.length, 'run')})`;
  const refusal = (some: readonly RunCost[], limit: number | null, span: string, flag: string) =>
    limit === null || sumOfCosts(some) < limit
      ? null
      : limitReached(
          'ERR_BUDGET_USED',
          `Runs have used ${used(some, limit, span)}: no model is asked until that is less, or ${flag} is raised.`,
        );
  const today = since(1);
  return {
    words: costPerDay === null ? '' : `Used: ${used(today, costPerDay, IN_A_DAY)}.`,
    whyNot(marker) {
      const ofPlan = since(DAYS).filter((one) => one.marker === marker);
      return (
        refusal(today, costPerDay, IN_A_DAY, '--cost-per-day') ??
        refusal(ofPlan, costPerPlan, `for this plan in ${DAYS} days`, '--cost-per-plan')
      );
    },
  };
}

const IN_A_DAY = 'in 24 hours';

const DEFAULT_MS = 30 * 24 * 3_600_000;

/** Starts `patchsmith outcomes` with the given flags and variables. */
export async function startOutcomes(context: HostContext, given: Given): Promise<CommandOutcome> {
  const flags = { ...given.flags, output: 'none' };
  const inputs = readPublishInputs(context, { ...given, flags }, 'pull-requests: read and issues: read');
  if (inputs.status === 'refused') return inputs;
  return sayEnd(context, await showOutcomes(overRuns(context, given), inputs));
}

/** Prints a table, or the document. */
async function showOutcomes(
  context: OverRuns,
  { settings, repository, token }: PublishInputs & { status: 'ok' },
): Promise<RunOutcome> {
  context.hide(token);
  const { version, redact, json, print, say } = context;
  const { since: asked } = settings;
  const now = context.now();
  const from = asked === null ? now - DEFAULT_MS : 'at' in asked ? asked.at : now - asked.agoMs;
  const place = await openPlace({ ...context, settings, repository, token, say });
  const read = await ended(place, () => readCosts(place.upstream, from));
  if ('name' in read) return read;
  const costs = read.costs.filter(({ runId }) => (startOfId(runId) ?? from) >= from);
  const pulls = read.pulls.filter(({ createdAt }) => createdAt >= from);
  const inState = (wanted: string) => pulls.filter(({ state }) => state === wanted);
  const [merged, costUsd] = [inState('merged'), sumOfCosts(costs)];
  const report: OutcomesReport = {
    version: 1,
    patchsmith: version,
    repository,
    since: new Date(from).toISOString(),
    pullRequests: pulls.map(({ createdAt: _, marker, ...pull }) => {
      const own = costs.filter((one) => one.marker === marker);
      return { ...pull, runs: own.length, costUsd: sumOfCosts(own) };
    }),
    merged: merged.length,
    closed: inState('closed').length,
    open: inState('open').length,
    editedBeforeMerge: merged.filter(({ edited }) => edited).length,
    runs: costs.length,
    costUsd,
    costPerMergedUsd: merged.length === 0 ? null : costUsd / merged.length,
  };
  const document = json ? jsonDocument(report, redact) : tableOf(report, redact);
  return (await print(document)) ?? done(summaryOf(report));
}

function tableOf({ pullRequests }: OutcomesReport, redact: Redact): string {
  const rows = pullRequests.map(({ number, state, edited, runs, costUsd, title }) => {
    return [`#${number}`, state, edited ? 'yes' : 'no', String(runs), usdText(costUsd), title];
  });
  const head = ['PULL REQUEST', 'STATE', 'EDITED', 'RUNS', 'COST', 'TITLE'];
  return columns([head, ...rows], [12, 8, 6, 6, 12, 60], redact);
}

function summaryOf(report: OutcomesReport): string {
  const { pullRequests, since, merged, editedBeforeMerge, closed, open, runs, costUsd } = report;
  const each = report.costPerMergedUsd === null ? '' : `, ${usdText(report.costPerMergedUsd)} per merged one`;
  return `${pluralize(pullRequests.length, 'pull request')} since ${since.slice(0, 10)}: ${merged} merged (${editedBeforeMerge} edited by others), ${closed} closed, ${open} open; ${pluralize(runs, 'run')}, ${usdText(costUsd)}${each}.`;
}

function usdText(amount: number): string {
  return `USD ${amount.toFixed(2)}`;
}

const Writer = z.object({ login: z.string(), type: z.string() }).nullish();
const Thread = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  user: Writer,
  state: z.string(),
  html_url: z.string(),
  created_at: z.iso.datetime({ offset: true }),
  pull_request: z.object({ merged_at: z.string().nullish() }).optional(),
});
const Comment = z.object({ issue_url: z.string(), body: z.string().nullish(), user: Writer });
const Commit = z.object({
  commit: z.object({ message: z.string(), tree: z.object({ sha: GitHubObjectId }) }),
  parents: z.array(z.unknown()),
});

/** What runs have cost, and their pull requests, of all that was updated since, in Unix milliseconds. Only texts of the token's account, or of a bot, are believed. */
async function readCosts(where: OnGitHub, sinceMs: number) {
  const since = new Date(sinceMs).toISOString().replace(/\.\d+/, '');
  const me = await ownAccount(where.github);
  const isOurs = (user: z.infer<typeof Writer>) =>
    user != null && (user.login === me?.login || (user.type === 'Bot' && !me?.login.endsWith('[bot]')));
  const pulls: (PullOutcome & { createdAt: number; marker: string })[] = [];
  // `marker` is the id of the plan, or of the pull request that was continued; `number` that of what says so.
  const costs: (RunCost & { marker: string; number: number })[] = [];
  const threads = await where.list('/issues', Thread, { state: 'all', since });
  for (const { number, title, body, user, state, html_url: url, created_at, pull_request } of threads) {
    // The last one, where ours is: people may have written below it.
    const marker = [...(body ?? '').matchAll(/<!-- patchsmith:([0-9a-f]{8}) -->/g)].at(-1)?.[1];
    if (pull_request === undefined || marker === undefined || !isOurs(user)) continue;
    const commits = await where.list('/pulls/{pull_number}/commits', Commit, { pull_number: number });
    let edited = false;
    for (const { commit, parents } of commits) {
      const origin = originOfCommit(commit.message);
      if (origin?.tree === commit.tree.sha)
        costs.push({ runId: origin.runId, usd: costOfCommit(commit.message), marker, number });
      else edited ||= parents.length < 2;
    }
    const isMerged = typeof pull_request.merged_at === 'string';
    pulls.push({
      ...{ number, title, url, edited, marker },
      state: state === 'open' ? 'open' : isMerged ? 'merged' : 'closed',
      createdAt: Date.parse(created_at),
    });
  }
  const comments = await where.list('/issues/comments', Comment, { since });
  // What went wrong on the pull request of a plan belongs to the plan.
  const plans = new Map(pulls.map(({ number, marker }) => [number, marker]));
  for (const { issue_url, body, user } of comments) {
    const record = isOurs(user) ? recordOfCosts(body ?? '') : null;
    const number = Number(issue_url.split('/').at(-1));
    for (const cost of record?.costs ?? [])
      costs.push({ ...cost, marker: plans.get(number) ?? record?.marker ?? '', number });
  }
  return { pulls, costs: countedOnce(costs) };
}
