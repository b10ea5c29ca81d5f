/** `patchsmith usage`: what past runs have spent, by model, plan and day. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import { findRuns } from '../../adapters/storage/list-runs.ts';
import { startOfId } from '../../adapters/storage/run-directory.ts';
import { type RunSpending, readSpending } from '../../adapters/storage/run-spending.ts';
import type { Environment } from '../../domain/environment.ts';
import { done, type RunOutcome } from '../../domain/run/outcome.ts';
import type { SpendingGroup } from '../../domain/runs/spending.ts';
import { type Redact, redactedJson } from '../../domain/secrets/redact.ts';
import { inertJson } from '../../domain/text/terminal.ts';
import { pluralize } from '../../domain/text/words.ts';
import { groupsOf, spendingJson, spendingTables, totalText } from './report.ts';

/** The arguments of `patchsmith usage`. */
export interface UsageInput {
  /** What began before is left out, in Unix milliseconds; null for nothing. */
  readonly from: number | null;
  readonly by: SpendingGroup | null;
  readonly json: boolean;
  readonly redact: Redact;
  readonly env: Environment;
  /** Prints one line for people. */
  readonly say: (line: string) => void;
  /** Prints the document on stdout. Resolves with an outcome where it could not be written. */
  readonly print: (document: string) => Promise<RunOutcome | null>;
}

/** Only reads. A run that is in several places counts once; replays cost nothing and do not count. */
export async function showUsage(input: UsageInput): Promise<RunOutcome> {
  const { from, by, json, redact, env, say, print } = input;
  const { folders, runs, replays, unread } = await spentRuns(env, from);
  const groups = groupsOf(by);
  const since = from === null ? null : new Date(from).toISOString();
  const parts = { groups, counted: 'runs', redact };
  const document = json
    ? `${inertJson(redactedJson({ version: 1, since, folders, ...spendingJson(runs, parts), replays, unread }, redact, 2))}\n`
    : spendingTables(runs, parts);
  const unwritten = await print(document);
  if (json && unwritten !== null) return unwritten;
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
