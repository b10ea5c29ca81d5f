/** The Claude API as a provider. This file holds the one retry layer of the program. */

import { setTimeout as delay } from 'node:timers/promises';
import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { Conversation, Retry } from '../../domain/conversation/conversation.ts';
import { type Redact, redactorFor } from '../../domain/secrets/redact.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { Clock, Federation, LlmProvider, TurnRequest, TurnResult } from '../../ports.ts';
import { attemptTurn } from './anthropic/attempt.ts';
import { withBoundedRefusals } from './anthropic/bounded-refusals.ts';
import type { AttemptFailure } from './anthropic/failures.ts';
import { FederatedLogin } from './anthropic/federated-login.ts';
import { type RequestSettings, requestBody } from './anthropic/request.ts';
import { type RetryPolicies, type RetryPolicy, waitBeforeNext } from './anthropic/waits.ts';
import { ProviderSettingsError } from './settings-error.ts';

const ANTHROPIC_API = 'https://api.anthropic.com';

/** How to reach the API, and as whom. */
export interface AnthropicOptions extends RequestSettings {
  /** Null only with a federation. */
  readonly apiKey: string | null;
  /** In place of a key. */
  readonly federation?: Federation;
  /** Without it the vendor's API. Plain http is for this machine only. */
  readonly baseUrl?: string;
  /** The way to it; the platform's own without it. */
  readonly fetch?: typeof fetch;
  /** Longest wait for the headers of an answer; 120 s without it. */
  readonly connectTimeoutMs?: number;
  /** Longest silence inside an answer; 120 s without it. */
  readonly idleTimeoutMs?: number;
  /** 5 attempts from 10 s without it. */
  readonly rateLimitRetries?: RetryPolicy;
  /** For outages, lost connections and broken answers; 5 attempts from 0.5 s without it. */
  readonly outageRetries?: RetryPolicy;
  /** No single wait is longer, also when the server asks for it; 120 s without it. */
  readonly maxWaitMs?: number;
  readonly clock?: Clock;
  /** Resolves after `ms`, and at once when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createAnthropicProvider(options: AnthropicOptions): LlmProvider {
  const endpoint = parseEndpoint(options.baseUrl ?? ANTHROPIC_API);
  const baseURL = endpoint.href.replace(/\/$/, '');
  const ask = options.fetch ?? fetch;
  const login = options.federation ? new FederatedLogin(options.federation, baseURL, ask) : null;
  const client = new BaseAnthropic({
    ...(login === null ? { apiKey: checkedKey(options.apiKey) } : { credentials: login.credentials }),
    baseURL,
    maxRetries: 0,
    fetch: withBoundedRefusals(ask),
    // A redirect would carry the conversation to a host that nobody chose.
    fetchOptions: { redirect: 'manual' },
    webhookKey: null,
    openTelemetry: false,
    logLevel: 'off',
  });
  const ofKey = redactorFor(options.apiKey === null ? [] : [options.apiKey]);
  const redact: Redact = login === null ? ofKey : (text) => redactorFor(login.secrets)(text);
  const where = `model ${options.model} at ${endpoint.host}`;
  return {
    name: 'anthropic',
    model: options.model,
    complete: (request) => {
      login?.attend(request.signal);
      return completeTurn({ options, client, redact, where }, request);
    },
  };
}

interface Setup {
  readonly options: AnthropicOptions;
  readonly client: BaseAnthropic;
  readonly redact: Redact;
  readonly where: string;
}

async function completeTurn(setup: Setup, request: TurnRequest): Promise<TurnResult> {
  const { options, redact } = setup;
  const { clock = Date.now, sleep = abortableSleep, random = Math.random } = options;
  const { signal } = request;
  const startedAt = clock();
  const attempt = {
    client: setup.client,
    body: requestBody(options, request.conversation),
    earlierCalls: callIds(request.conversation),
    connectTimeoutMs: options.connectTimeoutMs ?? 120_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 120_000,
    clock,
    signal,
    redact,
    onText: (text: string) => request.onProgress({ type: 'text', text }),
  };
  const policies: RetryPolicies = {
    rate_limit: options.rateLimitRetries ?? { attempts: 5, firstWaitMs: 10_000 },
    outage: options.outageRetries ?? { attempts: 5, firstWaitMs: 500 },
    maxWaitMs: options.maxWaitMs ?? 120_000,
  };
  const retries: Retry[] = [];
  const failures: AttemptFailure[] = [];
  while (!signal.aborted) {
    const result = await attemptTurn(attempt);
    if (result.status === 'interrupted') break;
    if (result.status === 'ok') {
      return { status: 'ok', turn: { ...result.answer, retries, durationMs: clock() - startedAt } };
    }
    failures.push(result.failure);
    const cause = redact(result.failure.message);
    const waitMs = waitBeforeNext(failures, policies, random);
    if (waitMs === null) {
      // The last attempt is no retry, but what it had used up is billed like the others.
      if (result.usage) retries.push({ cause, waitedMs: 0, usage: result.usage });
      return {
        status: 'failed',
        kind: result.failure.kind,
        message: redact(describe(setup.where, failures, result)),
        retries,
      };
    }
    retries.push({ cause, waitedMs: waitMs, ...(result.usage ? { usage: result.usage } : {}) });
    request.onProgress({ type: 'retry', cause, waitMs, attempt: failures.length + 1 });
    await sleep(waitMs, signal);
  }
  return { status: 'interrupted' };
}

function describe(
  where: string,
  failures: readonly AttemptFailure[],
  last: { failure: AttemptFailure; requestId: string | null },
): string {
  const details = [
    where,
    ...(last.requestId === null ? [] : [`request ${oneLine(last.requestId, 100)}`]),
    ...(failures.length === 1 ? [] : [`${failures.length} attempts`]),
  ];
  return `${last.failure.message} (${details.join(', ')})`;
}

function callIds(conversation: Conversation): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of conversation.messages) {
    if (message.role !== 'assistant') continue;
    for (const block of message.content) {
      if (block.type === 'tool_use' && typeof block.id === 'string') ids.add(block.id);
    }
  }
  return ids;
}

async function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function parseEndpoint(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new ProviderSettingsError('The base URL of the API is not an http(s) URL.');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ProviderSettingsError(
      `The base URL of the API (host ${url.host}) may have a path, but no user, password, query or fragment.`,
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ProviderSettingsError(
      `The base URL of the API (host ${url.host}) must use https: over plain http the key could be read on the way.`,
    );
  }
  return url;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** A header takes only visible ASCII, and an exception about it would spell the key out. */
function checkedKey(apiKey: string | null): string {
  if (!apiKey) throw new ProviderSettingsError('There is no API key. Set ANTHROPIC_API_KEY.');
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new ProviderSettingsError(
      'The API key contains spaces, line breaks or other characters that a key cannot have. Check ANTHROPIC_API_KEY.',
    );
  }
  return apiKey;
}
