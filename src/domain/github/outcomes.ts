/** What became of pull requests, and what they cost: the document of `patchsmith outcomes --json`. */

import * as z from 'zod';

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
