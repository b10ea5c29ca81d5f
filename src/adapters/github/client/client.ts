/** GitHub's API as the port says it: answers are parsed, and refusals are values. Loaded only by the commands that need it. */

import { setTimeout as delay } from 'node:timers/promises';
import { RequestError } from '@octokit/request-error';
import * as z from 'zod';
import { withoutHtml } from '../../../domain/errors/innermost-message.ts';
import type {
  GitHub,
  GitHubAnswer,
  GitHubList,
  GitHubQuery,
  GitHubRefusal,
  GitHubRequest,
} from '../../../ports/github.ts';
import { type GitHubAccess, openOctokit, openPlainOctokit } from './octokit.ts';
import {
  askUntilSettled,
  isSecondaryLimit,
  retryAfterSeconds,
  type TimedAnswer,
} from './passing-refusals.ts';

/**
 * Reads, and writes that can be sent twice, are tried four times on outages and broken connections. A rate limit is waited
 * for if that takes at most two minutes, and at most twice. What GitHub has not heard of everywhere yet is waited for, at
 * most 15 seconds.
 */
export function openGitHub(access: GitHubAccess): GitHub {
  const octokit = openOctokit(access);
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
      return answered(access, { route, request, timeOf: unlessThrottled });
    },

    list<T>({ route, parameters, entry }: GitHubList<T>) {
      const request = async () => {
        const pages = octokit.paginate.iterator(route, { ...parameters, per_page: PAGE, headers: HEADERS });
        return parsedAs(route, z.array(entry), await entriesOf(pages));
      };
      return answered(access, { route, request, timeOf: unlessThrottled });
    },

    query<T>({ query, variables, schema }: GitHubQuery<T>) {
      const route = 'POST /graphql';
      const url = access.apiUrl.replace(/\/api\/v3$/, '/api');
      const request = async (): Promise<GitHubAnswer<T>> => {
        const asked = `POST ${url}/graphql`;
        const response = await openPlainOctokit(access).request(asked, { query, variables });
        const parsed = parsedAs(route, z.object({ data: schema }), response.data);
        if (parsed.status === 'ok') return { status: 'ok', data: parsed.data.data };
        const errors = GraphQLErrors.safeParse(response.data);
        const [first] = errors.success ? errors.data.errors : [];
        if (first === undefined) return parsed;
        const request = { method: 'POST' as const, url: response.url, headers: {} };
        throw new RequestError(first.message, statusOf(first), { request, response });
      };
      return answered(access, {
        route,
        request: () => throughOutages(access, request),
        timeOf: pauseAskedFor,
      });
    },
  };
}

/** GraphQL has no plugin that tries again. All that is asked of it can be asked twice. */
async function throughOutages<T>(
  { signal, secondMs = 1_000 }: GitHubAccess,
  request: () => Promise<T>,
): Promise<T> {
  for (const seconds of [1, 4, 9]) {
    try {
      return await request();
    } catch (error) {
      // Without an answer the library reports 500.
      if (signal.aborted || !(error instanceof RequestError) || error.status < 500) throw error;
    }
    await delay(seconds * secondMs, undefined, { signal });
  }
  return request();
}

interface Asking<T> {
  readonly route: string;
  readonly request: () => Promise<GitHubAnswer<T>>;
  /** When what refused may be asked again. */
  readonly timeOf: (response: ErrorResponse) => TimedAnswer<T>['retryAfterS'];
}

/** Refusals and outages become values; those that pass are waited for. */
function answered<T>(
  { signal, secondMs = 1_000 }: GitHubAccess,
  { route, request, timeOf }: Asking<T>,
): Promise<GitHubAnswer<T>> {
  return askUntilSettled(
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
}

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

const HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

const PAGE = 100;

/** Further pages are not read. */
const MAX_PAGES = 30;

/** GraphQL's refusals have status 200. */
const GraphQLErrors = z.object({
  errors: z.array(z.object({ message: z.string(), type: z.string().optional() })),
});

/** The status that REST would have given it. */
function statusOf({ message, type }: z.infer<typeof GraphQLErrors>['errors'][number]): number {
  if (type === 'RATE_LIMITED') return 429;
  return /^Something went wrong while executing your query/.test(message) ? 502 : 403;
}

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

/** What a refusal came with. */
type ErrorResponse = NonNullable<RequestError['response']>;

/** The seconds after which it may be asked again, as it says itself; null where it does not. */
function pauseAskedFor({ headers }: ErrorResponse): number | null {
  const asked = headers['retry-after'];
  if (asked !== undefined) return retryAfterSeconds(String(asked), new Date());
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] !== '0' || !(reset > 0)) return null;
  return Math.max(0, Math.ceil(reset - Date.now() / 1_000)) + 1;
}

/** The plugin has already waited for the limits that it recognises, by header or by wording, before their refusal gets here. */
function unlessThrottled(response: ErrorResponse): number | null | 'spent' {
  const { headers, data } = response;
  const said = z.object({ message: z.string() }).safeParse(data);
  const isKnown =
    headers['x-ratelimit-remaining'] === '0' || (said.success && isSecondaryLimit(said.data.message));
  return isKnown ? 'spent' : pauseAskedFor(response);
}

/** The refusal, or that there was no answer. */
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

/** Nothing came back, or nothing that could be read. */
function noAnswer({ route }: Pick<GitHubRequest<unknown>, 'route'>, why: string): GitHubRefusal {
  return { route, status: null, message: why, permission: null, requestId: null };
}

/** An answer that the schema does not know. */
function strangeAnswer(
  { route }: Pick<GitHubRequest<unknown>, 'route'>,
  issue: { path: PropertyKey[]; message: string } | undefined,
): GitHubRefusal {
  const where = issue?.path.map(String).join('.') || 'the answer';
  return noAnswer({ route }, `the answer does not match the API's schema (${where}: ${issue?.message})`);
}
