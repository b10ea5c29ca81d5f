/** The error table of the Claude API: what a failed attempt means, and whether another one may help. */

import type { ProviderFailureKind } from '../../../domain/run/limits.ts';
import { withoutHtml } from '../../../domain/text/html-page.ts';
import { oneLine } from '../../../domain/text/terminal.ts';

/**
 * `never`: the same request would fail again. The others have their own patience; a `broken` answer is one that began, so
 * that each further one costs its prompt again.
 */
export type RetryClass = 'never' | 'rate_limit' | 'outage' | 'broken';

/** Why one attempt failed, and whether another may help. */
export interface AttemptFailure {
  readonly kind: ProviderFailureKind;
  readonly retry: RetryClass;
  /** HTTP status of the refusal; null without one. */
  readonly status: number | null;
  /** One or two sentences for people: what happened and how to fix it. */
  readonly message: string;
  /** The wait requested by the server; null if none was. */
  readonly retryAfterMs: number | null;
}

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

/** Maximum characters quoted from a server's message. */
const MAX_QUOTED = 500;

/** Classifies by code, then by status, then by type; the text matters only if the API gives nothing better. */
export function failureOf(refusal: ApiRefusal): AttemptFailure {
  const { kind, retry, advice } = rowFor(refusal);
  const label = [refusal.status, refusal.type].filter((part) => part !== null).join(' ');
  const said = oneLine(withoutHtml(refusal.message), MAX_QUOTED).trim();
  return {
    kind,
    retry,
    status: refusal.status,
    message: `${label || 'error'}${said === '' ? '' : `: ${said.replace(/\.$/, '')}`}. ${advice}`,
    retryAfterMs: refusal.retryAfterMs,
  };
}

/** A connection that could not be established or was lost before the answer began. */
export function connectionFailure(cause: string): AttemptFailure {
  return {
    kind: 'outage',
    retry: 'outage',
    status: null,
    message: `No connection: ${oneLine(cause, MAX_QUOTED)}. Check the network, the proxy and the base URL.`,
    retryAfterMs: null,
  };
}

/** An answer that began but cannot be used. `retry` is `never` if the next answer would be just as unusable. */
export function streamFailure(cause: string, retry: RetryClass = 'broken'): AttemptFailure {
  return {
    kind: 'stream',
    retry,
    status: null,
    message: `${oneLine(cause, MAX_QUOTED)}.`,
    retryAfterMs: null,
  };
}

/** The `retry-after` header (seconds or an HTTP date) in milliseconds, never negative; null if there is none. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null || header.trim() === '') return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : null;
}

interface Row {
  readonly kind: ProviderFailureKind;
  readonly retry: RetryClass;
  readonly advice: string;
}

const billing: Row = {
  kind: 'billing',
  retry: 'never',
  advice: 'Raise the spend limit or add credit in the Claude Console.',
};
const authentication: Row = {
  kind: 'authentication',
  retry: 'never',
  advice: 'Check that ANTHROPIC_API_KEY is a valid key for this endpoint.',
};
const permission: Row = {
  kind: 'permission',
  retry: 'never',
  advice: 'Use a key whose workspace may use this model.',
};
const notFound: Row = { kind: 'not_found', retry: 'never', advice: 'Check the model id and the base URL.' };
const tooLarge: Row = {
  kind: 'too_large',
  retry: 'never',
  advice: 'The conversation has grown too large; split or narrow the plan.',
};
const rateLimit: Row = {
  kind: 'rate_limit',
  retry: 'rate_limit',
  advice: 'Run fewer jobs at a time, or raise the rate limit of the workspace.',
};
const outage: Row = { kind: 'outage', retry: 'outage', advice: 'Try again later; see status.claude.com.' };
const invalid: Row = {
  kind: 'invalid_request',
  retry: 'never',
  advice: 'The API does not accept this request; check the model and its settings.',
};
const redirect: Row = {
  kind: 'invalid_request',
  retry: 'never',
  advice: 'The endpoint redirects, and redirects are not followed; set the base URL to the final address.',
};

const SPEND_LIMIT_CODES = ['enforced_spend_limit_reached', 'contract_spend_limit_reached'];
/** Both arrive as a plain invalid_request_error and can only be recognised by their text. */
const SPEND_LIMIT_TEXT = /reached your specified API usage limits|credit balance is too low/i;
const TOO_LONG_TEXT = /prompt is too long/i;

function rowFor({ status, type, code, message }: ApiRefusal): Row {
  if (code !== null && SPEND_LIMIT_CODES.includes(code)) return billing;
  if (status === null) return rowForType(type, message);
  if (status >= 500) return outage;
  if (status >= 300 && status < 400) return redirect;
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

function rowForType(type: string | null, message: string): Row {
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

function invalidRequest(message: string): Row {
  if (SPEND_LIMIT_TEXT.test(message)) return billing;
  return TOO_LONG_TEXT.test(message) ? tooLarge : invalid;
}
