/**
 * What runs have cost: whether that leaves room for another one (`--cost-per-day`, `--cost-per-plan`), and `patchsmith outcomes`, with
 * what became of the pull requests. Only reads.
 */

import type { OnGitHub } from '../../adapters/github/request.ts';
import { readCosts } from '../../adapters/github/run-costs.ts';
import { startOfId } from '../../adapters/storage/run-directory.ts';
import type { Settings } from '../../config/schema.ts';
import type { OutcomesReport } from '../../domain/github/publishing/costs.ts';
import { type RunCost, sumOfCosts } from '../../domain/github/publishing/costs.ts';
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
