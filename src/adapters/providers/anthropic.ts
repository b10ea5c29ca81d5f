/** The Claude API as a provider. This file contains the only retry layer of the program. */

import { setTimeout as delay } from 'node:timers/promises';
import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { SpentTokens } from '../../domain/budget/spent.ts';
import type { Conversation } from '../../domain/conversation/conversation.ts';
import { DEFAULT_OUTAGE_WAIT_MS, DEFAULT_RATE_LIMIT_WAIT_MS } from '../../domain/run/model-settings.ts';
import { type Redact, redactorFor } from '../../domain/secrets/redact.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { Clock, Federation, LlmProvider, TurnRequest, TurnResult } from '../../ports.ts';
import { attemptTurn } from './anthropic/attempt.ts';
import { withBoundedRefusals } from './anthropic/bounded-refusals.ts';
import type { AttemptFailure } from './anthropic/failures.ts';
import { FederatedLogin } from './anthropic/federated-login.ts';
import { type RequestSettings, requestBody } from './anthropic/request.ts';
import { type FailureAt, nextAttempt, type RetryPolicies } from './anthropic/waits.ts';
import { ProviderSettingsError } from './settings-error.ts';

const ANTHROPIC_API = 'https://api.anthropic.com';

/** How to reach the API, and with which credentials. */
export interface AnthropicOptions extends RequestSettings {
  /** Null only with a federation. */
  readonly apiKey: string | null;
  /** Used instead of a key. */
  readonly federation?: Federation;
  /** Default: the vendor's API. Plain http is only allowed for this machine. */
  readonly baseUrl?: string;
  /** It may be one of plain http on another host. */
  readonly allowInsecureBaseUrl?: boolean;
  /** Used to reach it. Default: the platform's own fetch. */
  readonly fetch?: typeof fetch;
  /** Longest silence before an answer and inside it; 120 s without it. */
  readonly idleTimeoutMs?: number;
  /** How long a rate limit is waited out; 310 s without it, which is 5 retries. */
  readonly rateLimitWaitMs?: number;
  /** How long an outage or a lost connection is waited out; 300 s without it. */
  readonly outageWaitMs?: number;
  readonly clock?: Clock;
  /** Resolves after `ms`, or at once when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createAnthropicProvider(options: AnthropicOptions): LlmProvider {
  const endpoint = parseEndpoint(options.baseUrl ?? ANTHROPIC_API, options.allowInsecureBaseUrl ?? false);
  const baseURL = endpoint.href.replace(/\/$/, '');
  const ask = options.fetch ?? fetch;
  const login = options.federation ? new FederatedLogin(options.federation, baseURL, ask) : null;
  const client = new BaseAnthropic({
    ...(login === null ? { apiKey: checkedKey(options.apiKey) } : { credentials: login.credentials }),
    baseURL,
    maxRetries: 0,
    fetch: withBoundedRefusals(ask),
    // A redirect would send the conversation to a host that was not chosen.
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
    earlierCalls: callIds(request.conversation),
    idleTimeoutMs: options.idleTimeoutMs ?? 120_000,
    clock,
    signal,
    redact,
    onText: (text: string) => request.onProgress({ type: 'text', text }),
  };
  const policies = policiesOf(options);
  const failures: FailureAt[] = [];
  const spent: SpentTokens[] = [];
  let maxTokens = request.answerTokens(spent);
  while (!signal.aborted && maxTokens !== null) {
    const body = requestBody(options, request.conversation, maxTokens);
    const result = await attemptTurn({ ...attempt, body });
    if (result.status === 'interrupted') return { status: 'interrupted', ...spentPart(result) };
    if (result.status === 'ok') {
      return { status: 'ok', turn: { ...result.answer, durationMs: clock() - startedAt } };
    }
    const { failure } = result;
    failures.push({ failure, at: clock() });
    const next = nextAttempt(failures, policies, random);
    if (!('waitMs' in next)) {
      const message = redact(describe(setup.where, failures, { ...result, ...next, policies }));
      return { status: 'failed', kind: failure.kind, message, ...spentPart(result) };
    }
    if (result.spent !== undefined) spent.push(result.spent);
    maxTokens = request.answerTokens(spent);
    if (maxTokens === null) return { status: 'interrupted', ...spentPart(result) };
    const { kind, status } = failure;
    const cause = redact(failure.message);
    const retry = { attempt: failures.length + 1, kind, status, cause, waitMs: next.waitMs };
    request.onProgress({ type: 'retry', retry: { ...retry, ...spentPart(result) } });
    await sleep(next.waitMs, signal);
  }
  return { status: 'interrupted' };
}

function spentPart({ spent }: { spent: SpentTokens | undefined }): { spent?: SpentTokens } {
  return spent === undefined ? {} : { spent };
}

function policiesOf({
  rateLimitWaitMs = DEFAULT_RATE_LIMIT_WAIT_MS,
  outageWaitMs = DEFAULT_OUTAGE_WAIT_MS,
}: AnthropicOptions): RetryPolicies {
  const outage = {
    firstWaitMs: 500,
    longestWaitMs: 30_000,
    patienceMs: outageWaitMs,
    maxFailures: null,
  };
  return {
    rate_limit: {
      firstWaitMs: 10_000,
      longestWaitMs: Number.POSITIVE_INFINITY,
      patienceMs: rateLimitWaitMs,
      maxFailures: null,
    },
    outage,
    broken: { ...outage, maxFailures: 5 },
  };
}

interface GivenUp {
  readonly failure: AttemptFailure;
  readonly requestId: string | null;
  /** Until when the server asks not to be asked; null where it has not asked for too long a wait. */
  readonly comeBackAt: number | null;
  readonly policies: RetryPolicies;
}

