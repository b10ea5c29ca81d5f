/** What a list says about a run. Its folder is untrusted and only read: nothing in it can make a list fail. */

import { lstatSync, readdirSync } from 'node:fs';
import * as z from 'zod';
import { CutShort } from '../../../domain/run/cut-short.ts';
import type { RunSummary } from '../../../domain/runs/retention.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import { readStart } from '../read-journal.ts';
import { type RunDirectory, runDirectoryAt, startOfId } from '../run-directory.ts';
import { jsonOf } from '../run-file.ts';
import { isRunLocked } from '../run-lock.ts';

/** Larger results are not read for a list. */
const MAX_LISTED_BYTES = 16 * 1024 * 1024;

/** The needed part of the result; a newer version may have more, and other outcomes. */
const Glimpse = z.object({
  runId: z.string(),
  status: z.enum(['running', 'finished']),
  outcome: z.string().nullable(),
  exitCode: z.number().nullable(),
  root: z.string().nullable().catch(null),
  plan: z.object({ title: z.string() }).nullable().catch(null),
  costUsd: z
    .union([z.number(), z.literal('unknown')])
    .nullable()
    .catch(null),
});

/**
 * `runId` is the id that belongs to the folder; `path` has no links. Rejects only with `CutShort`, when time is up.
 */
export async function summarise(
  runId: string,
  path: string,
  place: RunSummary['place'],
): Promise<RunSummary> {
  const directory = runDirectoryAt(path);
  const unknown = { runId, path, place, startedAt: startOfId(runId), root: null, plan: null, costUsd: null };
  const blank = { ...unknown, status: 'unreadable', outcome: null, exitCode: null } as const;
  try {
    const size = sizeOf(path);
    const measured = { ...size, changedAt: lastChange(directory) };
    const read = readRegularFile(directory.result, MAX_LISTED_BYTES);
    if (read.status === 'failed') return { ...blank, ...measured, problem: `result.json ${read.why}` };
    const glimpse = Glimpse.safeParse(jsonOf(read.bytes));
    if (!glimpse.success) return { ...blank, ...measured, problem: 'result.json is not the result of a run' };
    const { runId: said, status, plan, root: recorded, ...ended } = glimpse.data;
    if (said !== runId) return { ...blank, ...measured, problem: 'result.json is that of another run' };
    const root = recorded ?? (await readStart(directory.events))?.root ?? null;
    const now = status === 'finished' ? status : (await isRunLocked(path)) ? 'running' : 'died';
    return { ...unknown, ...ended, ...measured, root, plan: plan?.title ?? null, status: now, problem: null };
  } catch (error) {
    if (error instanceof CutShort) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    return { ...blank, bytes: 0, isAtLeast: true, changedAt: 0, problem };
  }
}

/** Unix time in milliseconds; the folder's if it has neither file. */
function lastChange({ path, result, events, log }: RunDirectory): number {
  const times = [result, events, log].map((file) => lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(...times) || lstatSync(path).mtimeMs;
}

/** Maximum number of entries to measure; a run directory has a few hundred. */
const MAX_ENTRIES = 100_000;

/** The folder's size on disk. Links are not followed, and folders that cannot be read count as empty. */
function sizeOf(path: string): { bytes: number; isAtLeast: boolean } {
  const waiting: Buffer[] = [Buffer.from(path)];
  let bytes = 0;
  let entries = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return { bytes, isAtLeast: true };
      const place = Buffer.concat([folder, Buffer.from('/'), Buffer.from(entry.name, 'latin1')]);
      const stat = lstatSync(place, { throwIfNoEntry: false });
      bytes += (stat?.blocks ?? 0) * 512;
      if (stat?.isDirectory()) waiting.push(place);
    }
  }
  return { bytes, isAtLeast: false };
}

/** Names are bytes: each byte is a Latin-1 character here. */
function entriesOf(folder: Buffer) {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'latin1' });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}
