/** The Claude API as a provider. */

import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { type Redact, redactorFor, redactorForGrowing } from '../../domain/secrets/redact.ts';
import type { Federation } from '../../ports/network.ts';
import type { LlmProvider } from '../../ports.ts';
import { claudeProvider, QUIET_CLIENT } from './anthropic/claude-provider.ts';
import { FederatedLogin } from './anthropic/federated-login.ts';
import type { RequestSettings } from './anthropic/request.ts';
import { withBoundedRefusals } from './asking/bounded-refusals.ts';
import { checkedKey, parseEndpoint } from './asking/endpoint.ts';
import type { Patience } from './asking/patience.ts';

const ANTHROPIC_API = 'https://api.anthropic.com';

/** How to reach the API, and with which credentials. */
export interface AnthropicOptions extends RequestSettings, Patience {
  /** Null only with a federation. */
  readonly apiKey: string | null;
  /** Used instead of a key. */
  readonly federation?: Federation;
  /** Default: the vendor's API. Plain http is only allowed for this machine. */
  readonly baseUrl?: string;
  /** Whether plain http to another host is allowed. */
  readonly allowInsecureBaseUrl?: boolean;
  /** Used to reach it. Default: the platform's own fetch. */
  readonly fetch?: typeof fetch;
  /** Longest silence before and during an answer; default 120 s. */
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
    fetch: withBoundedRefusals(ask),
    ...QUIET_CLIENT,
  });
  const ofKey = redactorFor(options.apiKey === null ? [] : [options.apiKey]);
  const redact: Redact = login === null ? ofKey : redactorForGrowing(login.secrets);
  return claudeProvider(options, {
    name: 'anthropic',
    client,
    host: endpoint.host,
    redact,
    attend: (signal) => login?.attend(signal),
  });
}
