/** Lists of runs: which of them are removed or kept, and what they have spent by model, plan and day. */

import { addUsage, noUsage, totalTokens, type Usage } from './conversation/conversation.ts';

/** A run as a list sees it. */
export interface RunSummary {
  readonly runId: string;
  readonly path: string;
  /** `elsewhere`: in a folder that `--run-dir` has named, which is never removed. */
  readonly place: 'default' | 'elsewhere';
  /** `died`: it claims to be running, but no process on this machine is working on it. `unreadable`: `problem` says why. */
  readonly status: 'running' | 'finished' | 'died' | 'unreadable';
  readonly outcome: string | null;
  readonly exitCode: number | null;
  /** Of a replay: the run that was played again; null for a run. */
  readonly replayOf: string | null;
  /** Unix time in milliseconds; null for an id that has no time. */
  readonly startedAt: number | null;
  /** When it was last written to, in Unix milliseconds. */
  readonly changedAt: number;
  /** The work tree; null for a run that found none, or cannot be read. */
  readonly root: string | null;
  readonly plan: string | null;
  readonly costUsd: number | 'unknown' | null;
  /** Its size on disk, or a lower bound if `isAtLeast`. */
  readonly bytes: number;
  readonly isAtLeast: boolean;
  readonly problem: string | null;
}

/** The runs to remove. */
export interface RetentionRules {
  /** Runs that were last written to so many milliseconds ago; null for none. */
  readonly olderThanMs: number | null;
  /** Bytes that all runs in the default places may take; beyond it, the oldest go. The newest run stays. */
  readonly maxTotalBytes: number;
  /** Runs that did not end with exit code 0 stay. */
  readonly keepFailed: boolean;
}

/**
 * The lock of a process in a container is not visible from outside. A run that has not been written to for this long is dead: a
 * run writes with each turn, and ends at its deadline.
 */
const SURELY_DEAD_MS = 24 * 3_600_000;

/** The oldest first. Only finished and dead runs in the default places are ever removed. */
export function runsToRemove(
  runs: readonly RunSummary[],
  { olderThanMs, maxTotalBytes, keepFailed }: RetentionRules,
  now: number,
): RunSummary[] {
  const own = runs.filter(({ place }) => place === 'default').sort((a, b) => (a.runId < b.runId ? -1 : 1));
  const mayGo = (run: RunSummary) => hasEnded(run, now) && !(keepFailed && run.exitCode !== 0);
  const isOld = (run: RunSummary) => olderThanMs !== null && now - run.changedAt > olderThanMs;
  const removed = new Set(own.filter((run) => mayGo(run) && isOld(run)));
  let total = own.reduce((sum, run) => sum + (removed.has(run) ? 0 : run.bytes), 0);
  for (const run of own.slice(0, -1)) {
    if (total <= maxTotalBytes) break;
    if (removed.has(run) || !mayGo(run)) continue;
    removed.add(run);
    total -= run.bytes;
  }
  return own.filter((run) => removed.has(run));
}

function hasEnded({ status, changedAt }: RunSummary, now: number): boolean {
  return status === 'finished' || (status === 'died' && now - changedAt > SURELY_DEAD_MS);
}

/** What one run has spent, or an organisation with one model on one day. */
export interface SpentEntry extends Readonly<Record<SpendingGroup, string | null>> {
  readonly tokens: Usage;
  readonly costUsd: number | 'unknown';
  /** Tokens and cost are in part an estimate. */
  readonly estimated: boolean;
  /** The spending of each of its models; `model` is the first of them. */
  readonly models?: readonly Pick<SpentEntry, 'model' | 'tokens' | 'costUsd'>[];
}

/** The sum of some spending. */
export interface SpendingSum {
  /** Number of entries. */
  readonly entries: number;
  readonly tokens: Usage;
  readonly totalTokens: number;
  /** Part of the prompts that was read from the cache, from 0 to 1; null without a prompt. */
  readonly cacheShare: number | null;
  /** The sum of the entries whose cost is known; unknown if there are none. */
  readonly costUsd: number | 'unknown';
  /** Number of entries whose cost is not known, and not in the sum. */
  readonly unknownCosts: number;
  readonly estimated: boolean;
}

/** The sum over one model, plan or day; the name is null for entries without one. */
export interface NamedSum extends SpendingSum {
  readonly name: string | null;
}

/** Nothing costs 0; an unknown cost is left out and counted. */
export function sumOf(spending: readonly SpentEntry[]): SpendingSum {
  const tokens = spending.reduce((sum, entry) => addUsage(sum, entry.tokens), noUsage);
  const costs = spending.flatMap(({ costUsd }) => (costUsd === 'unknown' ? [] : costUsd));
  const prompt = totalTokens(tokens) - tokens.output;
  return {
    entries: spending.length,
    tokens,
    totalTokens: totalTokens(tokens),
    cacheShare: prompt === 0 ? null : tokens.cacheRead / prompt,
    costUsd:
      costs.length === 0 && spending.length > 0
        ? 'unknown'
        : exact(costs.reduce((sum, cost) => sum + cost, 0)),
    unknownCosts: spending.length - costs.length,
    estimated: spending.some(({ estimated }) => estimated),
  };
}

/** Days in their order; models and plans by cost, the dearest first, those of unknown cost before all. */
export function sumsBy(group: SpendingGroup, spending: readonly SpentEntry[]): NamedSum[] {
  const groups = new Map<string | null, SpentEntry[]>();
  const entries = group === 'model' ? spending.flatMap(byModel) : spending;
  for (const entry of entries) {
    const others = groups.get(entry[group]);
    if (others === undefined) groups.set(entry[group], [entry]);
    else others.push(entry);
  }
  const sums = [...groups].map(([name, entries]) => ({ name, ...sumOf(entries) }));
  return sums.sort((a, b) => (group === 'day' ? 0 : rank(b) - rank(a)) || order(a.name ?? '', b.name ?? ''));
}

/** With one model, the run says it all. */
function byModel({ models = [], ...entry }: SpentEntry): SpentEntry[] {
  return models.length < 2
    ? [entry]
    : models.map(({ model, tokens, costUsd }) => ({ ...entry, model, tokens, costUsd }));
}

function rank({ costUsd }: SpendingSum): number {
  return costUsd === 'unknown' ? Number.MAX_VALUE : costUsd;
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Without the noise of adding up binary fractions; prices have fewer decimals. */
function exact(usd: number): number {
  return Number(usd.toFixed(10));
}

/** The day of a moment, in UTC; null for one that no date can stand for. */
export function dayOf(at: number | null): string | null {
  const date = new Date(at ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().slice(0, 10);
}

/** The values of `--by`. */
export const SPENDING_GROUPS = ['model', 'plan', 'day'] as const;

/** One of `SPENDING_GROUPS`. */
export type SpendingGroup = (typeof SPENDING_GROUPS)[number];
