/**
 * GitHub's API as the port describes it: answers are parsed, and what passes is waited for. Loaded only by
 * the commands that need it.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { request } from '@octokit/request';
import { RequestError } from '@octokit/request-error';
import * as z from 'zod';
import { withoutHtml } from '../../domain/errors/innermost-message.ts';
import { formatNumber } from '../../domain/text/words.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import type { GitHub, GitHubRefusal } from '../../ports/github.ts';
import { GitHubRefused } from './request.ts';

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

/**
 * Reads, and writes that can be sent twice, are tried four times on outages and broken connections. A rate limit is waited
 * for if that takes at most two minutes, and at most twice. What GitHub has not heard of everywhere yet is waited for, at
 * most 15 seconds.
 */
export function openGitHub(access: GitHubAccess): GitHub {
  const { apiUrl, token, version } = access;
  const ask = request.defaults({
    baseUrl: apiUrl,
    headers: {
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': `patchsmith/${version} ${request.endpoint.DEFAULTS.headers['user-agent']}`,
      ...(token === null ? {} : { authorization: `token ${token}` }),
    },
    request: { fetch: fetchInTime(access) },
  });
  return {
    async ask({ route, parameters, schema = z.any(), isRepeatable = !route.startsWith('POST ') }) {
      const { data } = await settled(access, { route, isRepeatable }, () => ask(route, parameters));
      return parsed(route, schema, data);
    },

    async list({ route, parameters, entry }) {
      const entries: unknown[] = [];
      let asked: [string, Record<string, unknown>] = [route, { ...parameters, per_page: 100 }];
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const { data, headers } = await settled(access, { route, isRepeatable: true }, () => ask(...asked));
        entries.push(...entriesOf(data));
        const next = /<([^<>]+)>;\s*rel="next"/.exec(headers.link ?? '')?.[1];
        if (next === undefined) return parsed(route, z.array(entry), entries);
        // The address comes from an answer: the token must only go to the API.
        const { origin } = new URL(next, apiUrl);
        if (origin !== new URL(apiUrl).origin)
          throw noAnswer(route, `the answer continues at ${origin}, which is not the API`);
        asked = [`GET ${next}`, {}];
      }
      // A part of it would be a wrong answer.
      throw noAnswer(route, `the list has more than ${formatNumber(100 * MAX_PAGES)} entries`);
    },

    async query({ query, variables, schema }) {
      const route = 'POST /graphql';
      const baseUrl = apiUrl.replace(/\/api\/v3$/, '/api');
      const Answer = z.object({ data: schema });
      // All that is asked of it can be asked twice.
      const { data } = await settled(access, { route, isRepeatable: true }, async () => {
        const response = await ask(route, { baseUrl, query, variables });
        const [first] = GraphQLErrors.safeParse(response.data).data?.errors ?? [];
        if (first === undefined || Answer.safeParse(response.data).success) return response;
        const asked = { method: 'POST' as const, url: response.url, headers: {} };
        throw new RequestError(first.message, statusOf(first), { request: asked, response });
      });
      return parsed(route, Answer, data).data;
    },
  };
}

/** A longer list is refused. */
const MAX_PAGES = 100;

/** Some lists are in an object, beside their count. */
function entriesOf(data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data;
  return Object.values(z.record(z.string(), z.unknown()).catch({}).parse(data)).find(Array.isArray) ?? [data];
}

/** GraphQL's refusals have status 200. */
const GraphQLErrors = z.object({
  errors: z.array(z.object({ message: z.string(), type: z.string().optional() })),
});

/** The status that REST would have given it. */
function statusOf({ message, type }: z.infer<typeof GraphQLErrors>['errors'][number]): number {
  if (type === 'RATE_LIMITED') return 429;
  return /^Something went wrong while executing your query/.test(message) ? 502 : 403;
}

/** For one request and its answer, not counting waits between tries. */
const REQUEST_TIMEOUT_MS = 60_000;

function fetchInTime({ fetch: ask = fetch, signal }: GitHubAccess): typeof fetch {
  return (url, init) =>
    ask(url, { ...init, signal: AbortSignal.any([signal, timeoutSignal(REQUEST_TIMEOUT_MS)]) });
}

function parsed<T>(route: string, schema: z.ZodType<T>, data: unknown): T {
  const read = schema.safeParse(data);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.map(String).join('.') || 'the answer';
  throw noAnswer(route, `the answer does not match the API's schema (${where}: ${issue?.message})`);
}

