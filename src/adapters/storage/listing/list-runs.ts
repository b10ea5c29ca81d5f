/** Finds all runs of this user: in the default places, and where `--run-dir` has put them. */

import { join } from 'node:path';
import type { RunSummary } from '../../../domain/runs/retention.ts';
import type { RunDirectoryRequest } from '../run-directory.ts';
import { notedPlaces } from '../run-places.ts';
import { checkFolders, idsIn, isFolder, runFolders } from './run-folders.ts';
import { summarise } from './run-summary.ts';

/** The runs, newest first, and the folders of the default places that exist. */
export interface RunList {
  readonly folders: readonly string[];
  readonly runs: readonly RunSummary[];
}

/** Where a run is. */
export type RunPlace = Pick<RunSummary, 'runId' | 'path' | 'place'>;

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

/** The folders of the runs in `listRuns`, unread, newest first. */
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
