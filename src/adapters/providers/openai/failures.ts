/** The error table of OpenAI and compatible servers. */

import {
  type AttemptFailure,
  type FailureRow,
  failureRows,
  refusalFailure,
  rowForStatus,
} from '../asking/failures.ts';
import type { RefusalSaid } from '../asking/refusal-said.ts';
import type { RefusedRequest } from '../asking/stream-attempt.ts';

/** Classifies by code, then by status, and by text only if the API gives nothing better. */
export function openAiFailure({ status, said, retryAfterMs }: RefusedRequest): AttemptFailure {
  const { type, code, message } = said;
  return refusalFailure({ status, type: code ?? type, message, retryAfterMs }, rowFor(status, said));
}

const rows = failureRows({
  billing: 'Add credit or raise the spend limit at the vendor.',
  authentication: 'Check that OPENAI_API_KEY is a valid key for this endpoint.',
  permission: 'Use a key whose project may use this model.',
  not_found: 'Check the model id and the base URL, which usually ends in /v1.',
  rate_limit: 'Run fewer jobs at a time, or raise the rate limit of the project.',
  outage: 'Try again later.',
});
const { invalid_request: invalid, too_large: tooLarge, rate_limit: rateLimit } = rows;

const BY_CODE: Readonly<Record<string, FailureRow | undefined>> = {
  insufficient_quota: rows.billing,
  billing_hard_limit_reached: rows.billing,
  billing_not_active: rows.billing,
  invalid_api_key: rows.authentication,
  model_not_found: rows.not_found,
  context_length_exceeded: tooLarge,
  rate_limit_exceeded: rateLimit,
  invalid_prompt: invalid,
  invalid_request_error: invalid,
  server_error: rows.outage,
};

const TOO_LONG = /maximum context length|context window|context length|request too large/i;

function rowFor(status: number | null, { type, code, message }: RefusalSaid): FailureRow {
  const known = BY_CODE[code ?? ''] ?? BY_CODE[type ?? ''];
  // A single request above the limit per minute is refused every time.
  if (TOO_LONG.test(message) && (known === undefined || [invalid, rateLimit].includes(known)))
    return tooLarge;
  if (known !== undefined && known !== invalid) return known;
  if (status === null) return known ?? rows.outage;
  return status === 409 ? rows.outage : (rowForStatus(status, rows) ?? invalid);
}
