/** The model that takes over if the first one refuses or cannot be reached: once per run, in a separate conversation. */

import * as z from 'zod';
import type { StopReason } from '../run/limits.ts';
import { Price } from '../run/pricing.ts';

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
