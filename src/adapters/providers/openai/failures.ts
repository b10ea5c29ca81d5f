/** The error table of OpenAI, and of servers that speak like it. */

import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { type AttemptFailure, type FailureRow, redirected, refusalFailure } from '../asking/failures.ts';
import { depthOf, MAX_DEPTH } from '../asking/tool-input.ts';

/** What the server said when it refused. Any field may be missing: gateways answer in their own form. */
export interface RefusalSaid {
  readonly type: string | null;
  readonly code: string | null;
  readonly message: string;
}

/** Reads the body of a refusal, or an error inside a stream: OpenAI's form, those of others, or plain text. */
export function refusalSaid(body: string): RefusalSaid {
  const value = depthOf(body) > MAX_DEPTH ? null : jsonOrUndefined(body);
  return saidIn(value) ?? { type: null, code: null, message: body };
}

/** Null when the value says nothing that is known. */
export function saidIn(value: unknown): RefusalSaid | null {
  if (typeof value === 'string') return { type: null, code: null, message: value };
  if (Array.isArray(value)) return saidIn(value[0]);
  if (typeof value !== 'object' || value === null) return null;
  if ('error' in value && value.error !== null) return saidIn(value.error);
  const field = (name: string): string | null => {
    const found: unknown = Reflect.get(value, name);
    return typeof found === 'string' ? found : null;
  };
  const message = field('message') ?? field('detail');
  const [type, code] = [field('type'), field('code')];
  return message === null && type === null && code === null ? null : { type, code, message: message ?? '' };
}

/** Classifies by code, then by status; the text matters only where the API gives nothing better. `status` null: inside a stream. */
export function openAiFailure(
  status: number | null,
  said: RefusalSaid,
  retryAfterMs: number | null,
): AttemptFailure {
  const { type, code, message } = said;
  return refusalFailure({ status, type: code ?? type, message, retryAfterMs }, rowFor(status, said));
}

const billing: FailureRow = {
  kind: 'billing',
  retry: 'never',
  advice: 'Add credit or raise the spend limit at the vendor.',
};
const authentication: FailureRow = {
  kind: 'authentication',
  retry: 'never',
  advice: 'Check that OPENAI_API_KEY is a valid key for this endpoint.',
};
const permission: FailureRow = {
  kind: 'permission',
  retry: 'never',
  advice: 'Use a key whose project may use this model.',
};
const notFound: FailureRow = {
  kind: 'not_found',
  retry: 'never',
  advice: 'Check the model id and the base URL, which usually ends in /v1.',
};
const tooLarge: FailureRow = {
  kind: 'too_large',
  retry: 'never',
  advice: 'The conversation has grown too large; split or narrow the plan.',
};
const rateLimit: FailureRow = {
  kind: 'rate_limit',
  retry: 'rate_limit',
  advice: 'Run fewer jobs at a time, or raise the rate limit of the project.',
};
const outage: FailureRow = { kind: 'outage', retry: 'outage', advice: 'Try again later.' };
const invalid: FailureRow = {
  kind: 'invalid_request',
  retry: 'never',
  advice: 'The API does not accept this request; check the model and its settings.',
};

const ROWS: Readonly<Record<string, FailureRow | undefined>> = {
  insufficient_quota: billing,
  billing_hard_limit_reached: billing,
  billing_not_active: billing,
  invalid_api_key: authentication,
  model_not_found: notFound,
  context_length_exceeded: tooLarge,
  rate_limit_exceeded: rateLimit,
  invalid_prompt: invalid,
  invalid_request_error: invalid,
  server_error: outage,
};

const TOO_LONG = /maximum context length|context window|context length|request too large/i;

function rowFor(status: number | null, { type, code, message }: RefusalSaid): FailureRow {
  const known = ROWS[code ?? ''] ?? ROWS[type ?? ''];
  // One request that is over the limit of a minute is refused as often as it is sent.
  if (TOO_LONG.test(message) && (known === undefined || [invalid, rateLimit].includes(known)))
    return tooLarge;
  if (known !== undefined && known !== invalid) return known;
  if (status === null) return known ?? outage;
  if (status >= 500) return outage;
  if (status >= 300 && status < 400) return redirected;
  return STATUSES[status] ?? invalid;
}

const STATUSES: Readonly<Record<number, FailureRow | undefined>> = {
  401: authentication,
  402: billing,
  403: permission,
  404: notFound,
  408: outage,
  409: outage,
  413: tooLarge,
  429: rateLimit,
};
