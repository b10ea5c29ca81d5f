/** The error table of the Claude API: what a failed attempt means, and whether another one may help. */

import { type AttemptFailure, type FailureRow, redirected, refusalFailure } from '../asking/failures.ts';

/** What the API said when it refused. Any field may be missing: proxies answer in their own form. */
export interface ApiRefusal {
  /** Null for an error that arrived inside a stream. */
  readonly status: number | null;
  readonly type: string | null;
  /** `error.details.error_code`. */
  readonly code: string | null;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

/** Classifies by code, then by status, then by type; the text matters only if the API gives nothing better. */
export function failureOf(refusal: ApiRefusal): AttemptFailure {
  return refusalFailure(refusal, rowFor(refusal));
}

const billing: FailureRow = {
  kind: 'billing',
  retry: 'never',
  advice: 'Raise the spend limit or add credit in the Claude Console.',
};
const authentication: FailureRow = {
  kind: 'authentication',
  retry: 'never',
  advice: 'Check that ANTHROPIC_API_KEY is a valid key for this endpoint.',
};
const permission: FailureRow = {
  kind: 'permission',
  retry: 'never',
  advice: 'Use a key whose workspace may use this model.',
};
const notFound: FailureRow = {
  kind: 'not_found',
  retry: 'never',
  advice: 'Check the model id and the base URL.',
};
const tooLarge: FailureRow = {
  kind: 'too_large',
  retry: 'never',
  advice: 'The conversation has grown too large; split or narrow the plan.',
};
const rateLimit: FailureRow = {
  kind: 'rate_limit',
  retry: 'rate_limit',
  advice: 'Run fewer jobs at a time, or raise the rate limit of the workspace.',
};
const outage: FailureRow = {
  kind: 'outage',
  retry: 'outage',
  advice: 'Try again later; see status.claude.com.',
};
const invalid: FailureRow = {
  kind: 'invalid_request',
  retry: 'never',
  advice: 'The API does not accept this request; check the model and its settings.',
};
const SPEND_LIMIT_CODES = ['enforced_spend_limit_reached', 'contract_spend_limit_reached'];
/** Both arrive as a plain invalid_request_error and can only be recognised by their text. */
const SPEND_LIMIT_TEXT = /reached your specified API usage limits|credit balance is too low/i;
const TOO_LONG_TEXT = /prompt is too long/i;

function rowFor({ status, type, code, message }: ApiRefusal): FailureRow {
  if (code !== null && SPEND_LIMIT_CODES.includes(code)) return billing;
  if (status === null) return rowForType(type, message);
  if (status >= 500) return outage;
  if (status >= 300 && status < 400) return redirected;
  switch (status) {
    case 400:
      return invalidRequest(message);
    case 401:
      return authentication;
    case 402:
      return billing;
    case 403:
      return permission;
    case 404:
      return notFound;
    case 408:
      return outage;
    case 413:
      return tooLarge;
    case 429:
      return rateLimit;
    default:
      return rowForType(type ?? 'invalid_request_error', message);
  }
}

function rowForType(type: string | null, message: string): FailureRow {
  switch (type) {
    case 'authentication_error':
      return authentication;
    case 'billing_error':
      return billing;
    case 'permission_error':
      return permission;
    case 'not_found_error':
      return notFound;
    case 'request_too_large':
      return tooLarge;
    case 'rate_limit_error':
      return rateLimit;
    case 'invalid_request_error':
      return invalidRequest(message);
    default:
      return outage;
  }
}

function invalidRequest(message: string): FailureRow {
  if (SPEND_LIMIT_TEXT.test(message)) return billing;
  return TOO_LONG_TEXT.test(message) ? tooLarge : invalid;
}
