/** The Claude API as a provider. */

import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { Conversation } from '../../domain/conversation/conversation.ts';
import { type Redact, redactorFor } from '../../domain/secrets/redact.ts';
import type { Federation, LlmProvider } from '../../ports.ts';
import { attemptTurn } from './anthropic/attempt.ts';
import { FederatedLogin } from './anthropic/federated-login.ts';
import { type RequestSettings, requestBody } from './anthropic/request.ts';
import { withBoundedRefusals } from './asking/bounded-refusals.ts';
import { checkedKey, parseEndpoint } from './asking/endpoint.ts';
import { askPatiently, type Patience } from './asking/patience.ts';

const ANTHROPIC_API = 'https://api.anthropic.com';

/** How to reach the API, and with which credentials. */
export interface AnthropicOptions extends RequestSettings, Patience {
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
}

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createAnthropicProvider(options: AnthropicOptions): LlmProvider {
  const endpoint = parseEndpoint(options.baseUrl ?? ANTHROPIC_API, options.allowInsecureBaseUrl ?? false);
  const baseURL = endpoint.href.replace(/\/$/, '');
  const ask = options.fetch ?? fetch;
  const login = options.federation ? new FederatedLogin(options.federation, baseURL, ask) : null;
  const client = new BaseAnthropic({
    ...(login === null
      ? { apiKey: checkedKey(options.apiKey, 'ANTHROPIC_API_KEY') }
      : { credentials: login.credentials }),
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
      const { conversation, signal } = request;
      const attempt = {
        client,
        earlierCalls: callIds(conversation),
        idleTimeoutMs: options.idleTimeoutMs ?? 120_000,
        clock: options.clock ?? Date.now,
        signal,
        redact,
        onText: (text: string) => request.onProgress({ type: 'text', text }),
      };
      const asked = {
        patience: options,
        redact,
        where,
        attempt: (maxTokens: number) =>
          attemptTurn({ ...attempt, body: requestBody(options, conversation, maxTokens) }),
      };
      return askPatiently(asked, request);
    },
  };
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
