/** Removes old runs. */

import { lstatSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { listChecks, listRuns, summarise } from '../adapters/storage/list-runs.ts';
import { RUN_ID } from '../adapters/storage/run-directory.ts';
import { lockRun } from '../adapters/storage/run-lock.ts';
import { forgetPlace, notedPlaces } from '../adapters/storage/run-places.ts';
import { removeGitDir } from '../adapters/workspace/unwalked/remove-git-dir.ts';
import type { Environment } from '../domain/environment.ts';
import { type RetentionRules, type RunSummary, runsToRemove } from '../domain/runs.ts';
import { orNone } from '../files/failures.ts';

/** The runs that were removed, or would be. */
export interface Removal {
  readonly removed: readonly RunSummary[];
  /** The same of what checks have kept. */
  readonly removedChecks: readonly RunSummary[];
  /** What should have gone and is still there, with the reason. */
  readonly left: readonly { run: RunSummary; why: string }[];
  readonly kept: number;
  readonly keptBytes: number;
}

/** Where, by which rules, when, and whether only to say so. */
export interface RemovalRequest {
  readonly env: Environment;
  readonly rules: RetentionRules;
  readonly now: number;
  readonly isDry: boolean;
}

/** A check is read when it has failed; its folder also has what `undo` needs. */
const CHECK_MS = 7 * 24 * 3_600_000;

/**
 * Removes runs by the rules, and checks that are older or do not fit beside them. Runs in folders of the user's choice
 * (`--run-dir`) stay; entries for those that are gone are removed from the list.
 */
export async function removeRuns({ env, rules, now, isDry }: RemovalRequest): Promise<Removal> {
  const { folders, runs } = await listRuns(env);
  const left: { run: RunSummary; why: string }[] = [];
  const removeAll = async (old: readonly RunSummary[], within: readonly string[]) => {
    const removed: RunSummary[] = [];
    for (const run of old) {
      const why = isDry ? null : await remove(run, within);
      if (why === null) removed.push(run);
      else left.push({ run, why });
    }
    return removed;
  };
  const removed = await removeAll(runsToRemove(runs, rules, now), folders);
  if (!isDry) for (const folder of folders) forgetGone(folder);
  const kept = runs.filter((run) => run.place === 'default' && !removed.includes(run));
  const keptBytes = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const checks = await listChecks(env);
  const ofChecks = {
    olderThanMs: rules.olderThanMs ?? CHECK_MS,
    maxTotalBytes: Math.max(0, rules.maxTotalBytes - keptBytes),
    keepFailed: false,
  };
  const removedChecks = await removeAll(runsToRemove(checks.runs, ofChecks, now), checks.folders);
  return { removed, removedChecks, left, kept: kept.length, keptBytes };
}

/** For people who check and never run. What cannot be removed is tried again. */
export async function removeOldChecks(env: Environment, now: number): Promise<void> {
  const { folders, runs } = await listChecks(env);
  const rules = { olderThanMs: CHECK_MS, maxTotalBytes: Number.POSITIVE_INFINITY, keepFailed: false };
  for (const run of runsToRemove(runs, rules, now)) await remove(run, folders);
}

/** Null when it is gone, otherwise why not. Looks again at what it is about to remove, with its lock in hand. */
async function remove(run: RunSummary, folders: readonly string[]): Promise<string | null> {
  const folder = dirname(run.path);
  const name = basename(run.path);
  if (!folders.includes(folder) || !RUN_ID.test(name)) return 'it is not in the folder of the runs';
  try {
    const { uid } = lstatSync(run.path);
    if (uid !== (process.getuid?.() ?? uid)) return 'it belongs to another user';
    const letGo = await lockRun(run.path);
    if (letGo === null) return 'a process works on it';
    try {
      // If another process resumed it in the meantime, that process has the lock or has already ended.
      const now = await summarise(name, run.path, 'default');
      if (now.changedAt !== run.changedAt) return 'it has changed';
      await removeGitDir(folder, name);
      return null;
    } finally {
      letGo();
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.cause instanceof Error ? error.cause.message : error.message;
  }
}

function forgetGone(folder: string): void {
  for (const [id, path] of notedPlaces(folder)) {
    orNone(() => {
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) forgetPlace(folder, id);
    });
  }
}
