/** Finds all runs of this user: in the default places, and where `--run-dir` has put them. */

import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunSummary } from '../../../domain/runs/retention.ts';
import type { RunDirectoryRequest } from '../run-directory.ts';
import { placesOf, RUN_ID } from '../run-directory.ts';
import { notedPlaces } from '../run-places.ts';
import { summarise } from './run-summary.ts';

/** The runs, newest first, and the folders of the default places that exist. */
export interface RunList {
  readonly folders: readonly string[];
  readonly runs: readonly RunSummary[];
}

/** Where a run is. */
export type RunPlace = Pick<RunSummary, 'runId' | 'path' | 'place'>;

/** Entries of the default places that do not have the name of a run, or are links, are none. */
export async function listRuns(env: RunDirectoryRequest['env']): Promise<RunList> {
  const { folders, found } = findRuns(env);
  const runs: RunSummary[] = [];
  for (const { runId, path, place } of found) {
    const run = await summarise(runId, path, place);
    // A folder that was noted may have another run in it by now.
    if (place === 'default' || run.status !== 'unreadable') runs.push(run);
  }
  return { folders, runs };
}

/** The runs of `listRuns` by their folders, unread, newest first. */
export function findRuns(env: RunDirectoryRequest['env']): {
  readonly folders: readonly string[];
  readonly found: readonly RunPlace[];
} {
  const folders = runFolders(env);
  const found = folders.flatMap((folder): RunPlace[] => [
    ...idsIn(folder).map((runId) => ({ runId, path: join(folder, runId), place: 'default' as const })),
    ...[...notedPlaces(folder)].flatMap(([runId, path]) =>
      isFolder(path) ? [{ runId, path, place: 'elsewhere' as const }] : [],
    ),
  ]);
  return { folders, found: found.sort((a, b) => (a.runId < b.runId ? 1 : a.runId > b.runId ? -1 : 0)) };
}

/** The folders in which runs are by default, without links in their paths. */
export function runFolders(env: RunDirectoryRequest['env']): string[] {
  const folders = placesOf('any', env).map((place) => dirname(place));
  return [...new Set(folders.filter(isFolder).map((folder) => realpathSync(folder)))];
}

/** Folders with the name of a run, unsorted. */
export function idsIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && RUN_ID.test(entry.name)).map(({ name }) => name);
  } catch (error) {
    // No run has been there yet, or it is no folder that may be read.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
