/** The caps of a run on tokens and money. */

import * as z from 'zod';
import { Usage } from '../conversation/conversation.ts';
import { ProviderFailureKind } from '../run/limits.ts';

/** A cap that the next request does not fit into, in tokens or USD; `needed` is what that could have come to. */
export const ReachedCap = z.strictObject({
  limit: z.enum(['tokens', 'cost_usd']),
  value: z.number(),
  used: z.number(),
  needed: z.number(),
});
export type ReachedCap = z.infer<typeof ReachedCap>;

/** A run at a cap: the model has been told that its next answer is the last one, and has answered or not. */
export interface LastTurn {
  readonly cap: ReachedCap;
  readonly isAnswered: boolean;
}

/**
 * Tokens of an answer that never came to its end; they are billed too. `estimated`: the provider had not reported all of them, and
 * the rest is estimated from the bytes that had arrived.
 */
export const SpentTokens = z.strictObject({ usage: Usage, estimated: z.boolean() });
export type SpentTokens = z.infer<typeof SpentTokens>;

/** An attempt that failed, and the wait before the next one. */
export const Retry = z.strictObject({
  /** Number of the attempt that follows: 2 after the first failure. */
  attempt: z.int().min(2),
  kind: ProviderFailureKind,
  /** HTTP status of the refusal; null when there was none, such as for a lost connection. */
  status: z.int().nullable(),
  /** What happened, in one or two sentences. */
  cause: z.string(),
  waitMs: z.number().nonnegative(),
  /** Left out when the failed attempt had reported nothing. */
  spent: SpentTokens.exactOptional(),
});
export type Retry = z.infer<typeof Retry>;

/**
 * Bytes of UTF-8 counted as one token. English and code have three to four, so this is a safe value for both. Denser text exists
 * (random letters, rare scripts), but no token has less than one byte, so the estimate is never too low by more than half of the
 * bytes.
 */
export const BYTES_PER_TOKEN = 2;

/** Tokens that so many bytes of text are reckoned with. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
