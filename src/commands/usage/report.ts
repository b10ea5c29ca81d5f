/** What `patchsmith usage` prints, of runs and of an organisation. */

import { totalTokens } from '../../domain/conversation/conversation.ts';
import {
  SPENDING_GROUPS,
  type SpendingGroup,
  type SpendingSum,
  type SpentEntry,
  sumOf,
  sumsBy,
} from '../../domain/runs.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import { columns } from '../../domain/text/terminal.ts';
import { formatNumber } from '../../domain/text/words.ts';

/** The sums asked for: by one thing, or with null by all that the spending has. */
export function groupsOf(
  by: SpendingGroup | null,
  among: readonly SpendingGroup[] = SPENDING_GROUPS,
): readonly SpendingGroup[] {
  return by === null ? among : [by];
}

/** The part of the JSON document that both have. `counted` is what the entries are, such as runs; null to leave that out. */
export function spendingJson(
  spending: readonly SpentEntry[],
  { groups, counted }: { groups: readonly SpendingGroup[]; counted: string | null },
) {
  const json = ({ entries, ...sum }: SpendingSum) => ({
    ...(counted === null ? {} : { [counted]: entries }),
    ...sum,
  });
  return {
    total: json(sumOf(spending)),
    by: Object.fromEntries(groups.map((group) => [group, sumsBy(group, spending).map(json)])),
  };
}

/** Longest text of a column. */
const WIDEST = [48, 10, 24, 20, 8, 16];

/** A table for each of the groups. */
export function spendingTables(
  spending: readonly SpentEntry[],
  { groups, counted, redact }: { groups: readonly SpendingGroup[]; counted: string | null; redact: Redact },
): string {
  if (spending.length === 0) return '';
  const head = [counted?.toUpperCase() ?? [], 'TOKENS', 'OUTPUT', 'CACHED', 'COST'].flat();
  const widest = counted === null ? WIDEST.filter((_, at) => at !== 1) : WIDEST;
  const cells = (sum: SpendingSum) => {
    const all = [
      formatNumber(sum.totalTokens),
      formatNumber(sum.tokens.output),
      cachedText(sum),
      costText(sum),
    ];
    return counted === null ? all : [formatNumber(sum.entries), ...all];
  };
  const tables = groups.map((group) =>
    columns(
      [
        [group.toUpperCase(), ...head],
        ...sumsBy(group, spending).map(({ name, ...sum }) => [name ?? '–', ...cells(sum)]),
      ],
      widest,
      redact,
    ),
  );
  return tables.join('\n');
}

/** `12,345 tokens, 81% of the prompts from the cache; ~$1.2300 (in part estimated); 2 runs of unknown cost are not in it`. */
export function totalText(spending: readonly SpentEntry[]): string {
  const sum = sumOf(spending);
  const cached = sum.cacheShare === null ? '' : `, ${cachedText(sum)} of the prompts from the cache`;
  const notes = [
    ...(sum.unknownCosts > 0 && sum.costUsd !== 'unknown' ? ['at least: the cost of some is unknown'] : []),
    ...(sum.estimated ? ['in part estimated'] : []),
  ];
  const cost = sum.costUsd === 'unknown' ? 'cost unknown' : usd(sum.costUsd);
  return `${formatNumber(totalTokens(sum.tokens))} tokens${cached}; ${cost}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
}

function cachedText({ cacheShare }: SpendingSum): string {
  return cacheShare === null ? '–' : `${Math.round(cacheShare * 100)}%`;
}

/** `> $1.20`: with more whose cost is unknown; `~$1.20`: in part estimated. */
function costText({ costUsd, unknownCosts, estimated }: SpendingSum): string {
  if (costUsd === 'unknown') return costUsd;
  return `${unknownCosts > 0 ? '> ' : ''}${estimated ? '~' : ''}${usd(costUsd)}`;
}

function usd(amount: number): string {
  return `${amount < 0 ? '-' : ''}$${Math.abs(amount).toFixed(4)}`;
}
