/**
 * Identity tokens of a job, requested from the runner's endpoint
 * (https://docs.github.com/actions/reference/openid-connect-reference#methods-for-requesting-the-oidc-token).
 */

import type { Environment } from '../../domain/environment.ts';
import { innermostMessage } from '../../domain/errors/innermost-message.ts';
import type { IdentityToken } from '../../ports/network.ts';

/** What the runner provides to a job with the permission `id-token: write`. */
export interface TokenRequest {
  readonly url: string;
  readonly token: string;
}

/** Null for a job without that permission. */
export function tokenRequest(env: Environment): TokenRequest | null {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = env;
  return url && token && URL.canParse(url) ? { url, token } : null;
}

/** A request for an identity token, with its intended audience. */
export interface TokenWanted extends TokenRequest {
  readonly audience: string;
  readonly signal: AbortSignal;
  /** Used to reach the endpoint. */
  readonly fetch: typeof fetch;
}

/** Requests an OpenID Connect token of this job from the runner. Failures are values that say how to fix them. */
export async function requestIdentityToken({
  url,
  token,
  audience,
  signal,
  fetch: ask,
}: TokenWanted): Promise<IdentityToken> {
  const address = new URL(url);
  address.searchParams.set('audience', audience);
  try {
    const response = await ask(address, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      redirect: 'manual',
      signal,
    });
    if (!response.ok)
      return noToken(
        `The runner did not issue an identity token: status ${response.status}`,
        response.status >= 500,
      );
    const answer: unknown = await response.json();
    const value = typeof answer === 'object' && answer !== null && 'value' in answer ? answer.value : null;
    return typeof value === 'string' && value !== ''
      ? { status: 'ok', token: value }
      : noToken("The runner's answer has no identity token", true);
  } catch (error) {
    // Thrown by fetch for a failed connection, an answer that is not JSON, and an abort.
    if (error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException)
      return noToken(`The runner gives no identity token: ${innermostMessage(error)}`, true);
    throw error;
  }
}

function noToken(message: string, again: boolean): IdentityToken {
  return { status: 'failed', message, again };
}
