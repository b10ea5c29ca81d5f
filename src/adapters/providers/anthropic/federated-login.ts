/**
 * Exchanges identity tokens for access tokens of the Claude API (workload identity federation). The SDK makes the exchange
 * and renews tokens before they expire; this file adds the deadline, the end with the run, and the meaning of failures.
 */

import type { AccessTokenProvider } from '@anthropic-ai/sdk/lib/credentials';
import { oidcFederationProvider } from '@anthropic-ai/sdk/lib/credentials/oidc-federation';
import { WorkloadIdentityError } from '@anthropic-ai/sdk/lib/credentials/types';
import { sentence } from '../../../domain/text/sentence.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import type { Federation } from '../../../ports/network.ts';
import { withBoundedRefusals } from '../asking/bounded-refusals.ts';
import { type AttemptFailure, connectionFailure } from '../asking/failures.ts';
import { failureOf } from './failures.ts';

const EXCHANGE_TIMEOUT_MS = 30_000;

/** Thrown through the SDK, which requests tokens in the middle of a request. */
export class LoginFailed extends Error {
  readonly failure: AttemptFailure;

  constructor(failure: AttemptFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Exchanges a job's identity token for short-lived access to the API, and again before that expires. */
export class FederatedLogin {
  readonly credentials: AccessTokenProvider;
  /** All tokens so far: a server may repeat them in its messages. */
  readonly secrets: string[] = [];
  #stop: AbortSignal = new AbortController().signal;

  constructor(federation: Federation, baseURL: string, ask: typeof fetch) {
    const bounded = withBoundedRefusals(ask);
    const exchange = oidcFederationProvider({
      identityTokenProvider: () => this.#identityToken(federation),
      federationRuleId: federation.ruleId,
      organizationId: federation.organizationId,
      ...(federation.serviceAccountId === null ? {} : { serviceAccountId: federation.serviceAccountId }),
      ...(federation.workspaceId === null ? {} : { workspaceId: federation.workspaceId }),
      baseURL,
      fetch: (url, init) => bounded(url, { ...init, signal: this.#deadline() }),
    });
    this.credentials = async () => {
      try {
        const token = await exchange();
        this.secrets.push(token.token);
        federation.onAccessToken(token.token);
        return token;
      } catch (error) {
        if (error instanceof WorkloadIdentityError) throw new LoginFailed(failureFrom(error));
        throw error;
      }
    };
  }

  /** Cancels a login when the turn that waits for it is stopped. */
  attend(stop: AbortSignal): void {
    this.#stop = stop;
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([this.#stop, timeoutSignal(EXCHANGE_TIMEOUT_MS)]);
  }

  async #identityToken(federation: Federation): Promise<string> {
    const identity = await federation.identityToken(this.#deadline());
    if (identity.status === 'ok') {
      this.secrets.push(identity.token);
      return identity.token;
    }
    const { message, again } = identity;
    throw new LoginFailed(
      again
        ? connectionFailure(message)
        : {
            kind: 'authentication',
            retry: 'never',
            status: null,
            message: sentence(message),
            retryAfterMs: null,
          },
    );
  }
}

/** 400 and 401 are refusals that a retry cannot change; 429 and 5xx mean what they always mean. */
function failureFrom({ statusCode, message }: WorkloadIdentityError): AttemptFailure {
  if (statusCode === null || statusCode === 200) return connectionFailure(message);
  if (statusCode === 429 || statusCode >= 500)
    return failureOf({ status: statusCode, type: null, code: null, message, retryAfterMs: null });
  return {
    kind: 'authentication',
    retry: 'never',
    status: statusCode,
    message: `${message.replace(/\.$/, '')}.`,
    retryAfterMs: null,
  };
}
