/** What asking the model costs besides its answers: attempts that failed, and answers that were cut off. */

import * as z from 'zod';
import { Usage } from '../conversation/conversation.ts';
import { ProviderFailureKind } from '../run/limits.ts';

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