/** One sentence or more: what happened, when to come back, where it was and how often it was tried. */
function describe(
  where: string,
  failures: readonly FailureAt[],
  { failure, requestId, comeBackAt, policies }: GivenUp,
): string {
  const { message, retry, retryAfterMs } = failure;
  const seconds = (ms: number) => `${formatNumber(Math.round(ms / 1_000))} s`;
  const elapsedMs = (failures.at(-1)?.at ?? 0) - (failures[0]?.at ?? 0);
  const details = [
    where,
    ...(requestId === null ? [] : [`request ${oneLine(requestId, 100)}`]),
    ...(failures.length === 1 ? [] : [`${failures.length} attempts in ${seconds(elapsedMs)}`]),
  ];
  if (comeBackAt === null || retry === 'never') return `${message} (${details.join(', ')})`;
  const flag = retry === 'rate_limit' ? '--rate-limit-wait' : '--outage-wait';
  const limit = `${flag} is ${seconds(policies[retry].patienceMs)}`;
  const asked = `The endpoint asks for a wait of ${seconds(retryAfterMs ?? 0)}, and ${limit}: come back after ${timeOfDay(comeBackAt)}.`;
  return `${message} ${asked} (${details.join(', ')})`;
}

/** `2026-11-21 10:00:00 UTC`. */
function timeOfDay(at: number): string {
  // The last moment that a date can stand for; a server may name a later one.
  const date = new Date(Math.min(Math.ceil(at / 1_000) * 1_000, 8.64e15));
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
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

function parseEndpoint(baseUrl: string, mayBePlain: boolean): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new ProviderSettingsError('The base URL of the API is not an http(s) URL.');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ProviderSettingsError(
      `The base URL of the API (host ${url.host}) may have a path, but no user, password, query or fragment.`,
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !mayBePlain) {
    throw new ProviderSettingsError(
      `The base URL of the API (host ${url.host}) must use https: over plain http the key could be read on the way.`,
    );
  }
  return url;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** A header only allows visible ASCII, and an exception about it would contain the key. */
function checkedKey(apiKey: string | null): string {
  if (!apiKey) throw new ProviderSettingsError('There is no API key. Set ANTHROPIC_API_KEY.');
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new ProviderSettingsError(
      'The API key contains spaces, line breaks or other characters that a key cannot have. Check ANTHROPIC_API_KEY.',
    );
  }
  return apiKey;
}
