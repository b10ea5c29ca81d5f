/** What GitHub says when it refuses, in the words of the port. */

import type { RequestError } from '@octokit/request-error';
import * as z from 'zod';
import { withoutHtml } from '../../../domain/errors/innermost-message.ts';
import type { GitHubRefusal, GitHubRequest } from '../../../ports/github.ts';
import { retryAfterSeconds } from './passing-refusals.ts';

/** What a refusal came with. */
export type ErrorResponse = NonNullable<RequestError['response']>;

/** The seconds after which it may be asked again, as it says itself; null where it does not. */
export function pauseAskedFor({ headers }: ErrorResponse): number | null {
  const asked = headers['retry-after'];
  return asked === undefined ? null : retryAfterSeconds(String(asked), new Date());
}

/** The plugin has already waited for the limits that it recognises, by header or by wording, before their refusal gets here. */
export function unlessThrottled(response: ErrorResponse): number | null | 'spent' {
  const { headers, data } = response;
  const said = z.object({ message: z.string() }).safeParse(data);
  const isKnown =
    headers['x-ratelimit-remaining'] === '0' ||
    (said.success && /\bsecondary rate\b/i.test(said.data.message));
  return isKnown ? 'spent' : pauseAskedFor(response);
}

/** The refusal, or that there was no answer. */
export function refusalOf(
  { route }: Pick<GitHubRequest<unknown>, 'route'>,
  error: RequestError,
): GitHubRefusal {
  const { response } = error;
  // Without an answer the library reports 500.
  if (!response) return noAnswer({ route }, error.message);
  const header = (name: string) => {
    const value = (response.headers as Record<string, unknown>)[name];
    return value === undefined ? null : String(value);
  };
  return {
    route,
    status: error.status,
    message: withoutHtml(error.message),
    permission: header('x-accepted-github-permissions'),
    requestId: header('x-github-request-id'),
  };
}

/** Nothing came back, or nothing that could be read. */
export function noAnswer({ route }: Pick<GitHubRequest<unknown>, 'route'>, why: string): GitHubRefusal {
  return { route, status: null, message: why, permission: null, requestId: null };
}

/** An answer that the schema does not know. */
export function strangeAnswer(
  { route }: Pick<GitHubRequest<unknown>, 'route'>,
  issue: { path: PropertyKey[]; message: string } | undefined,
): GitHubRefusal {
  const where = issue?.path.map(String).join('.') || 'the answer';
  return noAnswer({ route }, `the answer does not match the API's schema (${where}: ${issue?.message})`);
}