/** Nothing came back, or nothing that could be read. */
function noAnswer(route: string, message: string): GitHubRefused {
  return new GitHubRefused({ route, status: null, message, permission: null, requestId: null });
}

/** A request, for the decision whether to send it again. */
interface RequestToSend {
  readonly route: string;
  readonly isRepeatable: boolean;
}

/** Asks again as long as the refusal is one that passes. */
async function settled<T>(
  { signal, secondMs = 1_000 }: GitHubAccess,
  asked: RequestToSend,
  ask: () => Promise<T>,
): Promise<T> {
  const tries = { unsettled: 0, limit: 0, outage: 0 };
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) throw noAnswer(asked.route, 'it was interrupted');
      if (!(error instanceof RequestError)) throw error;
      const refusal = refusalOf(asked.route, error);
      const passing = passingKind(asked, refusal, error.response);
      const seconds = passing?.pauses[tries[passing.kind]++];
      if (seconds === undefined) throw new GitHubRefused(refusal);
      await delay(seconds * secondMs, undefined, { signal }).catch(() => {});
    }
  }
}

type ErrorResponse = RequestError['response'];

function refusalOf(route: string, { status, message, response }: RequestError): GitHubRefusal {
  const header = (name: string) => {
    const value = (response?.headers as Record<string, unknown> | undefined)?.[name];
    return value === undefined ? null : String(value);
  };
  return {
    route,
    // Without an answer the library reports 500.
    status: response === undefined ? null : status,
    message: withoutHtml(message),
    permission: header('x-accepted-github-permissions'),
    requestId: header('x-github-request-id'),
  };
}

/**
 * A refusal that passes, and the seconds to wait before each further try. None of those but outages has carried anything out, so
 * that any write can be repeated after it.
 */
interface Passing {
  readonly kind: 'unsettled' | 'outage' | 'limit';
  readonly pauses: readonly number[];
}

/** Null when another try would not help. */
function passingKind(
  { isRepeatable }: RequestToSend,
  refusal: GitHubRefusal,
  response: ErrorResponse,
): Passing | null {
  const { route, status, message } = refusal;
  if (status === null || status >= 500) return isRepeatable ? { kind: 'outage', pauses: [1, 4, 9] } : null;
  if (UNSETTLED.some(([routes, words]) => routes.test(route) && words.test(message)))
    return { kind: 'unsettled', pauses: [1, 2, 4, 8] };
  const asked = response === undefined ? null : pauseAskedFor(response);
  const isLimit = asked !== null || /\bsecondary rate\b/i.test(message);
  if (status !== 429 && !(status === 403 && isLimit)) return null;
  const seconds = asked ?? UNSAID_LIMIT_S;
  return { kind: 'limit', pauses: seconds <= MAX_LIMIT_S ? [seconds, seconds] : [] };
}

/** About something that was made a moment ago and is not known on all of GitHub's servers yet, by GitHub's words for it. */
const UNSETTLED: readonly (readonly [RegExp, RegExp])[] = [
  [/^POST .*\/git\/commits$/, /Tree SHA does not exist|Parent SHA does not exist/],
  [/^(?!GET ).*\/git\/refs/, /Object does not exist|Reference update failed/],
  [/^POST .*\/pulls$/, /"field":"head","code":"invalid"|"code":"invalid","field":"head"/],
  [/^(?!GET )/, /Could not resolve to a node/],
];

/** The seconds after which it may be asked again, as it says itself; null where it does not. */
function pauseAskedFor({ headers }: NonNullable<ErrorResponse>): number | null {
  const asked = headers['retry-after'];
  const secondsUntil = (ms: number) => Math.max(0, Math.ceil((ms - Date.now()) / 1_000));
  if (asked !== undefined) {
    const seconds = /^\d+$/.test(String(asked)) ? Number(asked) : secondsUntil(Date.parse(String(asked)));
    return Number.isNaN(seconds) ? null : seconds;
  }
  const reset = Number(headers['x-ratelimit-reset']);
  return headers['x-ratelimit-remaining'] === '0' && reset > 0 ? secondsUntil(reset * 1_000) + 1 : null;
}

/** GitHub's own advice where a rate limit does not say how long it lasts. */
const UNSAID_LIMIT_S = 60;

/** Longest wait for a rate limit. */
const MAX_LIMIT_S = 120;
