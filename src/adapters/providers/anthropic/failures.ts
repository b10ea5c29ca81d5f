/** The error table of the Claude API: what a failed attempt means, and whether another one may help. */

import {
  type AttemptFailure,
  type FailureRow,
  failureRows,
  refusalFailure,
  rowForStatus,
} from '../asking/failures.ts';

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

/** A cloud's client found no credentials, or they were refused. */
export function loginMissing(message: string): AttemptFailure {
  return refusalFailure({ status: null, type: 'no login', message, retryAfterMs: null }, login);
}

/** A vendor's client failed before it sent the request. */
export function clientFailure(message: string): AttemptFailure {
  return refusalFailure({ status: null, type: 'client error', message, retryAfterMs: null }, client);
}

const client: FailureRow = {
  kind: 'invalid_request',
  retry: 'never',
  advice:
    'The request was not sent: check the settings and the version of the client that docs/providers.md names.',
};

const login: FailureRow = {
  kind: 'authentication',
  retry: 'never',
  advice: 'Check the cloud credentials: docs/providers.md lists the variables and files they come from.',
};

/** Bedrock forbids what it does not recognise. */
const WRONG_LOGIN = /API key is valid|security token|request signature/i;

/** Classifies by code, then by status, then by type, and by text only if the API gives nothing better. */
export function failureOf(refusal: ApiRefusal): AttemptFailure {
  return refusalFailure(refusal, rowFor(refusal));
}

const rows = failureRows({
  billing: 'Raise the spend limit or add credit in the Claude Console.',
  authentication: 'Check that ANTHROPIC_API_KEY, or the login of the cloud, is valid for this endpoint.',
  permission: 'Use a key whose workspace may use this model.',
  rate_limit: 'Run fewer jobs at a time, or raise the rate limit of the workspace.',
  outage: 'Try again later; see status.claude.com.',
});
const SPEND_LIMIT_CODES = ['enforced_spend_limit_reached', 'contract_spend_limit_reached'];
/** Both arrive as a plain invalid_request_error and can only be recognised by their text. */
const SPEND_LIMIT_TEXT = /reached your specified API usage limits|credit balance is too low/i;
const TOO_LONG_TEXT = /prompt is too long/i;

function rowFor({ status, type, code, message }: ApiRefusal): FailureRow {
  if (code !== null && SPEND_LIMIT_CODES.includes(code)) return rows.billing;
  if (status === null) return rowForType(type, message);
  if (status === 400) return invalidRequest(message);
  if (status === 403 && WRONG_LOGIN.test(message)) return login;
  return rowForStatus(status, rows) ?? rowForType(type ?? 'invalid_request_error', message);
}

const BY_TYPE: Readonly<Record<string, FailureRow | undefined>> = {
  authentication_error: rows.authentication,
  billing_error: rows.billing,
  permission_error: rows.permission,
  not_found_error: rows.not_found,
  request_too_large: rows.too_large,
  rate_limit_error: rows.rate_limit,
  // Frames of Bedrock.
  throttlingException: rows.rate_limit,
  validationException: rows.invalid_request,
};

function rowForType(type: string | null, message: string): FailureRow {
  if (type === 'invalid_request_error') return invalidRequest(message);
  return BY_TYPE[type ?? ''] ?? rows.outage;
}

function invalidRequest(message: string): FailureRow {
  if (SPEND_LIMIT_TEXT.test(message)) return rows.billing;
  return TOO_LONG_TEXT.test(message) ? rows.too_large : rows.invalid_request;
}
