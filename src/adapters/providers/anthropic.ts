/** The Claude API as a provider. */

import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { AccessTokenProvider } from '@anthropic-ai/sdk/lib/credentials';
import { oidcFederationProvider } from '@anthropic-ai/sdk/lib/credentials/oidc-federation';
import { WorkloadIdentityError } from '@anthropic-ai/sdk/lib/credentials/types';
import { redactorFor, redactorForGrowing } from '../../domain/secrets/redact.ts';
import { sentence } from '../../domain/text/words.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import type { Federation } from '../../ports/network.ts';
import { CLAUDE_REFUSALS, claudeProvider, QUIET_CLIENT } from './anthropic/access.ts';
import { checkedKey, type EndpointOptions, parseEndpoint } from './asking/endpoint.ts';
import { type AttemptFailure, connectionFailure, NOTHING_SAID, refusalFailure } from './asking/failures.ts';
import type { NamelessProvider } from './asking/provider.ts';
import { AttemptFailed, withBoundedRefusals } from './asking/stream.ts';

const ANTHROPIC_API = 'https://api.anthropic.com';

/** Throws ProviderSettingsError for a key or base URL that cannot be used. */
export function createAnthropicProvider(options: EndpointOptions): NamelessProvider {
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
    client,
    host: endpoint.host,
    redact: login === null ? redactorFor([apiKey ?? '']) : redactorForGrowing(login.secrets),
    attend: (signal) => {
      if (login !== null) login.stop = signal;
    },
  });
}

const EXCHANGE_TIMEOUT_MS = 30_000;

/** Exchanges a job's identity token for short-lived access to the API, and again before that expires. */
class FederatedLogin {
  readonly credentials: AccessTokenProvider;
  /** All tokens so far: a server may repeat them in its messages. */
  readonly secrets: string[] = [];
  /** Ends a login when the request that waits for it is stopped. */
  stop: AbortSignal = new AbortController().signal;

  constructor(federation: Federation, baseURL: string, ask: typeof fetch) {
    const { ruleId, organizationId, serviceAccountId, workspaceId, onAccessToken } = federation;
    const bounded = withBoundedRefusals(ask);
    const exchange = oidcFederationProvider({
      identityTokenProvider: () => this.#identityToken(federation),
      federationRuleId: ruleId,
      organizationId,
      ...(serviceAccountId === null ? {} : { serviceAccountId }),
      ...(workspaceId === null ? {} : { workspaceId }),
      baseURL,
      fetch: (url, init) => bounded(url, { ...init, signal: this.#deadline() }),
    });
    this.credentials = async () => {
      try {
        const token = await exchange();
        this.secrets.push(token.token);
        onAccessToken(token.token);
        return token;
      } catch (error) {
        if (error instanceof WorkloadIdentityError) throw new AttemptFailed(failureFrom(error));
        throw error;
      }
    };
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([this.stop, timeoutSignal(EXCHANGE_TIMEOUT_MS)]);
  }

  async #identityToken({ identityToken }: Federation): Promise<string> {
    const identity = await identityToken(this.#deadline());
    if (identity.status !== 'ok')
      throw new AttemptFailed(
        identity.again ? connectionFailure(identity.message) : noLogin(sentence(identity.message), null),
      );
    this.secrets.push(identity.token);
    return identity.token;
  }
}

/** 400 and 401 are refusals that a retry cannot change; 429 and 5xx mean what they always mean. */
function failureFrom({ statusCode: status, message }: WorkloadIdentityError): AttemptFailure {
  if (status === null || status === 200) return connectionFailure(message);
  if (status !== 429 && status < 500) return noLogin(sentence(message), status);
  return refusalFailure({ status, said: { ...NOTHING_SAID, message }, retryAfterMs: null }, CLAUDE_REFUSALS);
}

function noLogin(message: string, status: number | null): AttemptFailure {
  return { kind: 'authentication', retry: 'never', status, message, retryAfterMs: null };
}
