/** The model that takes over if the first one refuses or cannot be reached: once per run, in a separate conversation. */

import * as z from 'zod';
import { addUsage, noUsage, totalTokens, Usage } from './conversation/conversation.ts';
import type { StopReason } from './run/limits.ts';
import { Price } from './run/pricing.ts';

/** Which model takes over, recorded when the run starts. */
export const FallbackModel = z.strictObject({
  provider: z.string(),
  model: z.string(),
  /** Its price where the built-in table does not have it; null leaves it to that. */
  price: Price.nullable(),
  /** Tokens from which on its conversation is compacted; absent where that does not change with the model. */
  compactAt: z.int().positive().exactOptional(),
});
export type FallbackModel = z.infer<typeof FallbackModel>;

/** The event that puts another model in the place of the first one. */
export const ModelReplaced = z.strictObject({
  type: z.literal('model.replaced'),
  /** `refusal`: the first model declined; `outage`: it could not be reached, whatever the patience. */
  why: z.enum(['refusal', 'outage']),
  /** What it said, or what happened. */
  reason: z.string(),
  to: FallbackModel,
  /** The text that the new model sees below the task. */
  text: z.string().min(1),
});
export type ModelReplaced = z.infer<typeof ModelReplaced>;

/** Failures on the provider's side, and not with the request, the key or the money. */
const OUTAGES: readonly string[] = ['outage', 'rate_limit', 'stream'];

/** Why another model should continue instead of ending the run; null if it would end the same way. */
export function whyReplace(stop: StopReason): Pick<ModelReplaced, 'why' | 'reason'> | null {
  if (stop.why === 'blocked' && stop.by === 'refusal') return { why: 'refusal', reason: stop.reason };
  if (stop.why === 'provider' && OUTAGES.includes(stop.kind)) return { why: 'outage', reason: stop.message };
  return null;
}

/** What one of the models of a run has done, and what that came to. */
export const ModelUse = z.strictObject({
  provider: z.string(),
  model: z.string(),
  turns: z.int().nonnegative(),
  tokens: Usage,
  costUsd: z.union([z.number(), z.literal('unknown')]),
  replaced: z
    .strictObject({ why: ModelReplaced.shape.why, reason: z.string() })
    .nullable()
    .describe('Why another model went on; null for the last one'),
  role: z.enum(['work', 'review']).describe('What it was asked for'),
});
export type ModelUse = z.infer<typeof ModelUse>;

/** Before its first answer. */
export function unused(
  { provider, model }: Pick<ModelUse, 'provider' | 'model'>,
  role: ModelUse['role'] = 'work',
): ModelUse {
  return { provider, model, turns: 0, tokens: noUsage, costUsd: 0, replaced: null, role };
}

/** The uses after the last of the models has spent more. `costUsd` null is not known. */
export function withUse(
  uses: readonly ModelUse[],
  { turns, tokens, costUsd }: { turns: number; tokens: Usage; costUsd: number | null },
): readonly ModelUse[] {
  const last = uses.at(-1);
  if (last === undefined || (turns === 0 && totalTokens(tokens) === 0)) return uses;
  return [...uses.slice(0, -1), withMoreUse(last, { turns, tokens, costUsd })];
}

/** The sum of two uses. `costUsd` is null if unknown. */
export function withMoreUse(
  use: ModelUse,
  { turns, tokens, costUsd }: { turns: number; tokens: Usage; costUsd: number | null },
): ModelUse {
  const sum = costUsd === null || use.costUsd === 'unknown' ? 'unknown' : use.costUsd + costUsd;
  return { ...use, turns: use.turns + turns, tokens: addUsage(use.tokens, tokens), costUsd: sum };
}

/** The uses after another model has taken over. */
export function withReplacement(
  uses: readonly ModelUse[],
  { why, reason, to }: ModelReplaced,
): readonly ModelUse[] {
  return [...uses.map((use) => ({ ...use, replaced: use.replaced ?? { why, reason } })), unused(to)];
}
