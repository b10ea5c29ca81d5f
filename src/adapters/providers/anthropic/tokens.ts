/** Token counts as the API reports them, and as the run counts them. */

import * as z from 'zod';
import { addUsage, noUsage, type Usage } from '../../../domain/conversation/conversation.ts';
import { ReportedCount } from '../asking/counted.ts';

const Counts = z.object({
  input_tokens: ReportedCount,
  output_tokens: ReportedCount,
  cache_read_input_tokens: ReportedCount,
  /** Entries of both lifetimes together. */
  cache_creation_input_tokens: ReportedCount,
  cache_creation: z.object({ ephemeral_1h_input_tokens: ReportedCount }).nullish().catch(null),
});

/** Tokens of a compaction are not in the other fields. */
const Iteration = Counts.extend({ type: z.string() }).nullable().catch(null);
const Reported = Counts.extend({ iterations: z.array(Iteration).nullish().catch(null) });

/** Token counts as the API streams them. */
export type TokenCounts = z.infer<typeof Reported>;

/** No tokens at all. */
export const noTokens: TokenCounts = {};

/** The counts after one more `usage` object, which may be missing: what it has replaces earlier counts. */
export function withReport(before: TokenCounts, usage: unknown): TokenCounts {
  const reported = Object.entries(Reported.safeParse(usage).data ?? {});
  return { ...before, ...Object.fromEntries(reported.filter(([, count]) => count != null)) };
}

/** Whether the report has the number of tokens in the answer. */
export function hasOutput(usage: unknown): boolean {
  return Reported.safeParse(usage).data?.output_tokens != null;
}

/** The counts as `Usage`, which separates the two lifetimes of cache entries. */
export function toUsage({ iterations, ...counts }: TokenCounts): Usage {
  const written = counts.cache_creation_input_tokens ?? 0;
  const cacheWrite1h = counts.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  const usage = {
    input: counts.input_tokens ?? 0,
    output: counts.output_tokens ?? 0,
    cacheRead: counts.cache_read_input_tokens ?? 0,
    cacheWrite: Math.max(0, written - cacheWrite1h),
    cacheWrite1h,
  };
  const compactions = (iterations ?? []).flatMap((one) => (one?.type === 'compaction' ? toUsage(one) : []));
  return compactions.reduce(addUsage, addUsage(noUsage, usage));
}
