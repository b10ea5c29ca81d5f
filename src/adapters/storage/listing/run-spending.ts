/** What a run has spent, by its folder. It is only read, whoever wrote it: nothing in it makes a sum fail. */

import * as z from 'zod';
import { totalTokens } from '../../../domain/conversation/conversation.ts';
import { type Failed, failed } from '../../../domain/failed.ts';
import { advance, startOf, usesOf } from '../../../domain/run/state.ts';
import { dayOf, type SpentEntry } from '../../../domain/runs/spending.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import { readJournal } from '../read-journal.ts';
import { type RunDirectory, runDirectoryAt, startOfId } from '../run-directory.ts';
import { jsonOf, MAX_RESULT_BYTES } from '../run-file.ts';
import type { RunPlace } from './list-runs.ts';

/** What a run has spent over all its attempts, and who answered it. */
export interface RunSpending extends SpentEntry {
  readonly status: 'ok';
  /** Null for a run that ended before there was a provider. */
  readonly provider: string | null;
}

/** Larger counts are not what a run has spent; sums of those below stay numbers. */
const MOST_TOKENS = 1e12;
const MOST_USD = 1e9;

const Count = z.int().nonnegative().max(MOST_TOKENS).default(0);
const Tokens = z.object({
  input: Count,
  output: Count,
  cacheRead: Count,
  cacheWrite: Count,
  cacheWrite1h: Count,
});
const Cost = z.number().nonnegative().max(MOST_USD);

/** Models of a run; one that says more is not believed. */
const MOST_MODELS = 100;

const ModelPart = z.object({
  model: z.string(),
  tokens: Tokens,
  costUsd: Cost.or(z.literal('unknown')).catch('unknown'),
});

/** Of the result. An older version says less, a newer one more. */
const Spent = z.object({
  runId: z.string(),
  status: z.enum(['running', 'finished']),
  provider: z.string().nullable().catch(null),
  model: z.string().nullable().catch(null),
  plan: z.object({ title: z.string() }).nullable().catch(null),
  tokens: Tokens,
  costUsd: Cost.or(z.literal('unknown')).catch('unknown'),
  estimated: z.boolean().catch(false),
  models: z.array(ModelPart).max(MOST_MODELS).catch([]),
});

/** The message of a failure follows the name of the run. Never rejects. */
export function readSpending({ runId, path }: RunPlace): RunSpending | Failed {
  const directory = runDirectoryAt(path);
  const day = dayOf(startOfId(runId));
  try {
    const result = spentByResult(directory, runId);
    if (result.status === 'ok' && result.isFinal) return { ...result, day };
    // While a run goes on, and when it has died, only its journal knows what it has spent.
    const journal = spentByJournal(directory, runId);
    if (journal.status === 'ok') return { ...journal, day };
    return result.status === 'ok' ? { ...result, day, costUsd: null } : result;
  } catch (error) {
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
  const parsed = Spent.safeParse(jsonOf(read.bytes));
  if (!parsed.success) return failed('result.json is not the result of a run');
  const { runId: said, status, costUsd, plan, models, ...spent } = parsed.data;
  if (said !== runId) return failed('result.json is that of another run');
  // That is also what is written of a run whose process died.
  const isUnknown = costUsd === 'unknown' && totalTokens(spent.tokens) === 0;
  return {
    ...spent,
    status: 'ok',
    plan: plan?.title ?? null,
    costUsd: costUsd === 'unknown' ? null : costUsd,
    parts: partsOf(models),
    isFinal: status === 'finished' && !isUnknown,
  };
}

function spentByJournal({ events }: RunDirectory, runId: string): Undated | Failed {
  const read = readJournal(events);
  if (read.status === 'failed') return read;
  const [start, ...rest] = read.events;
  if (start.runId !== runId) return failed('events.jsonl is that of another run');
  const state = rest.reduce(advance, startOf(start));
  const { usage, costUsd, isEstimated } = state;
  const isUsual = Tokens.safeParse(usage).success && (costUsd === null || costUsd <= MOST_USD);
  if (!isUsual) return failed('events.jsonl has more tokens than a run can spend');
  return {
    status: 'ok',
    provider: start.provider,
    model: start.model,
    plan: start.plan.title,
    tokens: usage,
    costUsd,
    estimated: isEstimated,
    parts: partsOf(usesOf(state)),
  };
}

/** Models that have answered, where there are several; one alone is the run. */
function partsOf(models: readonly z.infer<typeof ModelPart>[]): NonNullable<SpentEntry['parts']> {
  const parts = models.map(({ model, tokens, costUsd }) => ({
    model,
    tokens,
    costUsd: costUsd === 'unknown' ? null : costUsd,
  }));
  return parts.length > 1 ? parts : [];
}
