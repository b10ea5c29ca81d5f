/** What a run has spent, from its folder. The folder is untrusted: nothing in it can make the sum fail. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type AttemptSpending, MAX_ATTEMPTS, spentTogether } from '../../domain/attempts/attempts.ts';
import { totalTokens } from '../../domain/conversation/conversation.ts';
import { CutShort } from '../../domain/errors/thrown.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { RunResult } from '../../domain/run/result.ts';
import { usesOf } from '../../domain/run/state.ts';
import { dayOf, type SpentEntry } from '../../domain/runs.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { readJournal, stateAfter } from './read-journal.ts';
import { jsonOf, MAX_RESULT_BYTES } from './read-result.ts';
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
    if (result.status === 'ok' && result.isFinal && !isFolder(attemptsIn(directory)))
      return { ...result, day };
    // An attempt can be continued after the result was written, and a run that is running has none.
    const recorded = await spentByJournals(directory, runId);
    if (recorded !== null) {
      const journals = undatedOf(recorded, recorded);
      if (result.status !== 'ok' || !(result.isFinal && saysAsMuch(result, journals)))
        return { ...journals, day };
    }
    if (result.status !== 'ok') return result;
    return result.isFinal ? { ...result, day } : { ...result, day, costUsd: null };
  } catch (error) {
    if (error instanceof CutShort) throw error;
    return failed(error instanceof Error ? error.message : String(error));
  }
}

type Undated = Omit<RunSpending, 'day'>;

function spentByResult(
  directory: RunDirectory,
  runId: string,
): (Undated & { readonly isFinal: boolean }) | Failed {
  const read = readRegularFile(directory.result, MAX_RESULT_BYTES);
  if (read.status === 'failed') return failed(`result.json ${read.why}`);
  const parsed = RunResult.safeParse(jsonOf(read.bytes));
  if (!parsed.success) return failed('result.json is not the result of a run');
  const { runId: said, status, plan, provider, model, ...spent } = parsed.data;
  if (said !== runId) return failed('result.json is that of another run');
  // A resumed run can end before its journal is read.
  const isUnknown = spent.costUsd === 'unknown' && totalTokens(spent.tokens) === 0;
  const isFinal = status === 'finished' && !isUnknown;
  return { ...undatedOf({ provider, model, plan: plan?.title ?? null }, spent), isFinal };
}

/**
 * According to the run's journal and those of its attempts; the journal of the chosen attempt has become the run's. Null if there is
 * none that can be read.
 */
export async function spentByJournals(directory: RunDirectory, runId: string): Promise<Recorded | null> {
  const recorded: Recorded[] = [];
  // One after the other, so that only one is in memory.
  for (const one of [directory, ...journalsOfAttempts(directory)]) {
    const read = await spentByJournal(one, runId);
    if (read.status === 'ok') recorded.push(read);
  }
  const [first, ...others] = recorded;
  if (first === undefined) return null;
  return { ...first, ...others.reduce<AttemptSpending>(spentTogether, first) };
}

function undatedOf(
  { provider, model, plan }: Pick<Undated, 'provider' | 'model' | 'plan'>,
  { tokens, costUsd, estimated, models }: AttemptSpending,
): Undated {
  return {
    ...{ status: 'ok', provider, model, plan, tokens, estimated },
    costUsd: costUsd === 'unknown' ? null : costUsd,
    parts: partsOf(models),
  };
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

function saysAsMuch(result: Undated, journals: Undated): boolean {
  const isKnown = result.costUsd !== null || journals.costUsd === null;
  return isKnown && totalTokens(result.tokens) >= totalTokens(journals.tokens);
}

type Recorded = AttemptSpending &
  Pick<Undated, 'status' | 'provider' | 'model' | 'plan'> &
  Pick<RunResult, 'iterations' | 'durations'>;

async function spentByJournal({ events }: RunDirectory, runId: string): Promise<Recorded | Failed> {
  const read = await readJournal(events);
  if (read.status === 'failed') return read;
  const [start] = read.events;
  if (start.runId !== runId) return failed('events.jsonl is that of another run');
  const state = await stateAfter(read.events);
  const { usage, costUsd, isEstimated, iterations, modelMs, now, startedAt } = state;
  return {
    status: 'ok',
    provider: start.provider,
    model: start.model,
    plan: start.plan.title,
    tokens: usage,
    costUsd: costUsd ?? 'unknown',
    estimated: isEstimated,
    models: usesOf(state),
    iterations,
    durations: { totalMs: Math.max(0, now - startedAt), modelMs },
  };
}

/** The models that answered, if there are several; with one, the run says it all. */
function partsOf(models: AttemptSpending['models']): NonNullable<SpentEntry['parts']> {
  const parts = models.map(({ model, tokens, costUsd }) => ({
    model,
    tokens,
    costUsd: costUsd === 'unknown' ? null : costUsd,
  }));
  return parts.length > 1 ? parts : [];
}
