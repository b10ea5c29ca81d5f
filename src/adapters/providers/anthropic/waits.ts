/** How long to wait before the next attempt: pure, so that a test needs no clock. */

import type { AttemptFailure } from './failures.ts';

/** Waits double from `firstWaitMs`. At most `attempts` requests are made for one turn, the first one included. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly firstWaitMs: number;
}

/** How to retry each class of failure. */
export interface RetryPolicies {
  readonly rate_limit: RetryPolicy;
  readonly outage: RetryPolicy;
  /** No single wait is longer, also when the server asks for it. */
  readonly maxWaitMs: number;
}

/**
 * Milliseconds to wait after the last of `failures`; null means give up. Attempts are counted over all kinds of
 * failures, so that a mixture does not multiply; waits grow with the failures of the same kind.
 */
export function waitBeforeNext(
  failures: readonly AttemptFailure[],
  policies: RetryPolicies,
  random: () => number,
): number | null {
  const last = failures.at(-1);
  if (!last || last.retry === 'never') return null;
  const policy = policies[last.retry];
  if (failures.length >= policy.attempts) return null;
  const alike = failures.filter((failure) => failure.retry === last.retry).length;
  // Up to a quarter is random, so that many jobs do not come back in step. What the server asked for is never cut short.
  const backOffMs = policy.firstWaitMs * 2 ** (alike - 1) * (1 - random() / 4);
  return Math.min(policies.maxWaitMs, Math.round(last.retryAfterMs ?? backOffMs));
}
