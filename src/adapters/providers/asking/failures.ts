/** What a failed attempt means, for all APIs: whether a retry may help, and what to tell people. */

import type { ProviderFailureKind } from '../../../domain/run/limits.ts';
import { withoutHtml } from '../../../domain/text/html-page.ts';
import { oneLine } from '../../../domain/text/terminal.ts';

/**
 * `never`: the same request would fail again. The others each have their own patience; a `broken` answer had begun,
 * so each further attempt pays for the prompt again.
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
  /** The wait that the server requested; null if none. */
  readonly retryAfterMs: number | null;
}

/** Maximum characters quoted from a server's message. */
const MAX_QUOTED = 500;

/** What an API's error table says about a refusal. */
export interface FailureRow {
  readonly kind: ProviderFailureKind;
  readonly retry: RetryClass;
  /** How to fix it, as a sentence. */
  readonly advice: string;
}

/** What the server said when it refused, and the row of the table that it falls under. */
export function refusalFailure(
  { status, type, message, retryAfterMs }: ServerRefusal,
  { kind, retry, advice }: FailureRow,
): AttemptFailure {
  const label = [status, type].filter((part) => part !== null).join(' ');
  const said = oneLine(withoutHtml(message), MAX_QUOTED).trim();
  return {
    kind,
    retry,
    status,
    message: `${label || 'error'}${said === '' ? '' : `: ${said.replace(/\.$/, '')}`}. ${advice}`,
    retryAfterMs,
  };
}

interface ServerRefusal {
  /** Null for an error that arrived inside a stream. */
  readonly status: number | null;
  readonly type: string | null;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

/** The kinds of refusals that every API knows. */
type RefusalKind = Exclude<ProviderFailureKind, 'stream' | 'recording'>;

/** The fix for each, unless the API has its own. */
const ADVICE: Readonly<Record<RefusalKind, string>> = {
  authentication: 'Check the key.',
  billing: 'Add credit or raise the spend limit.',
  permission: 'Use a key that may use this model.',
  not_found: 'Check the model id and the base URL.',
  invalid_request: 'The API does not accept this request; check the model and its settings.',
  too_large: 'The conversation has grown too large; split or narrow the plan.',
  rate_limit: 'Run fewer jobs at a time, or raise the rate limit.',
  outage: 'Try again later.',
};

/** The rows of an API's table, with its own advice instead of the general one. */
export function failureRows(own: Partial<Record<RefusalKind, string>>): Record<RefusalKind, FailureRow> {
  const row = (kind: RefusalKind): FailureRow => ({
    kind,
    retry: kind === 'rate_limit' || kind === 'outage' ? kind : 'never',
    advice: own[kind] ?? ADVICE[kind],
  });
  return {
    authentication: row('authentication'),
    billing: row('billing'),
    permission: row('permission'),
    not_found: row('not_found'),
    invalid_request: row('invalid_request'),
    too_large: row('too_large'),
    rate_limit: row('rate_limit'),
    outage: row('outage'),
  };
}

const KIND_OF_STATUS: Readonly<Record<number, RefusalKind | undefined>> = {
  401: 'authentication',
  402: 'billing',
  403: 'permission',
  404: 'not_found',
  408: 'outage',
  413: 'too_large',
  429: 'rate_limit',
};

/** What an HTTP status means for every API; null for one that is ambiguous, such as 400. */
export function rowForStatus(
  status: number,
  rows: Readonly<Record<RefusalKind, FailureRow>>,
): FailureRow | null {
  if (status >= 500) return rows.outage;
  if (status >= 300 && status < 400) return redirected;
  const kind = KIND_OF_STATUS[status];
  return kind === undefined ? null : rows[kind];
}

/** An address that redirects requests. */
const redirected: FailureRow = {
  kind: 'invalid_request',
  retry: 'never',
  advice: 'The endpoint redirects, and redirects are not followed; set the base URL to the final address.',
};

/** A connection that could not be made, or was lost before the answer began. */
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
