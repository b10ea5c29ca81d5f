/** How long to wait before the next attempt: pure, so that a test needs no clock. */

import type { AttemptFailure, RetryClass } from './failures.ts';

/** Waits double from `firstWaitMs`. */
export interface RetryPolicy {
  readonly firstWaitMs: number;
  /** Our own waits are never longer; one that the server requests may be. */
  readonly longestWaitMs: number;
  /** From the first failure of this kind to the last attempt. */
  readonly patienceMs: number;
  /** Number of failures of this kind after which no attempt follows; null means that only the patience counts. */
  readonly maxFailures: number | null;
}

/** How to retry each class of failure. */
export type RetryPolicies = Readonly<Record<Exclude<RetryClass, 'never'>, RetryPolicy>>;

/** `at` is when the attempt failed, in Unix milliseconds. */
export interface FailureAt {
  readonly failure: AttemptFailure;
  readonly at: number;
}

/** `comeBackAt`: the server requests a wait until this time, longer than the patience; null if it requests none. */
export type NextAttempt = { waitMs: number } | { comeBackAt: number | null };

/**
 * What follows the last of `failures`. Each kind of failure has its own patience, and the last wait is cut so that
 * the last attempt is made when it ends. A wait that the server requests is never cut short: if it is too long, there
 * are no more attempts.
 */
export function nextAttempt(
  failures: readonly FailureAt[],
  policies: RetryPolicies,
  random: () => number,
): NextAttempt {
  const last = failures.at(-1);
  if (last === undefined || last.failure.retry === 'never') return { comeBackAt: null };
  const kind = last.failure.retry;
  const { firstWaitMs, longestWaitMs, patienceMs, maxFailures } = policies[kind];
  const alike = failures.filter(({ failure }) => failure.retry === kind);
  const { retryAfterMs } = last.failure;
  const leftMs = patienceMs - (last.at - (alike[0]?.at ?? last.at));
  if (retryAfterMs !== null && retryAfterMs > leftMs) return { comeBackAt: last.at + retryAfterMs };
  if (leftMs <= 0 || (maxFailures !== null && alike.length >= maxFailures)) return { comeBackAt: null };
  const backOffMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (alike.length - 1));
  // Even if a server keeps requesting no wait at all, there is a pause between attempts.
  if (retryAfterMs !== null) return { waitMs: Math.max(retryAfterMs, Math.round(backOffMs / 16)) };
  // Up to a tenth is random, so that many jobs do not retry at the same moment.
  return { waitMs: Math.min(leftMs, Math.round(backOffMs * (1 + random() / 10))) };
}
