/** Settings that a run keeps to its end, and that are recorded with it. Nothing here says where a key is sent. */

import * as z from 'zod';

/** How hard a model tries; what each means is the model's business. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Whether a run without changes is one that went well. */
export const NO_CHANGES = ['ok', 'error'] as const;

/** What every request to the model says besides the conversation, and how long its answer is waited for. */
export const ModelSettings = z.strictObject({
  effort: z.enum(EFFORTS).nullable(),
  /** Tokens of one answer. */
  maxOutputTokens: z.int().positive(),
  /** Summaries of the thinking are asked for. */
  showThinking: z.boolean(),
  idleTimeoutMs: z.int().positive(),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

/**
 * Where verify commands run. `worktree`: where the model worked. `checkout`: in a fresh checkout of the base with the patch,
 * after the plan's setup commands.
 */
export const VERIFY_PLACES = ['worktree', 'checkout'] as const;
/** Where verify commands run. */
export type VerifyIn = (typeof VERIFY_PLACES)[number];
