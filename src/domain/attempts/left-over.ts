/** What the attempt that was chosen may still spend, where only its share of the caps has stopped it. */

import { totalTokens } from '../conversation/conversation.ts';
import type { Limits, StopReason } from '../run/limits.ts';
import type { Attempts } from './attempts.ts';

/** Those of its limits that the attempts share. */
export type SharedCaps = Pick<Limits, 'maxCostUsd' | 'maxTotalTokens'>;

/**
 * Its caps together with what the others have not spent of `caps`, those of the whole run. Null where it stopped for another
 * reason, and where its next request does not fit into that either.
 */
export function withLeftOver(
  caps: SharedCaps,
  { list, chosen }: Pick<Attempts, 'list' | 'chosen'>,
  stop: StopReason | null,
): SharedCaps | null {
  if (stop?.why !== 'limit' || (stop.limit !== 'tokens' && stop.limit !== 'cost_usd')) return null;
  const others = list.filter(({ number }) => number !== chosen);
  const cost = others.reduce((sum, { costUsd }) => sum + (costUsd === 'unknown' ? Number.NaN : costUsd), 0);
  const tokens = others.reduce((sum, one) => sum + totalTokens(one.tokens), 0);
  // Of what cannot be reckoned nothing is left over.
  if (caps.maxCostUsd !== null && Number.isNaN(cost)) return null;
  const left: SharedCaps = {
    maxCostUsd: caps.maxCostUsd === null ? null : caps.maxCostUsd - cost,
    maxTotalTokens: caps.maxTotalTokens === null ? null : caps.maxTotalTokens - tokens,
  };
  const cap = stop.limit === 'tokens' ? left.maxTotalTokens : left.maxCostUsd;
  return cap !== null && cap > stop.value && cap - stop.used >= (stop.needed ?? 0) ? left : null;
}
