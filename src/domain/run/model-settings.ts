/** Settings that a run keeps to its end, recorded with it. None of them says where a key is sent. */

import * as z from 'zod';

/** How hard a model tries; the model defines what each level means. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Whether a run without changes counts as success. */
export const NO_CHANGES = ['ok', 'error'] as const;

/** How long a rate limit is waited out: five retries, after 10, 20, 40, 80 and 160 seconds. */
export const DEFAULT_RATE_LIMIT_WAIT_MS = 310_000;
/** How long an outage is waited out. */
export const DEFAULT_OUTAGE_WAIT_MS = 300_000;

/** What every request to the model contains besides the conversation, and how long to wait for its answer. */
export const ModelSettings = z.strictObject({
  effort: z.enum(EFFORTS).nullable(),
  /** Maximum tokens of one answer. */
  maxOutputTokens: z.int().positive(),
  idleTimeoutMs: z.int().positive(),
  /** How long a rate limit is waited out, from the first refusal to the last attempt. */
  rateLimitWaitMs: z.int().positive(),
  /** The same for an outage. */
  outageWaitMs: z.int().positive(),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

/**
 * Where verify commands run. `worktree`: where the model worked. `checkout`: in a fresh checkout of the base with the patch,
 * after the plan's setup commands.
 */
export const VERIFY_PLACES = ['worktree', 'checkout'] as const;
/** Where verify commands run. */
export type VerifyIn = (typeof VERIFY_PLACES)[number];

/** How a run ends if its requested review failed, or if blocking findings could not be sent back. */
export const IF_NOT_REVIEWED = ['report', 'error'] as const;

/** Values of `--prove-tests`. */
export const PROVE_TESTS = ['auto', 'off'] as const;
/** Values of `--if-not-proven`. */
export const IF_NOT_PROVEN = ['report', 'error'] as const;
