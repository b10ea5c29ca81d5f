/** Token counts as both APIs report them, and as the run counts them. */

import * as z from 'zod';
import { noUsage } from '../../../domain/conversation/conversation.ts';
import { NOTHING_REPORTED, ReportedCount, type ReportedTokens, reportOf } from '../asking/counted.ts';

const Details = z
  .object({ cached_tokens: ReportedCount, cache_write_tokens: ReportedCount })
  .nullish()
  .catch(null);

/** Chat Completions uses prompt and completion, Responses uses input and output. */
const ReportedUsage = z.object({
  prompt_tokens: ReportedCount,
  completion_tokens: ReportedCount,
  prompt_tokens_details: Details,
  input_tokens: ReportedCount,
  output_tokens: ReportedCount,
  input_tokens_details: Details,
});

/** The API counts cached tokens as part of the prompt; here they are separate. */
export function reportedIn(report: unknown): ReportedTokens {
  const parsed = ReportedUsage.safeParse(report);
  if (!parsed.success) return NOTHING_REPORTED;
  const { data } = parsed;
  const prompt = data.input_tokens ?? data.prompt_tokens ?? 0;
  const output = data.output_tokens ?? data.completion_tokens ?? null;
  const details = data.input_tokens_details ?? data.prompt_tokens_details;
  const cacheRead = Math.min(details?.cached_tokens ?? 0, prompt);
  const cacheWrite = Math.min(details?.cache_write_tokens ?? 0, prompt - cacheRead);
  return reportOf({ ...noUsage, input: prompt - cacheRead - cacheWrite, cacheRead, cacheWrite, output });
}
