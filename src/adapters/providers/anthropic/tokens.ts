/** Token counts as the API reports them, and as the run counts them. */

import * as z from 'zod';
import { addUsage, noUsage, type Usage } from '../../../domain/conversation/conversation.ts';
import { ReportedCount } from '../asking/counted.ts';

const Counts = z.object({
  input_tokens: ReportedCount,
  output_tokens: ReportedCount,
  cache_read_input_tokens: ReportedCount,
  cache_creation_input_tokens: ReportedCount,
  cache_creation: z.object({ ephemeral_1h_input_tokens: ReportedCount }).nullish().catch(null),
});

/** Tokens of a compaction are not in the other fields. */
const Iteration = Counts.extend({ type: z.string() }).nullable().catch(null);

/** A later report in the same stream replaces the earlier one field by field; null changes nothing. */
const Reported = Counts.extend({ iterations: z.array(Iteration).nullish().catch(null) });

/** Token counts as the API streams them. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Entries of both lifetimes together. */
  readonly cacheWritten: number;
  readonly cacheWritten1h: number;
  /** Tokens of compactions, in addition. */
  readonly compactions: Usage;
}

/** No tokens at all. */
export const noTokens: TokenCounts = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWritten: 0,
  cacheWritten1h: 0,
  compactions: noUsage,
};

/** The counts after one more `usage` object, which may be missing. */
export function withReport(before: TokenCounts, usage: unknown): TokenCounts {
  const reported = Reported.safeParse(usage);
  if (!reported.success) return before;
  const { data } = reported;
  return {
    input: data.input_tokens ?? before.input,
    output: data.output_tokens ?? before.output,
    cacheRead: data.cache_read_input_tokens ?? before.cacheRead,
    cacheWritten: data.cache_creation_input_tokens ?? before.cacheWritten,
    cacheWritten1h: data.cache_creation?.ephemeral_1h_input_tokens ?? before.cacheWritten1h,
    compactions: data.iterations ? compactionsAmong(data.iterations) : before.compactions,
  };
}

/** Whether the report has the number of tokens in the answer. */
export function hasOutput(usage: unknown): boolean {
  return Reported.safeParse(usage).data?.output_tokens != null;
}

function compactionsAmong(iterations: readonly z.infer<typeof Iteration>[]): Usage {
  const usages = iterations.flatMap((one) =>
    one?.type === 'compaction' ? toUsage(withReport(noTokens, one)) : [],
  );
  return usages.reduce(addUsage, noUsage);
}

/** The counts as `Usage`, which separates the two lifetimes of cache entries. */
export function toUsage(tokens: TokenCounts): Usage {
  return addUsage(tokens.compactions, {
    input: tokens.input,
    output: tokens.output,
    cacheRead: tokens.cacheRead,
    cacheWrite: Math.max(0, tokens.cacheWritten - tokens.cacheWritten1h),
    cacheWrite1h: tokens.cacheWritten1h,
  });
}
