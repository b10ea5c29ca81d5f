/** Octokit, with its plugins for retries and rate limits, bound to one API. */

import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import Bottleneck from 'bottleneck/light.js';
import { timeoutSignal } from '../../../files/time-limit.ts';
import { MAX_WAIT_S } from './passing-refusals.ts';

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

/** It waits for what passes, and the token goes nowhere but to the API. */
export function openOctokit(access: GitHubAccess): Octokit {
  const { apiUrl, secondMs = 1_000 } = access;
  const octokit = new (Octokit.plugin(retry, throttling))({
    ...optionsOf(access),
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
  return octokit;
}

/** Without the plugins: asked for GraphQL, they mistake a lost connection for an answer. */
export function openPlainOctokit(access: GitHubAccess): Octokit {
  return new Octokit(optionsOf(access));
}

function optionsOf({ apiUrl, token, version, signal, fetch: ask = fetch }: GitHubAccess) {
  return {
    baseUrl: apiUrl,
    ...(token === null ? {} : { auth: token }),
    userAgent: `patchsmith/${version}`,
    request: { fetch: fetchInTime(ask, signal) },
    log: SILENT,
  };
}

function isWorthWaiting(retryAfter: number, _options: object, _octokit: unknown, retries: number): boolean {
  return retryAfter <= MAX_WAIT_S && retries < 2;
}

/** Each try has its own deadline, which also covers the body of the answer. */
function fetchInTime(ask: typeof fetch, signal: AbortSignal): typeof fetch {
  return (url, init) =>
    ask(url, { ...init, signal: AbortSignal.any([signal, timeoutSignal(REQUEST_TIMEOUT_MS)]) });
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
