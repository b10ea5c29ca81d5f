/**
 * GitHub's API through Octokit, with its plugins for retries and rate limits. Loaded by the commands that need it, and
 * by nothing at the start.
 */

import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import Bottleneck from 'bottleneck/light.js';
import * as z from 'zod';
import { timeoutSignal } from '../../host/timeout-signal.ts';
import type {
  GitHub,
  GitHubAnswer,
  GitHubList,
  GitHubQuery,
  GitHubRefusal,
  GitHubRequest,
} from '../../ports.ts';

/** How to reach GitHub, and as whom. */
export interface GitHubAccess {
  /** `https://api.github.com`, without a slash at the end. */
  readonly apiUrl: string;
  /** Null asks without one, which serves for public repositories. */
  readonly token: string | null;
  /** Of patchsmith, for the user agent. */
  readonly version: string;
  /** Ends every wait; what is asked for then is answered with a refusal. */
  readonly signal: AbortSignal;
  /** The way to it; the platform's own without it. */
  readonly fetch?: typeof fetch;
  /** How many milliseconds a second lasts in the pauses between tries. Default: 1,000. */
  readonly secondMs?: number;
}

/** The longest that a rate limit is waited for, in seconds. */
const MAX_WAIT_S = 120;

/** For one request and its answer; waits between tries are not counted. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Answers that another try does not change; 409 is said of refs that moved and of empty repositories. */
const FINAL_STATUSES = [400, 401, 403, 404, 405, 409, 410, 413, 422, 429, 451];

/**
 * Reads, and writes that can be sent twice, are tried four times on outages and broken connections. A rate limit is waited
 * for when that takes two minutes at most, and not more than twice.
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
      // GitHub asks for a second between writes where there are many; a publication makes a dozen.
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
  // The next page of a list is at the address that an answer names: the token goes nowhere but to the API.
  const { origin } = new URL(apiUrl);
  octokit.hook.before('request', (request) => {
    const to = new URL(request.url, apiUrl).origin;
    if (to === origin) return;
    throw new RequestError(`the answer goes on at ${to}, which is not the API`, 500, {
      request: { ...request, headers: {} },
    });
  });

  /** What the promised data comes to: refusals and outages are values. */
  const answered = async <T>(
    route: string,
    schema: z.ZodType<T>,
    data: Promise<unknown>,
  ): Promise<GitHubAnswer<T>> => {
    try {
      const parsed = schema.safeParse(await orAborted(signal, data));
      return parsed.success
        ? { status: 'ok', data: parsed.data }
        : { status: 'refused', refusal: strangeAnswer({ route }, parsed.error.issues[0]) };
    } catch (error) {
      if (signal.aborted) return { status: 'refused', refusal: noAnswer({ route }, 'it was interrupted') };
      if (!(error instanceof RequestError)) throw error;
      return { status: 'refused', refusal: refusalOf({ route }, error) };
    }
  };

  return {
    ask<T>({ route, parameters, schema, isRepeatable = isRead(route) }: GitHubRequest<T>) {
      const asked = octokit.request(route, {
        ...parameters,
        headers: HEADERS,
        // A number here would hold for every refusal, also a final one.
        request: isRepeatable ? {} : { retries: 0 },
      });
      return answered(
        route,
        schema,
        asked.then(({ data }) => data),
      );
    },

    list<T>({ route, parameters, entry }: GitHubList<T>) {
      const pages = octokit.paginate.iterator(route, { ...parameters, per_page: PAGE, headers: HEADERS });
      return answered(route, z.array(entry), entriesOf(pages));
    },

    async query<T>({ query, variables, schema }: GitHubQuery<T>): Promise<GitHubAnswer<T>> {
      // The plugins take a lost connection for an answer here.
      const asked = { route: 'POST /graphql' };
      const url = apiUrl.replace(/\/api\/v3$/, '/api');
      try {
        const { data } = await new Octokit(access).request(`POST ${url}/graphql`, { query, variables });
        const parsed = z.object({ data: schema }).safeParse(data);
        if (parsed.success) return { status: 'ok', data: parsed.data.data };
        const errors = GraphQLErrors.safeParse(data);
        const refusal = strangeAnswer(asked, parsed.error.issues[0]);
        const [first] = errors.success ? errors.data.errors : [];
        return {
          status: 'refused',
          refusal: first === undefined ? refusal : { ...refusal, status: 403, message: first.message },
        };
      } catch (error) {
        if (signal.aborted) return { status: 'refused', refusal: noAnswer(asked, 'it was interrupted') };
        if (!(error instanceof RequestError)) throw error;
        return { status: 'refused', refusal: refusalOf(asked, error) };
      }
    },
  };
}

const HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

const PAGE = 100;

/** Entries beyond this are not looked at. */
const MAX_PAGES = 30;

/** What GraphQL refuses comes with status 200. */
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

/** Each try has its own deadline, which covers the body of the answer too. */
function fetchInTime(ask: typeof fetch, signal: AbortSignal): typeof fetch {
  return (url, init) =>
    ask(url, { ...init, signal: AbortSignal.any([signal, timeoutSignal(REQUEST_TIMEOUT_MS)]) });
}

/** The libraries cannot be called back from a wait for a rate limit. */
async function orAborted<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  // Nobody waits for it any longer.
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
  // Without an answer the library says 500.
  if (!response) return noAnswer({ route }, error.message);
  const header = (name: string) => {
    const value = (response.headers as Record<string, unknown>)[name];
    return value === undefined ? null : String(value);
  };
  return {
    route,
    status: error.status,
    message: error.message,
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
