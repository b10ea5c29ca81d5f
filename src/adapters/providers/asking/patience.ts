/** How long a provider keeps trying: the program's only retry layer, the same for every API. */

import { setTimeout as delay } from 'node:timers/promises';
import type { SpentTokens } from '../../../domain/run/budget.ts';
import { DEFAULT_OUTAGE_WAIT_MS, DEFAULT_RATE_LIMIT_WAIT_MS } from '../../../domain/run/model-settings.ts';
import type { Redact } from '../../../domain/secrets/redact.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { formatNumber } from '../../../domain/text/words.ts';
import type { Clock, TurnRequest, TurnResult } from '../../../ports.ts';
import type { AttemptFailure, RetryClass } from './failures.ts';
import type { AttemptResult } from './stream.ts';

/** How long to wait out failures, and with which clock. */
export interface Patience {
  /** How long to wait out a rate limit; default 310 s, which is 5 retries. */
  readonly rateLimitWaitMs?: number;
  /** How long to wait out an outage or a lost connection; default 300 s. */
  readonly outageWaitMs?: number;
  readonly clock?: Clock;
  /** Resolves after `ms`, or at once when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** Who is asked. */
export interface AskedModel {
  readonly patience: Patience;
  /** For text from the server, which may repeat the key. */
  readonly redact: Redact;
  /** Model and address, as shown to people. */
  readonly where: string;
  /** One request for at most this many tokens, without any retry. */
  attempt(maxTokens: number): Promise<AttemptResult>;
}

/** Retries until there is an answer, a permanent failure, or no more patience or room, or until the signal aborts. */
export async function askPatiently(asked: AskedModel, request: TurnRequest): Promise<TurnResult> {
  const { redact, patience } = asked;
  const { clock = Date.now, sleep = abortableSleep, random = Math.random } = patience;
  const startedAt = clock();
  const policies = policiesOf(patience);
  const failures: FailureAt[] = [];
  const spent: SpentTokens[] = [];
  let maxTokens = request.answerTokens(spent);
  while (!request.signal.aborted && maxTokens !== null) {
    const result = await asked.attempt(maxTokens);
    if (result.status === 'ok')
      return { status: 'ok', turn: { ...result.answer, durationMs: clock() - startedAt } };
    const used = result.spent === undefined ? {} : { spent: result.spent };
    if (result.status === 'interrupted')
      return { status: 'interrupted', ...(used.spent && { spent: atMost(used.spent, maxTokens) }) };
    const { failure } = result;
    failures.push({ failure, at: clock() });
    const next = nextAttempt(failures, policies, random);
    if (!('waitMs' in next)) {
      const message = redact(describe(asked.where, failures, result.requestId, next.comeBackAt, policies));
      return { status: 'failed', kind: failure.kind, message, ...used };
    }
    if (result.spent !== undefined) spent.push(result.spent);
    maxTokens = request.answerTokens(spent);
    if (maxTokens === null) return { status: 'interrupted', ...used };
    const { kind, status } = failure;
    const retry = { attempt: failures.length + 1, kind, status, cause: redact(failure.message) };
    request.onProgress({ type: 'retry', retry: { ...retry, waitMs: next.waitMs, ...used } });
    await sleep(next.waitMs, request.signal);
  }
  return { status: 'interrupted' };
}

/** For an answer that we gave up: its model may have thought or written more than has arrived. */
function atMost({ usage, estimated }: SpentTokens, maxTokens: number): SpentTokens {
  return { usage: estimated ? { ...usage, output: maxTokens } : usage, estimated };
}

/** Waits double from `firstWaitMs`. */
interface RetryPolicy {
  readonly firstWaitMs: number;
  /** Our own waits are never longer; one that the server requests may be. */
  readonly longestWaitMs: number;
  /** From the first failure of this kind to the last attempt. */
  readonly patienceMs: number;
  /** Number of failures of this kind after which no attempt follows. */
  readonly maxFailures: number;
  readonly flag: string;
}

type RetryPolicies = Readonly<Record<Exclude<RetryClass, 'never'>, RetryPolicy>>;

function policiesOf({
  rateLimitWaitMs = DEFAULT_RATE_LIMIT_WAIT_MS,
  outageWaitMs = DEFAULT_OUTAGE_WAIT_MS,
}: Patience): RetryPolicies {
  const [longestWaitMs, maxFailures] = [30_000, Number.POSITIVE_INFINITY];
  const outage = {
    ...{ firstWaitMs: 500, longestWaitMs, maxFailures },
    patienceMs: outageWaitMs,
    flag: '--outage-wait',
  };
  return {
    rate_limit: {
      ...{ firstWaitMs: 10_000, longestWaitMs: Number.POSITIVE_INFINITY, maxFailures },
      patienceMs: rateLimitWaitMs,
      flag: '--rate-limit-wait',
    },
    outage,
    broken: { ...outage, maxFailures: 5 },
    // With the last attempt's own time, which may be ten seconds, a wrong address ends the run within 30.
    unreachable: { ...outage, patienceMs: Math.min(outageWaitMs, 10_000) },
  };
}

/** `at` is when the attempt failed, in Unix milliseconds. */
interface FailureAt {
  readonly failure: AttemptFailure;
  readonly at: number;
}

/**
 * What follows the last of `failures`. Each kind of failure has its own patience, and the last wait is cut so that
 * the last attempt is made when it ends. A wait that the server requests is never cut short: if it is too long, there
 * are no more attempts, and `comeBackAt` is its end.
 */
function nextAttempt(
  failures: readonly FailureAt[],
  policies: RetryPolicies,
  random: () => number,
): { waitMs: number } | { comeBackAt: number | null } {
  const last = failures.at(-1);
  if (last === undefined || last.failure.retry === 'never') return { comeBackAt: null };
  const kind = last.failure.retry;
  const { firstWaitMs, longestWaitMs, patienceMs, maxFailures } = policies[kind];
  const alike = failures.filter(({ failure }) => failure.retry === kind);
  const { retryAfterMs } = last.failure;
  const leftMs = patienceMs - (last.at - (alike[0]?.at ?? last.at));
  if (retryAfterMs !== null && retryAfterMs > leftMs) return { comeBackAt: last.at + retryAfterMs };
  if (leftMs <= 0 || alike.length >= maxFailures) return { comeBackAt: null };
  const backOffMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (alike.length - 1));
  // Even if a server keeps requesting no wait at all, there is a pause between attempts.
  if (retryAfterMs !== null) return { waitMs: Math.max(retryAfterMs, Math.round(backOffMs / 16)) };
  // Up to a tenth is random, so that many jobs do not retry at the same moment.
  return { waitMs: Math.min(leftMs, Math.round(backOffMs * (1 + random() / 10))) };
}

/** One or more sentences: what happened, when to come back, where, and after how many attempts. */
function describe(
  where: string,
  failures: readonly FailureAt[],
  requestId: string | null,
  comeBackAt: number | null,
  policies: RetryPolicies,
): string {
  const [first, last] = [failures[0], failures.at(-1)];
  if (first === undefined || last === undefined) return where;
  const { message, retry, retryAfterMs } = last.failure;
  const seconds = (ms: number) => `${formatNumber(Math.round(ms / 1_000))} s`;
  const id = requestId === null ? '' : `, request ${oneLine(requestId, 100)}`;
  const many = failures.length === 1 ? '' : `, ${failures.length} attempts in ${seconds(last.at - first.at)}`;
  const details = `(${where}${id}${many})`;
  if (comeBackAt === null || retry === 'never') return `${message} ${details}`;
  const { flag, patienceMs } = policies[retry];
  // The latest time that a Date can represent; a server may name a later one.
  const date = new Date(Math.min(Math.ceil(comeBackAt / 1_000) * 1_000, 8.64e15));
  const time = `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return `${message} The endpoint requests a wait of ${seconds(retryAfterMs ?? 0)}, and ${flag} is ${seconds(patienceMs)}: come back after ${time}. ${details}`;
}

async function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
