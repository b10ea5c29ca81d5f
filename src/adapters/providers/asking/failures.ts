/** What a failed attempt means, for all APIs: whether a retry may help, and what to tell people. */

import { withoutHtml } from '../../../domain/errors/innermost-message.ts';
import type { ProviderFailureKind } from '../../../domain/run/limits.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { oneLine } from '../../../domain/text/terminal.ts';

/**
 * `never`: the same request would fail again. The others each have their own patience. `broken`: the answer had begun, so
 * each further attempt pays for the prompt again. `unreachable`: nothing listens, and nothing there has ever answered.
 */
export type RetryClass = 'never' | 'rate_limit' | 'outage' | 'broken' | 'unreachable';

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

/** How a server refused a request. */
export interface RefusedRequest {
  /** Null for an error that arrived inside a stream, or before a request was sent. */
  readonly status: number | null;
  readonly said: RefusalSaid;
  /** The wait that the server requested; null if none. */
  readonly retryAfterMs: number | null;
}

/** What the server said when it refused. Any field may be missing: gateways have their own formats. */
export interface RefusalSaid {
  readonly type: string | null;
  readonly code: string | null;
  readonly message: string;
  /** The wait that it requests in the body, not in headers; null if none. */
  readonly waitMs: number | null;
}

type RefusalKind = Exclude<ProviderFailureKind, 'stream' | 'recording'>;

/** In what an API's refusals differ from those of others. */
export interface RefusalTable {
  /** How to fix each kind, as a sentence, if the general advice is not enough. */
  readonly advice: Partial<Readonly<Record<RefusalKind, string>>>;
  /** What the API's own codes and types mean. */
  readonly names: Readonly<Record<string, RefusalKind | undefined>>;
  /** What only the text shows, where a refusal is otherwise one of the kinds `among`. */
  readonly texts: readonly {
    readonly says: RegExp;
    readonly kind: RefusalKind;
    readonly among: readonly RefusalKind[];
  }[];
}

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
const REDIRECTED =
  'The endpoint redirects, and redirects are not followed; set the base URL to the final address.';

const KIND_OF_STATUS: Readonly<Record<number, RefusalKind | undefined>> = {
  401: 'authentication',
  402: 'billing',
  403: 'permission',
  404: 'not_found',
  408: 'outage',
  409: 'outage',
  413: 'too_large',
  429: 'rate_limit',
};

/** Maximum characters quoted from a server's message. */
const MAX_QUOTED = 500;

/** Classifies by code and type, then by status, and by text only where the API gives nothing better. */
export function refusalFailure(refused: RefusedRequest, table: RefusalTable): AttemptFailure {
  const { status, said, retryAfterMs } = refused;
  const isRedirect = status !== null && status >= 300 && status < 400;
  const kind = isRedirect ? 'invalid_request' : kindOf(refused, table);
  const label = [status, said.code ?? said.type].filter((part) => part !== null).join(' ');
  const quoted = oneLine(withoutHtml(said.message), MAX_QUOTED).trim().replace(/\.$/, '');
  const advice = isRedirect ? REDIRECTED : (table.advice[kind] ?? ADVICE[kind]);
  return {
    kind,
    retry: kind === 'rate_limit' || kind === 'outage' ? kind : 'never',
    status,
    message: `${label || 'error'}${quoted === '' ? '' : `: ${quoted}`}. ${advice}`,
    retryAfterMs,
  };
}

function kindOf({ status, said }: RefusedRequest, { names, texts }: RefusalTable): RefusalKind {
  const named = names[said.code ?? ''] ?? names[said.type ?? ''];
  const kind =
    named !== undefined && named !== 'invalid_request'
      ? named
      : (kindOfStatus(status) ?? named ?? (status === null ? 'outage' : 'invalid_request'));
  return texts.find(({ says, among }) => among.includes(kind) && says.test(said.message))?.kind ?? kind;
}

function kindOfStatus(status: number | null): RefusalKind | undefined {
  return status !== null && status >= 500 ? 'outage' : KIND_OF_STATUS[status ?? 0];
}

/** Codes of a connection that nobody accepted, or whose other side is not who it should be. */
const NOBODY_THERE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPROTO|UND_ERR_CONNECT_TIMEOUT)$|CERT|_TLS_|_SSL_|_SIGNATURE$/;

/** Whether nothing listens there, as the causes of the error have it. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && NOBODY_THERE.test(String(error.code))) || isUnreachable(error.cause);
}

/** A connection that could not be made, or was lost before the answer began. */
export function connectionFailure(cause: string, retry: 'outage' | 'unreachable' = 'outage'): AttemptFailure {
  const advice =
    retry === 'outage'
      ? 'Check the network, the proxy and the base URL.'
      : 'Nothing has answered there so far: check the base URL, the network and the proxy.';
  const message = `No connection: ${oneLine(cause, MAX_QUOTED)}. ${advice}`;
  return { kind: 'outage', retry, status: null, message, retryAfterMs: null };
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

/** Reads the body of a refusal: in the format of a vendor or a gateway, or plain text. */
export function refusalSaid(body: string): RefusalSaid {
  return saidIn(jsonOrUndefined(body)) ?? { ...NOTHING_SAID, message: body };
}

/** A refusal without any text. */
export const NOTHING_SAID: RefusalSaid = { type: null, code: null, message: '', waitMs: null };

/** Null if the value has nothing known. */
export function saidIn(value: unknown): RefusalSaid | null {
  if (typeof value === 'string') return { ...NOTHING_SAID, message: value };
  if (Array.isArray(value)) return saidIn(value[0]);
  if (typeof value !== 'object' || value === null) return null;
  if ('error' in value && value.error !== null) return saidIn(value.error);
  const message = textField(value, 'message') ?? textField(value, 'detail');
  const details: unknown = 'details' in value ? value.details : null;
  // Google's name for its type is `status`.
  const type = textField(value, 'type') ?? textField(value, 'status');
  // Anthropic's code is one of the details.
  const code = textField(value, 'code') ?? textField(details, 'error_code');
  if (message === null && type === null && code === null) return null;
  return { type, code, message: message ?? '', waitMs: Array.isArray(details) ? waitIn(details) : null };
}

function textField(value: unknown, name: string): string | null {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;
  return typeof found === 'string' ? found : null;
}

/** Google requests a wait in a detail: `{"retryDelay": "34.07s"}`. */
function waitIn(details: readonly unknown[]): number | null {
  for (const detail of details) {
    const [, seconds] = /^(\d{1,9}(?:\.\d+)?)s$/.exec(textField(detail, 'retryDelay') ?? '') ?? [];
    if (seconds !== undefined) return Math.round(Number(seconds) * 1_000);
  }
  return null;
}

/**
 * The wait that the headers request, in milliseconds and never negative; null if they request none. OpenAI also gives it in
 * milliseconds, which is more precise; otherwise it is in seconds or an HTTP date.
 */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const [exact, header] = [headers.get('retry-after-ms')?.trim(), headers.get('retry-after')?.trim()];
  if (exact && Number.isFinite(Number(exact))) return Math.max(0, Math.round(Number(exact)));
  if (!header) return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : null;
}
