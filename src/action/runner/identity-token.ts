/**
 * Identity tokens of a job, from the runner's own endpoint
 * (https://docs.github.com/actions/reference/openid-connect-reference#methods-for-requesting-the-oidc-token).
 */

import type { IdentityToken } from '../../ports.ts';

/** What the runner gives a job with the permission `id-token: write`. */
export interface TokenRequest {
  readonly url: string;
  readonly token: string;
}

/** Null for a job that may not ask. */
export function tokenRequest(env: Readonly<Record<string, string | undefined>>): TokenRequest | null {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = env;
  return url && token && URL.canParse(url) ? { url, token } : null;
}

/** A request for an identity token, with the audience it is for. */
export interface TokenWanted extends TokenRequest {
  readonly audience: string;
  readonly signal: AbortSignal;
  /** The way to the endpoint. */
  readonly fetch: typeof fetch;
}

/** Asks the runner for an OpenID Connect token of this job. What goes wrong is a value that says how to fix it. */
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
      return failed(
        `The runner did not issue an identity token: status ${response.status}`,
        response.status >= 500,
      );
    const answer: unknown = await response.json();
    const value = typeof answer === 'object' && answer !== null && 'value' in answer ? answer.value : null;
    return typeof value === 'string' && value !== ''
      ? { status: 'ok', token: value }
      : failed("The runner's answer has no identity token", true);
  } catch (error) {
    // What fetch throws for a connection, an answer that is no JSON, and an end that was asked for.
    if (error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException)
      return failed(`The runner gives no identity token: ${causeOf(error)}`, true);
    throw error;
  }
}

function failed(message: string, again: boolean): IdentityToken {
  return { status: 'failed', message, again };
}

function causeOf({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message || message : message;
}
