/** What became of pull requests, and what they cost: the document of `patchsmith outcomes --json`. */

import * as z from 'zod';
import { type RunCost, sumOfCosts } from './publishing/costs.ts';

const Amount = z.number().nonnegative();

/** One of them. */
const PullRequestOutcome = z.strictObject({
  number: z.int(),
  title: z.string(),
  url: z.string(),
  state: z.enum(['open', 'merged', 'closed']),
  edited: z.boolean().describe('Its branch has commits by others, merges aside'),
  runs: z.int(),
  costUsd: Amount.describe('Of its runs, and of those of its plan that have no pull request'),
});

/** The document. */
export const OutcomesReport = z.strictObject({
  version: z.literal(1),
  patchsmith: z.string().describe('Version of patchsmith'),
  repository: z.string(),
  since: z.string().describe('What began or was opened before is left out'),
  pullRequests: z.array(PullRequestOutcome),
  merged: z.int(),
  closed: z.int(),
  open: z.int(),
  editedBeforeMerge: z.int().describe('Those among the merged ones whose branch has commits by others'),
  runs: z.int(),
  costUsd: Amount.describe('Of all runs that pull requests and comments record, merged or not'),
  costPerMergedUsd: Amount.nullable().describe(
    'The same, divided by the number of merged ones; null without one',
  ),
});
export type OutcomesReport = z.infer<typeof OutcomesReport>;

/** The figures; `costs` are those of all runs. */
export function outcomesOf<Cost extends RunCost & { readonly marker: string }>(
  facts: Pick<OutcomesReport, 'patchsmith' | 'repository' | 'since'>,
  pulls: readonly (Omit<OutcomesReport['pullRequests'][number], 'runs' | 'costUsd'> & { marker: string })[],
  costs: readonly Cost[],
): OutcomesReport {
  const count = (state: string) => pulls.filter((one) => one.state === state).length;
  const merged = count('merged');
  const costUsd = sumOfCosts(costs);
  return {
    version: 1,
    ...facts,
    pullRequests: pulls.map(({ marker, ...pull }) => {
      const own = costs.filter((one) => one.marker === marker);
      return { ...pull, runs: own.length, costUsd: sumOfCosts(own) };
    }),
    merged,
    closed: count('closed'),
    open: count('open'),
    editedBeforeMerge: pulls.filter(({ state, edited }) => state === 'merged' && edited).length,
    runs: costs.length,
    costUsd,
    costPerMergedUsd: merged === 0 ? null : costUsd / merged,
  };
}
