/** What each model of a run has done, and what it came to. */

import * as z from 'zod';
import { addUsage, noUsage, totalTokens, Usage } from '../conversation/conversation.ts';
import { ModelReplaced } from './fallback.ts';

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
