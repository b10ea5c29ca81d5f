/** The Claude API as a provider. */

import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { redactorFor, redactorForGrowing } from '../../domain/secrets/redact.ts';
import type { Federation } from '../../ports/network.ts';
import type { LlmProvider } from '../../ports.ts';
import { claudeProvider, QUIET_CLIENT } from './anthropic/access.ts';
import { FederatedLogin } from './anthropic/login.ts';
import { checkedKey, type EndpointOptions, parseEndpoint } from './asking/endpoint.ts';
import { withBoundedRefusals } from './asking/stream.ts';

const ANTHROPIC_API = 'https://api.anthropic.com';

/** How to reach the API, and with which credentials. */
export interface AnthropicOptions extends EndpointOptions {
  /** Used instead of a key. */
  readonly federation?: Federation;
}

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createAnthropicProvider(options: AnthropicOptions): LlmProvider {
  const { apiKey, federation, fetch: ask = fetch } = options;
  const endpoint = parseEndpoint(options.baseUrl ?? ANTHROPIC_API, options.allowInsecureBaseUrl ?? false);
  const baseURL = endpoint.href.replace(/\/$/, '');
  const login = federation ? new FederatedLogin(federation, baseURL, ask) : null;
  const client = new BaseAnthropic({
    ...(login === null
      ? { apiKey: checkedKey(apiKey, 'ANTHROPIC_API_KEY') }
      : { credentials: login.credentials }),
    baseURL,
    fetch: withBoundedRefusals(ask),
    ...QUIET_CLIENT,
  });
  return claudeProvider(options, {
    name: 'anthropic',
    client,
    host: endpoint.host,
    redact: login === null ? redactorFor([apiKey ?? '']) : redactorForGrowing(login.secrets),
    attend: (signal) => {
      if (login !== null) login.stop = signal;
    },
  });
}
