/** Lists all runs of this user. Their folders are untrusted and only read: nothing in them can make a list fail. */

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CutShort } from '../../domain/errors/thrown.ts';
import type { RunSummary } from '../../domain/runs.ts';
import { orNone } from '../../files/failures.ts';
import { checkTime } from '../../files/time-limit.ts';
import { glimpseOf } from './read-result.ts';
import { type RunDirectory, type RunDirectoryRequest, runDirectoryAt, startOfId } from './run-directory.ts';
import { isRunLocked } from './run-lock.ts';
import { checkFolders, findRuns, idsIn } from './run-places.ts';

/** The runs, newest first, and the folders of the default places that exist. */
export interface RunList {
  readonly folders: readonly string[];
  readonly runs: readonly RunSummary[];
}

/** Skips entries of the default places that are links, or whose name is not a run's. */
export async function listRuns(env: RunDirectoryRequest['env']): Promise<RunList> {
  const { folders, found } = findRuns(env);
  const runs: RunSummary[] = [];
  for (const { runId, path, place } of found) {
    const run = await summarise(runId, path, place);
    // The folder of a pointer may have a different run now.
    if (place === 'default' || run.status !== 'unreadable') runs.push(run);
  }
  return { folders, runs };
}

/** What checks have kept, in the form of runs: newest first. */
export async function listChecks(env: RunDirectoryRequest['env']): Promise<RunList> {
  const folders = checkFolders(env);
  const runs: RunSummary[] = [];
  for (const folder of folders)
    for (const runId of idsIn(folder)) runs.push(await summarise(runId, join(folder, runId), 'default'));
  return { folders, runs: runs.sort((a, b) => (a.runId < b.runId ? 1 : -1)) };
}

/** `runId` is the id that belongs to the folder; `path` has no links. Rejects only with `CutShort`, when time is up. */
export async function summarise(
  runId: string,
  path: string,
  place: RunSummary['place'],
): Promise<RunSummary> {
  // Measuring takes a while, and signals are heard between two runs.
  await setImmediate();
  checkTime();
  const directory = runDirectoryAt(path);
  const known = { runId, path, place, startedAt: startOfId(runId) };
  const unread = { outcome: null, exitCode: null, root: null, plan: null, costUsd: null, replayOf: null };
  const blank = { ...known, ...unread, status: 'unreadable' } as const;
  try {
    const measured = { ...sizeOf(path), changedAt: lastChange(directory) };
    const read = glimpseOf(directory, runId);
    if (!read.isRead) return { ...blank, ...measured, problem: read.why };
    const { outcome, exitCode, root, costUsd, replayOf, plan } = read;
    const status = read.status === 'finished' ? read.status : (await isRunLocked(path)) ? 'running' : 'died';
    const said = { outcome, exitCode, root, costUsd, replayOf, plan: plan?.title ?? null };
    return { ...known, ...said, ...measured, status, problem: null };
  } catch (error) {
    if (error instanceof CutShort) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    return { ...blank, bytes: 0, isAtLeast: true, changedAt: 0, problem };
  }
}

/** Unix time in milliseconds; the folder's if it has neither file. */
function lastChange({ path, result, events }: RunDirectory): number {
  const times = [result, events].map((file) => lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
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
  return orNone(() => readdirSync(folder, { withFileTypes: true, encoding: 'latin1' })) ?? [];
}
