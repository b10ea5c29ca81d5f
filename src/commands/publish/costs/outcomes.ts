/** `patchsmith outcomes`: what became of the pull requests in a repository, and what they cost. Only reads. */

import { readCosts } from '../../../adapters/github/run-costs.ts';
import { startOfId } from '../../../adapters/storage/run-directory.ts';
import type { OutcomesReport } from '../../../domain/github/outcomes.ts';
import { sumOfCosts } from '../../../domain/github/publishing/costs.ts';
import { done, type RunOutcome } from '../../../domain/run/outcome.ts';
import type { Redact } from '../../../domain/secrets/redact.ts';
import { columns, jsonDocument } from '../../../domain/text/terminal.ts';
import { pluralize } from '../../../domain/text/words.ts';
import type { CommandOutcome, HostContext } from '../../../host/context.ts';
import { sayEnd } from '../../../host/say.ts';
import type { Given } from '../../command.ts';
import { type OverRuns, overRuns } from '../../past-runs.ts';
import { ended, openPlace } from '../place.ts';
import { type PublishInputs, readPublishInputs } from '../start.ts';

const DEFAULT_MS = 30 * 24 * 3_600_000;

/** Starts `patchsmith outcomes` with the given flags and variables. */
export async function startOutcomes(context: HostContext, given: Given): Promise<CommandOutcome> {
  const inputs = readPublishInputs(context, { ...given, flags: { ...given.flags, output: 'none' } });
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
