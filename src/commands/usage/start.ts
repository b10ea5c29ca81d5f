/** `patchsmith usage`: what past runs have spent, by model, plan and day, or what an organisation has. */

import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { providerNamed } from '../../adapters/providers/registry.ts';
import { startOfId } from '../../adapters/storage/run-directory.ts';
import { findRuns } from '../../adapters/storage/run-places.ts';
import { type RunSpending, readSpending } from '../../adapters/storage/run-spending.ts';
import { readApiKey } from '../../config/provider-keys.ts';
import { isPlainHttp } from '../../config/values/addresses.ts';
import { totalTokens } from '../../domain/conversation/conversation.ts';
import { done, providerError, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
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
import { formatNumber, pluralize } from '../../domain/text/words.ts';
import { type Warning, warning, warningText } from '../../domain/warnings/warning.ts';
import type { HostContext } from '../../host/context.ts';
import { printEither, type Work, working } from '../work.ts';

/** Of past runs, or of the whole organisation. */
export const startUsage = working(showSpending);

async function showSpending(work: Work, context: HostContext): Promise<RunOutcome> {
  const { since, by } = work.settings;
  const now = work.now();
  const from = since === null ? null : 'at' in since ? since.at : now - since.agoMs;
  if (from !== null && from > now) return usageError('ERR_INVALID_VALUE', '--since: lies in the future');
  const input = { ...work, from, by };
  return work.switches.has('organization') ? reportOrganization(context, input) : showUsage(input);
}

const DAY_MS = 24 * 3_600_000;
const DEFAULT_DAYS = 30;
const GROUPS = ['model', 'day'] as const;

/** Days are whole ones, in UTC, and the current day is one of them. */
async function reportOrganization(context: HostContext, input: UsageInput): Promise<RunOutcome> {
  const { from, by, redact, env, say, interrupt: signal, settings } = input;
  const { provider, baseUrl } = settings;
  const organization = providerNamed(provider)?.organization;
  if (by === 'plan') return usageError('ERR_NO_ORGANIZATION', NO_PLANS);
  if (organization === undefined)
    return usageError(
      'ERR_NO_ORGANIZATION',
      `--organization: ${provider} cannot say what an organisation has spent`,
    );
  const { keyVariable } = organization;
  const { key: apiKey, notes } = await readApiKey(context.env, context.cwd, [keyVariable]);
  if (apiKey === null) return noKey(keyVariable, notes);
  context.hide(apiKey);
  const plainHttp = baseUrl !== null && isPlainHttp(baseUrl);
  if (plainHttp)
    say(
      `warning: ${warning('WARN_PLAIN_HTTP', `The key goes to ${baseUrl} over plain http, where others on the way can read it (--allow-insecure-base-url).`)}`,
    );
  const today = startOfDay(context.now());
  const [first, to] = [startOfDay(from ?? today - (DEFAULT_DAYS - 1) * DAY_MS), today + DAY_MS];
  const fetch = await fetchByEnvironment(env, { plainHttp });
  const read = await organization.readSpending({ apiKey, baseUrl, fetch, signal, from: first, to });
  if (read.status === 'failed') return providerError('ERR_SPENDING_UNREADABLE', read.message);
  const { spending } = read;
  const parts = { groups: by === null ? GROUPS : [by], counted: null, redact };
  const days = { since: iso(first), until: iso(to) };
  const document = { version: 1, provider, ...days, ...spendingJson(spending, parts) };
  const unwritten = await printEither(input, document, () => spendingTables(spending, parts));
  if (unwritten !== null) return unwritten;
  return done(`The organisation since ${days.since.slice(0, 10)}: ${totalText(spending)}.`);
}

const NO_PLANS = '--by plan: an organisation has no plans; use --by model or --by day';

/** `notes` say why a key that is there was not used. */
function noKey(keyVariable: string, notes: readonly Warning[]): RunOutcome {
  const missing = `there is no ${keyVariable}: an administrator of the organisation creates such a key in the provider's console; set it in the environment, or in a .env in this folder that git does not track`;
  return usageError('ERR_NO_KEY', [...notes.map(warningText), missing].join('; '));
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

interface UsageInput extends Work {
  /** What began before is left out, in Unix milliseconds; null for nothing. */
  readonly from: number | null;
  readonly by: SpendingGroup | null;
}

/** Only reads. A run that is in several places counts once; replays cost nothing and do not count. */
async function showUsage(input: UsageInput): Promise<RunOutcome> {
  const { from, by, redact, env, say } = input;
  const { folders, runs, replays, unread } = await spentRuns(env, from);
  const groups = by === null ? SPENDING_GROUPS : [by];
  const since = from === null ? null : new Date(from).toISOString();
  const parts = { groups, counted: 'runs', redact };
  const document = { version: 1, since, folders, ...spendingJson(runs, parts), replays, unread };
  const unwritten = await printEither(input, document, () => spendingTables(runs, parts));
  if (unwritten !== null) return unwritten;
  for (const { runId, problem } of unread.slice(0, MAX_NAMED)) say(`not counted: ${runId}: ${problem}`);
  const apart = [
    ...(replays > 0
      ? [`${pluralize(replays, 'replay')} cost nothing and ${replays === 1 ? 'is' : 'are'} not counted`]
      : []),
    ...(unread.length > 0 ? [`${pluralize(unread.length, 'run')} could not be read`] : []),
  ];
  const when = since === null ? '' : ` since ${since.slice(0, 16).replace('T', ' ')} UTC`;
  return done(`${pluralize(runs.length, 'run')}${when}: ${[totalText(runs), ...apart].join('; ')}.`);
}

/** Most lines about runs that could not be read. */
const MAX_NAMED = 20;

interface SpentRuns {
  readonly folders: readonly string[];
  readonly runs: readonly RunSpending[];
  /** Number of runs that played recorded answers. */
  readonly replays: number;
  readonly unread: readonly { readonly runId: string; readonly path: string; readonly problem: string }[];
}

async function spentRuns(env: UsageInput['env'], from: number | null): Promise<SpentRuns> {
  const { folders, found } = findRuns(env);
  const runs = new Map<string, RunSpending>();
  const unread = new Map<string, SpentRuns['unread'][number]>();
  for (const place of found) {
    const { runId, path } = place;
    if (runs.has(runId) || (from !== null && (startOfId(runId) ?? Number.NEGATIVE_INFINITY) < from)) continue;
    const read = await readSpending(place);
    if (read.status === 'ok') runs.set(runId, read);
    // A folder that was noted may have another run in it by now.
    else if (place.place === 'default') unread.set(runId, { runId, path, problem: read.message });
  }
  for (const runId of runs.keys()) unread.delete(runId);
  const all = [...runs.values()];
  const billed = all.filter(({ provider }) => providerNamed(provider)?.isBilled !== false);
  return { folders, runs: billed, replays: all.length - billed.length, unread: [...unread.values()] };
}

/** The part of the JSON document that both have. `counted` is what the entries are, such as runs; null to leave that out. */
function spendingJson(
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
function spendingTables(
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
function totalText(spending: readonly SpentEntry[]): string {
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
