/**
 * GitHub's API through Octokit, with its plugins for retries and rate limits. Loaded only by the commands that need it,
 * never at start-up.
 */

import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import Bottleneck from 'bottleneck/light.js';
import * as z from 'zod';
import { withoutHtml } from '../../domain/text/html-page.ts';
import { timeoutSignal } from '../../host/timeout-signal.ts';
import type {
  GitHub,
  GitHubAnswer,
  GitHubList,
  GitHubQuery,
  GitHubRefusal,
  GitHubRequest,
} from '../../ports/github.ts';
import { askUntilSettled, MAX_WAIT_S, retryAfterSeconds, type TimedAnswer } from './passing-refusals.ts';

/** How to reach GitHub, and with which token. */
export interface GitHubAccess {
  /** `https://api.github.com`, without a trailing slash. */
  readonly apiUrl: string;
  /** Null sends requests without one, which suffices for public repositories. */
  readonly token: string | null;
  /** patchsmith's version, for the user agent. */
  readonly version: string;
  /** Ends every wait; pending requests are then answered with a refusal. */
  readonly signal: AbortSignal;
  /** Used to reach it. Default: the platform's own fetch. */
  readonly fetch?: typeof fetch;
  /** Length of a second, in milliseconds, in the pauses between tries. Default: 1,000. */
  readonly secondMs?: number;
}

/** For one request and its answer, not counting waits between tries. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Answers that another try would not change; 409 is for refs that have moved and for empty repositories. */
const FINAL_STATUSES = [400, 401, 403, 404, 405, 409, 410, 413, 422, 429, 451];

/**
 * Reads, and writes that can be sent twice, are tried four times on outages and broken connections. A rate limit is waited
 * for if that takes at most two minutes, and at most twice. What GitHub has not heard of everywhere yet is waited for, at
 * most 15 seconds.
 */
export function openGitHub({
  apiUrl,
  token,
  version,
  signal,
  fetch: ask = fetch,
  secondMs = 1_000,
}: GitHubAccess): GitHub {
  const access = {
    baseUrl: apiUrl,
    ...(token === null ? {} : { auth: token }),
    userAgent: `patchsmith/${version}`,
    request: { fetch: fetchInTime(ask, signal) },
    log: SILENT,
  };
  const octokit = new (Octokit.plugin(retry, throttling))({
    ...access,
    retry: { doNotRetry: FINAL_STATUSES, retryAfterBaseValue: secondMs },
    throttle: {
      retryAfterBaseValue: secondMs,
      onRateLimit: isWorthWaiting,
      onSecondaryRateLimit: isWorthWaiting,
      // GitHub asks for a pause of a second between writes if there are many; a publication makes a dozen.
      write: new Bottleneck.Group({
        maxConcurrent: 1,
        reservoir: 20,
        reservoirIncreaseAmount: 1,
        reservoirIncreaseInterval: 1_000,
        reservoirIncreaseMaximum: 20,
      }),
      notifications: new Bottleneck.Group({ maxConcurrent: 1 }),
    },
  });
  // The address of a list's next page comes from an answer: the token must go only to the API.
  const { origin } = new URL(apiUrl);
  octokit.hook.before('request', (request) => {
    const to = new URL(request.url, apiUrl).origin;
    if (to === origin) return;
    throw new RequestError(`the answer continues at ${to}, which is not the API`, 500, {
      request: { ...request, headers: {} },
    });
  });

  /** Refusals and outages become values; those that pass are waited for. */
  const answered = <T>(
    route: string,
    request: () => Promise<GitHubAnswer<T>>,
    timeOf: (response: ErrorResponse) => TimedAnswer<T>['retryAfterS'],
  ): Promise<GitHubAnswer<T>> =>
    askUntilSettled(
      async () => {
        try {
          return { answer: await orAborted(signal, request()), retryAfterS: null };
        } catch (error) {
          if (signal.aborted) return refused(noAnswer({ route }, 'it was interrupted'));
          if (!(error instanceof RequestError)) throw error;
          const { response } = error;
          const retryAfterS = response === undefined ? null : timeOf(response);
          return refused(refusalOf({ route }, error), retryAfterS);
        }
      },
      { signal, secondMs },
    );

  return {
    ask<T>({ route, parameters, schema, isRepeatable = isRead(route) }: GitHubRequest<T>) {
      const request = async () => {
        const { data } = await octokit.request(route, {
          ...parameters,
          headers: HEADERS,
          // A number here would apply to every refusal, even a final one.
          request: isRepeatable ? {} : { retries: 0 },
        });
        return parsedAs(route, schema, data);
      };
      return answered(route, request, unlessThrottled);
    },

    list<T>({ route, parameters, entry }: GitHubList<T>) {
      const request = async () => {
        const pages = octokit.paginate.iterator(route, { ...parameters, per_page: PAGE, headers: HEADERS });
        return parsedAs(route, z.array(entry), await entriesOf(pages));
      };
      return answered(route, request, unlessThrottled);
    },

    query<T>({ query, variables, schema }: GitHubQuery<T>) {
      const route = 'POST /graphql';
      const url = apiUrl.replace(/\/api\/v3$/, '/api');
      const request = async (): Promise<GitHubAnswer<T>> => {
        // Here the plugins mistake a lost connection for an answer.
        const { data } = await new Octokit(access).request(`POST ${url}/graphql`, { query, variables });
        const parsed = parsedAs(route, z.object({ data: schema }), data);
        if (parsed.status === 'ok') return { status: 'ok', data: parsed.data.data };
        const errors = GraphQLErrors.safeParse(data);
        const [first] = errors.success ? errors.data.errors : [];
        if (first === undefined) return parsed;
        return { status: 'refused', refusal: { ...parsed.refusal, status: 403, message: first.message } };
      };
      return answered(route, request, pauseAskedFor);
    },
  };
}

