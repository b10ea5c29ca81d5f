/** What a failed attempt means, whatever the API: whether another one may help, and how people are told. */

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

/** Maximum characters quoted from a server's message. */
const MAX_QUOTED = 500;

/** What an API's error table says of a refusal. */
export interface FailureRow {
  readonly kind: ProviderFailureKind;
  readonly retry: RetryClass;
  /** How to fix it, as a sentence. */
  readonly advice: string;
}

/** What the server said when it refused, and the row of the table that it falls under. */
export function refusalFailure(
  { status, type, message, retryAfterMs }: Refused,
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

interface Refused {
  /** Null for an error that arrived inside a stream. */
  readonly status: number | null;
  readonly type: string | null;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

/** An address that sends requests elsewhere. */
export const redirected: FailureRow = {
  kind: 'invalid_request',
  retry: 'never',
  advice: 'The endpoint redirects, and redirects are not followed; set the base URL to the final address.',
};

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
