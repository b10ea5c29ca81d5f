/** What a run has spent, from its folder. The folder is untrusted: nothing in it can make the sum fail. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type AttemptSpending, MAX_ATTEMPTS, spentTogether } from '../../domain/attempts/attempts.ts';
import { totalTokens } from '../../domain/conversation/conversation.ts';
import { CutShort } from '../../domain/errors/thrown.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { usesOf } from '../../domain/run/state.ts';
import { dayOf, type SpentEntry } from '../../domain/runs.ts';
import { readJournal, stateAfter } from './read-journal.ts';
import { glimpseOf } from './read-result.ts';
import { type RunDirectory, runDirectoryAt, startOfId } from './run-directory.ts';
import { isFolder, type RunPlace } from './run-places.ts';

/** What a run has spent in all its attempts, and which models answered. */
export interface RunSpending extends SpentEntry {
  readonly status: 'ok';
  /** Null for a run that ended before there was a provider. */
  readonly provider: string | null;
}

/** The message of a failure follows the name of the run. Rejects only with `CutShort`, when time is up. */
export async function readSpending({ runId, path }: RunPlace): Promise<RunSpending | Failed> {
  const directory = runDirectoryAt(path);
  const day = dayOf(startOfId(runId));
  try {
    const result = spentByResult(directory, runId);
    if (result.isFinal && !isFolder(attemptsIn(directory))) return { ...result.spent, day };
    // An attempt can be continued after the result was written, and a run that is running has none.
    const journals = await spentByJournals(directory, runId);
    if (journals !== null && !(result.isFinal && saysAsMuch(result.spent, journals)))
      return { ...journals, day };
    if (result.spent.status === 'failed') return result.spent;
    return result.isFinal ? { ...result.spent, day } : { ...result.spent, day, costUsd: 'unknown' };
  } catch (error) {
    if (error instanceof CutShort) throw error;
    return failed(error instanceof Error ? error.message : String(error));
  }
}

type Spent = AttemptSpending & Omit<RunSpending, 'day' | keyof AttemptSpending>;

/** What a journal says of its run. */
type Recorded = Spent & Pick<RunResult, 'iterations' | 'durations'>;

function spentByResult(
  directory: RunDirectory,
  runId: string,
): { isFinal: false; spent: Spent | Failed } | { isFinal: true; spent: Spent } {
  const read = glimpseOf(directory, runId);
  if (!read.isRead) return { isFinal: false, spent: failed(read.why) };
  const { status, plan, provider, model, tokens, costUsd, estimated, models } = read;
  // A resumed run can end before its journal is read.
  const isUnknown = costUsd === 'unknown' && totalTokens(tokens) === 0;
  return {
    isFinal: status === 'finished' && !isUnknown,
    spent: { status: 'ok', provider, model, plan: plan?.title ?? null, tokens, costUsd, estimated, models },
  };
}

/**
 * According to the run's journal and those of its attempts; the journal of the chosen attempt has become the run's. Null if there is
 * none that can be read.
 */
export async function spentByJournals(directory: RunDirectory, runId: string): Promise<Recorded | null> {
  const spent: Recorded[] = [];
  // One after the other, so that only one is in memory.
  for (const one of [directory, ...journalsOfAttempts(directory)])
    spent.push(...(await spentByJournal(one, runId)));
  const [first, ...others] = spent;
  return first === undefined ? null : { ...first, ...others.reduce<AttemptSpending>(spentTogether, first) };
}

/** Only attempts that have begun. Looks only for numbers, so that a folder full of names costs nothing. */
function journalsOfAttempts(directory: RunDirectory): RunDirectory[] {
  const parent = attemptsIn(directory);
  if (!isFolder(parent)) return [];
  const paths = Array.from({ length: MAX_ATTEMPTS }, (_, at) => join(parent, String(at + 1)));
  return paths
    .filter(isFolder)
    .map(runDirectoryAt)
    .filter(({ events }) => existsSync(events));
}

function attemptsIn({ path }: RunDirectory): string {
  return join(path, 'attempts');
}

function saysAsMuch(result: Spent, journals: Spent): boolean {
  const isKnown = result.costUsd !== 'unknown' || journals.costUsd === 'unknown';
  return isKnown && totalTokens(result.tokens) >= totalTokens(journals.tokens);
}

/** Nothing where there is no journal of that run. */
async function spentByJournal({ events }: RunDirectory, runId: string): Promise<Recorded[]> {
  const read = await readJournal(events);
  if (read.status === 'failed' || read.events[0].runId !== runId) return [];
  const [{ provider, model, plan }] = read.events;
  const state = await stateAfter(read.events);
  const { usage: tokens, costUsd, isEstimated: estimated, iterations, modelMs, now, startedAt } = state;
  const spent = { tokens, costUsd: costUsd ?? ('unknown' as const), estimated, models: usesOf(state) };
  const durations = { totalMs: Math.max(0, now - startedAt), modelMs };
  return [{ status: 'ok', provider, model, plan: plan.title, ...spent, iterations, durations }];
}
