/** What OpenAI's two APIs have in common: hosts, refusals, token counts, and what endpoints differ in. */

import * as z from 'zod';
import { noUsage, type UserBlock } from '../../../domain/conversation/conversation.ts';
import { imageLabel } from '../../../domain/images/shown.ts';
import { isVendorHost } from '../asking/endpoint.ts';
import type { AttemptFailure, RefusalTable } from '../asking/failures.ts';
import { NOTHING_REPORTED, ReportedCount, type ReportedTokens, reportOf } from '../asking/reader.ts';

/** By the vendor's error table; compatible servers use some of its names. */
export const OPENAI_REFUSALS: RefusalTable = {
  advice: {
    billing: 'Add credit or raise the spend limit at the vendor.',
    authentication: 'Check that the key is valid for this endpoint.',
    permission: 'Use a key whose project may use this model.',
    not_found: 'Check the model id and the base URL, which usually ends in /v1.',
    rate_limit: 'Run fewer jobs at a time, or raise the rate limit of the project.',
  },
  names: {
    insufficient_quota: 'billing',
    billing_hard_limit_reached: 'billing',
    billing_not_active: 'billing',
    invalid_api_key: 'authentication',
    model_not_found: 'not_found',
    context_length_exceeded: 'too_large',
    rate_limit_exceeded: 'rate_limit',
    invalid_prompt: 'invalid_request',
    invalid_request_error: 'invalid_request',
    server_error: 'outage',
  },
  texts: [
    // A single request above the limit per minute is refused every time.
    {
      says: /maximum context length|context window|context length|request too large/i,
      kind: 'too_large',
      among: ['invalid_request', 'rate_limit'],
    },
  ],
};

/** What the requests to an endpoint look like; learned from what it refuses. */
export interface Accommodation {
  /**
   * The field for the maximum tokens of an answer: reasoning models accept only the newer one, most other servers
   * know the older one.
   */
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  /** Request a token report at the end of a stream. */
  readonly wantsUsage: boolean;
  /** Request encrypted reasoning; models that do not reason refuse such a request. */
  readonly wantsReasoning: boolean;
  /** Images may be in the result of a call (Responses API). */
  readonly imagesInResults: boolean;
}

/** What is tried first. */
export function anyEndpoint(hostname: string): Accommodation {
  const isVendor = isVendorHost(hostname);
  return {
    limitField: isVendor ? 'max_completion_tokens' : 'max_tokens',
    wantsUsage: true,
    wantsReasoning: true,
    imagesInResults: isVendor,
  };
}

/** What to try after a refusal; null if the refusal is about something else. Each difference is tried at most once. */
export function accommodating(
  before: Accommodation,
  { kind, message }: AttemptFailure,
): Accommodation | null {
  if (kind !== 'invalid_request') return null;
  if (before.limitField === 'max_tokens' && message.includes('max_completion_tokens'))
    return { ...before, limitField: 'max_completion_tokens' };
  if (before.wantsUsage && message.includes('stream_options')) return { ...before, wantsUsage: false };
  if (before.wantsReasoning && /encrypted.content/i.test(message) && /not support/i.test(message))
    return { ...before, wantsReasoning: false };
  return null;
}

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

/** Token counts as both APIs report them. Cached tokens are part of the prompt there; here they are separate. */
export function reportedIn(report: unknown): ReportedTokens {
  const { data } = ReportedUsage.safeParse(report);
  if (data === undefined) return NOTHING_REPORTED;
  const prompt = data.input_tokens ?? data.prompt_tokens ?? 0;
  const output = data.output_tokens ?? data.completion_tokens ?? null;
  const details = data.input_tokens_details ?? data.prompt_tokens_details;
  const cacheRead = Math.min(details?.cached_tokens ?? 0, prompt);
  const cacheWrite = Math.min(details?.cache_write_tokens ?? 0, prompt - cacheRead);
  return reportOf({ ...noUsage, input: prompt - cacheRead - cacheWrite, cacheRead, cacheWrite, output });
}

/** What both APIs take in place of a user's message: results, and after them images and texts. */
export function userParts(
  blocks: readonly UserBlock[],
  imagesInResults: boolean,
): {
  results: { callId: string; text: string; images: string[] }[];
  parts: ({ text: string } | { url: string })[];
  texts: object[];
} {
  const results = blocks.flatMap((block) => {
    if (block.type !== 'tool_result') return [];
    const { callId, text, isError, images = [] } = block;
    const said = text === '' ? '(no output)' : text;
    const urls = images.map(({ mediaType, data }) => `data:${mediaType};base64,${data}`);
    // These APIs have no field for failures.
    return [{ callId, text: isError ? `Error: ${said}` : said, images: urls }];
  });
  return {
    results,
    // Each below a line that says which call they belong to.
    parts: results.flatMap(({ callId, images }) =>
      imagesInResults || images.length === 0
        ? []
        : [{ text: imageLabel(callId, images.length) }, ...images.map((url) => ({ url }))],
    ),
    texts: blocks.flatMap((block) =>
      block.type === 'text' && block.text !== '' ? [{ role: 'user', content: block.text }] : [],
    ),
  };
}