type ErrorResponse = NonNullable<RequestError['response']>;

function refused(
  refusal: GitHubRefusal,
  retryAfterS: TimedAnswer<never>['retryAfterS'] = null,
): TimedAnswer<never> {
  return { answer: { status: 'refused', refusal }, retryAfterS };
}

function parsedAs<T>(route: string, schema: z.ZodType<T>, data: unknown): GitHubAnswer<T> {
  const parsed = schema.safeParse(data);
  return parsed.success
    ? { status: 'ok', data: parsed.data }
    : { status: 'refused', refusal: strangeAnswer({ route }, parsed.error.issues[0]) };
}

function pauseAskedFor({ headers }: ErrorResponse): number | null {
  const asked = headers['retry-after'];
  return asked === undefined ? null : retryAfterSeconds(String(asked), new Date());
}

/** The limits that the plugin knows, by header or by words, have been waited for when their refusal gets here. */
function unlessThrottled(response: ErrorResponse): number | null | 'spent' {
  const { headers, data } = response;
  const said = z.object({ message: z.string() }).safeParse(data);
  const isKnown =
    headers['x-ratelimit-remaining'] === '0' ||
    (said.success && /\bsecondary rate\b/i.test(said.data.message));
  return isKnown ? 'spent' : pauseAskedFor(response);
}

const HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

const PAGE = 100;

/** Further pages are not read. */
const MAX_PAGES = 30;

/** GraphQL's refusals have status 200. */
const GraphQLErrors = z.object({ errors: z.array(z.object({ message: z.string() })) });

async function entriesOf(pages: AsyncIterable<{ data: unknown[] }>): Promise<unknown[]> {
  const all: unknown[] = [];
  let count = 0;
  for await (const { data } of pages) {
    all.push(...data);
    count += 1;
    if (count === MAX_PAGES) break;
  }
  return all;
}

function isRead(route: string): boolean {
  return route.startsWith('GET ');
}

function isWorthWaiting(retryAfter: number, _options: object, _octokit: unknown, retries: number): boolean {
  return retryAfter <= MAX_WAIT_S && retries < 2;
}

/** Each try has its own deadline, which also covers the body of the answer. */
function fetchInTime(ask: typeof fetch, signal: AbortSignal): typeof fetch {
  return (url, init) =>
    ask(url, { ...init, signal: AbortSignal.any([signal, timeoutSignal(REQUEST_TIMEOUT_MS)]) });
}

/** The libraries cannot be interrupted while they wait for a rate limit. */
async function orAborted<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  // Nothing waits for it any more.
  answer.catch(() => {});
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function refusalOf({ route }: Pick<GitHubRequest<unknown>, 'route'>, error: RequestError): GitHubRefusal {
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

function noAnswer({ route }: Pick<GitHubRequest<unknown>, 'route'>, why: string): GitHubRefusal {
  return { route, status: null, message: why, permission: null, requestId: null };
}

function strangeAnswer(
  { route }: Pick<GitHubRequest<unknown>, 'route'>,
  issue: { path: PropertyKey[]; message: string } | undefined,
): GitHubRefusal {
  const where = issue?.path.map(String).join('.') || 'the answer';
  return noAnswer({ route }, `the answer does not match the API's schema (${where}: ${issue?.message})`);
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
