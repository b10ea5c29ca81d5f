/** Token counts as both APIs report them, and as the run counts them. */

import * as z from 'zod';
import { noUsage, type Usage } from '../../../domain/conversation/conversation.ts';

const Count = z.int().nonnegative().nullish().catch(null);
const Details = z.object({ cached_tokens: Count, cache_write_tokens: Count }).nullish().catch(null);

/** Chat Completions says prompt and completion, Responses says input and output. */
const ReportedUsage = z.object({
  prompt_tokens: Count,
  completion_tokens: Count,
  prompt_tokens_details: Details,
  input_tokens: Count,
  output_tokens: Count,
  input_tokens_details: Details,
});

/** Null when it reports nothing. Cached tokens are part of the prompt there, and counted apart here. */
export function usageOf(report: unknown): Usage | null {
  const parsed = ReportedUsage.safeParse(report);
  if (!parsed.success) return null;
  const { data } = parsed;
  const prompt = data.input_tokens ?? data.prompt_tokens;
  const output = data.output_tokens ?? data.completion_tokens;
  if (prompt == null && output == null) return null;
  const details = data.input_tokens_details ?? data.prompt_tokens_details;
  const cacheRead = Math.min(details?.cached_tokens ?? 0, prompt ?? 0);
  const cacheWrite = Math.min(details?.cache_write_tokens ?? 0, (prompt ?? 0) - cacheRead);
  const input = (prompt ?? 0) - cacheRead - cacheWrite;
  return { ...noUsage, input, cacheRead, cacheWrite, output: output ?? 0 };
}
