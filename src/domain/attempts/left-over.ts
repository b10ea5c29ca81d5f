/** The caps of a whole run with attempts, and what is left of them for the attempt that continues. */

import { totalTokens } from '../conversation/conversation.ts';
import type { Limits, StopReason } from '../run/limits.ts';
import type { Attempts } from './attempts.ts';

/** Those of its limits that the attempts share. */
export type SharedCaps = Pick<Limits, 'maxCostUsd' | 'maxTotalTokens'>;

type ChosenAttempt = Pick<Attempts, 'list' | 'chosen'>;

/** What the attempts that were not chosen have spent: US dollars, `NaN` where one is not known, and tokens. */
function spentByOthers({ list, chosen }: ChosenAttempt): { costUsd: number; tokens: number } {
  const others = list.filter(({ number }) => number !== chosen);
  return {
    costUsd: others.reduce((sum, { costUsd }) => sum + (costUsd === 'unknown' ? Number.NaN : costUsd), 0),
    tokens: others.reduce((sum, one) => sum + totalTokens(one.tokens), 0),
  };
}

/** What `caps` of the whole run leave to the chosen attempt, its own spending included. */
export function capsOfChosen(caps: SharedCaps, attempts: ChosenAttempt): SharedCaps {
  const others = spentByOthers(attempts);
  return {
    maxCostUsd: caps.maxCostUsd === null ? null : caps.maxCostUsd - others.costUsd,
    maxTotalTokens: caps.maxTotalTokens === null ? null : caps.maxTotalTokens - others.tokens,
  };
}

/**
 * Its caps together with what the others have not spent of `caps`, those of the whole run. Null where it stopped for another
 * reason, and where its next request does not fit into that either.
 */
export function withLeftOver(
  caps: SharedCaps,
  attempts: ChosenAttempt,
  stop: StopReason | null,
): SharedCaps | null {
  if (stop?.why !== 'limit' || (stop.limit !== 'tokens' && stop.limit !== 'cost_usd')) return null;
  const left = capsOfChosen(caps, attempts);
  // Of what cannot be reckoned nothing is left over.
  if (Number.isNaN(left.maxCostUsd)) return null;
  const cap = stop.limit === 'tokens' ? left.maxTotalTokens : left.maxCostUsd;
  return cap !== null && cap > stop.value && cap - stop.used >= (stop.needed ?? 0) ? left : null;
}

/** A cap as people set it, for the whole run, and how much of it the other attempts have spent. */
export function ofWholeRun<T extends object>(reached: T, attempts: ChosenAttempt | null): T {
  if (attempts === null || !('limit' in reached && 'value' in reached && 'used' in reached)) return reached;
  const { limit, value, used } = reached;
  if (typeof value !== 'number' || typeof used !== 'number') return reached;
  const others = spentByOthers(attempts);
  const more = limit === 'tokens' ? others.tokens : limit === 'cost_usd' ? others.costUsd : 0;
  // What cannot be reckoned is left out.
  return Number.isNaN(more) ? reached : { ...reached, value: exact(value + more), used: exact(used + more) };
}

/** Without what adding fractions leaves. */
function exact(sum: number): number {
  return Number(sum.toFixed(9));
}
