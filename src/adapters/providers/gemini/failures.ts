/** The error table of the Gemini API. */

import {
  type AttemptFailure,
  type FailureRow,
  failureRows,
  refusalFailure,
  rowForStatus,
} from '../asking/failures.ts';
import type { RefusalSaid } from '../asking/refusal-said.ts';
import type { RefusedRequest } from '../asking/stream-attempt.ts';

/** Classifies first by what only the text shows, then by Google's status, then by the HTTP status. */
export function geminiFailure({ status, said, retryAfterMs }: RefusedRequest): AttemptFailure {
  const { type, message } = said;
  return refusalFailure({ status, type, message, retryAfterMs }, rowFor(status, said));
}

const rows = failureRows({
  authentication: 'Check that GEMINI_API_KEY is a valid key of the Gemini API.',
  billing: 'Set up billing for the project of the key in Google AI Studio.',
  permission: 'Use a key whose project may use this model, from a region where the API is offered.',
  rate_limit: 'Run fewer jobs at a time, or raise the quota of the project.',
});

/** A wrong key and a prompt that is too long are plain INVALID_ARGUMENT errors. */
const BY_TEXT: readonly (readonly [RegExp, FailureRow])[] = [
  [/API key not valid|API key expired|API_KEY_INVALID/i, rows.authentication],
  [/exceeds the maximum number of tokens|input token count/i, rows.too_large],
  [/billing|prepay/i, rows.billing],
  [/location is not supported/i, rows.permission],
];

const BY_TYPE: Readonly<Record<string, FailureRow | undefined>> = {
  UNAUTHENTICATED: rows.authentication,
  PERMISSION_DENIED: rows.permission,
  NOT_FOUND: rows.not_found,
  RESOURCE_EXHAUSTED: rows.rate_limit,
  INVALID_ARGUMENT: rows.invalid_request,
  FAILED_PRECONDITION: rows.invalid_request,
  INTERNAL: rows.outage,
  UNAVAILABLE: rows.outage,
  DEADLINE_EXCEEDED: rows.outage,
};

function rowFor(status: number | null, { type, message }: RefusalSaid): FailureRow {
  const isRequests = status === 400 || ['INVALID_ARGUMENT', 'FAILED_PRECONDITION'].includes(type ?? '');
  const [, row] = (isRequests ? BY_TEXT.find(([pattern]) => pattern.test(message)) : undefined) ?? [];
  const known = row ?? BY_TYPE[type ?? ''];
  if (known !== undefined) return known;
  return status === null ? rows.outage : (rowForStatus(status, rows) ?? rows.invalid_request);
}
