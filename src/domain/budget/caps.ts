/** The caps of a run on tokens and money, and how near it has come to them. */

import * as z from 'zod';
import { formatNumber } from '../text/format-number.ts';
import { type Warning, warning } from '../warnings/warning.ts';

/** A cap that is nearly used up. Tokens or USD. */
export const NearCap = z.strictObject({
  limit: z.enum(['tokens', 'cost_usd']),
  value: z.number(),
  used: z.number(),
});
export type NearCap = z.infer<typeof NearCap>;

/** A cap that the next request does not fit into; `needed` is what that could have come to. */
export const ReachedCap = z.strictObject({ ...NearCap.shape, needed: z.number() });
export type ReachedCap = z.infer<typeof ReachedCap>;

/** A run at a cap: the model has been told that its next answer is the last one, and has answered or not. */
export interface LastTurn {
  readonly cap: ReachedCap;
  readonly isAnswered: boolean;
}

/** A sentence for people. */
export function nearCapWarning({ limit, value, used }: NearCap): Warning {
  const share = `${Math.floor((used / value) * 100)}% of`;
  const text =
    limit === 'tokens'
      ? `${share} --max-total-tokens used: ${formatNumber(used)} of ${formatNumber(value)} tokens.`
      : `${share} --max-cost-usd used: $${used.toFixed(4)} of $${value}.`;
  return warning('WARN_BUDGET_NEAR', text);
}
