/**
 * What runs have cost, as hidden lines of comments and trailers of commits say it, and what became of their pull requests. A run is
 * counted once.
 */

import * as z from 'zod';
import type { RunResult } from '../../run/result.ts';

/** What a run says that it has cost. */
export interface RunCost {
  readonly runId: string;
  readonly usd: number;
}

/** Only at the end of a text, where the record of a comment is: what a comment quotes has more below it. */
const RECORD =
  /(?:^|\n)(?:<!-- patchsmith-costs:((?: [\w-]{1,100}=\d{1,7}\.\d{4}){1,100}) -->\n)?<!-- patchsmith:([0-9a-f]{8}) -->\s*$/;

/** The id of the plan that a text of ours belongs to, and the costs in it, oldest first; null for any other text. */
export function recordOfCosts(text: string): { marker: string; costs: RunCost[] } | null {
  const [, list = '', marker] = RECORD.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (marker === undefined) return null;
  const costs = [...list.matchAll(/ ([^ =]+)=(\S+)/g)];
  return { marker, costs: costs.map(([, runId = '', usd]) => ({ runId, usd: Number(usd) })) };
}

/** The body with those of the text that it replaces and of one more run, before the marker at its end: at most 100. */
export function withCosts(
  body: string,
  { before, marker, spent }: { before: string; marker: string; spent: RunCost | null },
): string {
  const known = recordOfCosts(before)?.costs ?? [];
  const all = countedOnce([...known, ...(spent === null ? [] : [spent])]);
  if (all.length === 0) return body;
  const list = all.slice(-100).map(({ runId, usd }) => ` ${runId}=${usd.toFixed(4)}`);
  return `${body.slice(0, -marker.length)}<!-- patchsmith-costs:${list.join('')} -->\n${marker}`;
}

/** The highest amount that a record holds. */
const MOST_USD = 9_999_999.9999;

/** Null if the run cost nothing, or the cost is unknown. */
export function costOfRun({ runId, costUsd }: Pick<RunResult, 'runId' | 'costUsd'>): RunCost | null {
  return costUsd !== 'unknown' && costUsd > 0 ? { runId, usd: Math.min(costUsd, MOST_USD) } : null;
}

/** The line of a commit; none where there is no cost. */
export function costTrailer(run: Pick<RunResult, 'runId' | 'costUsd'>): string[] {
  const spent = costOfRun(run);
  return spent === null ? [] : [`Patchsmith-Cost: ${spent.usd.toFixed(4)}`];
}

/** What a commit says, or 0. */
export function costOfCommit(message: string): number {
  return Number(/^Patchsmith-Cost: (\d{1,7}\.\d{4})$/m.exec(message)?.[1] ?? 0);
}

/** The same runs are known from several places; of two amounts the higher one counts. */
export function countedOnce<Cost extends RunCost>(costs: readonly Cost[]): Cost[] {
  const known = new Map<string, Cost>();
  for (const one of costs) if (one.usd > (known.get(one.runId)?.usd ?? -1)) known.set(one.runId, one);
  return [...known.values()];
}

/** The sum in USD. */
export function sumOfCosts(costs: readonly RunCost[]): number {
  return costs.reduce((sum, { usd }) => sum + usd, 0);
}

const Pull = z.strictObject({
  number: z.int(),
  title: z.string(),
  url: z.string(),
  state: z.enum(['open', 'merged', 'closed']),
  edited: z.boolean().describe('Its branch has commits by others, merges aside'),
  runs: z.int(),
  costUsd: z.number().describe('Of its runs, and of those of its plan that have no pull request'),
});
/** A pull request of patchsmith, whatever it cost. */
export type PullOutcome = Omit<z.infer<typeof Pull>, 'runs' | 'costUsd'>;

/** The document. */
export const OutcomesReport = z.strictObject({
  version: z.literal(1),
  patchsmith: z.string().describe('Version of patchsmith'),
  repository: z.string(),
  since: z.string().describe('What began or was opened before is left out'),
  pullRequests: z.array(Pull),
  merged: z.int(),
  closed: z.int(),
  open: z.int(),
  editedBeforeMerge: z.int().describe('Those among the merged ones whose branch has commits by others'),
  runs: z.int(),
  costUsd: z.number().describe('Of all runs that pull requests and comments record, merged or not'),
  costPerMergedUsd: z.number().nullable().describe('The same, divided by the merged ones; null without one'),
});
export type OutcomesReport = z.infer<typeof OutcomesReport>;
