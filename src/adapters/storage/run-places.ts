/**
 * Where runs are, without reading any: in the default folders, and where `--run-dir` has put them, which a small file for each says
 * there.
 */

import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { isWithin } from '../../domain/changes/path.ts';
import type { RunSummary } from '../../domain/runs.ts';
import { orNone } from '../../files/failures.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { CHECKS, newPlaceOf, placesOf, RUN_ID, type RunDirectoryRequest } from './run-directory.ts';

const SUFFIX = '.elsewhere';

/** A path in UTF-8. */
const MAX_PATH_BYTES = 8 * 1024;

/** Maximum number of places to remember. */
const MAX_PLACES = 1_000;

/** Which run is where. */
export interface NewPlace {
  readonly runId: string;
  readonly path: string;
  readonly env: RunDirectoryRequest['env'];
  /** The work tree, where nothing is written; null if there is none. */
  readonly workTree: string | null;
}

/** Remembers the place, so that lists and `last` find the run. If it cannot be written, only that is lost. */
export function notePlace({ runId, path, env, workTree }: NewPlace): void {
  const place = newPlaceOf(placesOf(runId, env));
  if (place === undefined) return;
  orNone(() => {
    const folder = dirname(place);
    if (workTree !== null && isWithin(folder, workTree)) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (workTree !== null && isWithin(realpathSync(folder), workTree)) return;
    writeFileSync(join(folder, `${runId}${SUFFIX}`), path, { flag: 'wx', mode: 0o600 });
    const old = notesIn(folder).sort().slice(0, -MAX_PLACES);
    for (const id of old) forgetPlace(folder, id);
  });
}

/** Run directories by run id, as recorded; the caller has to check whether they still exist. */
export function notedPlaces(folder: string): Map<string, string> {
  const places = new Map<string, string>();
  for (const id of notesIn(folder)) {
    const read = readRegularFile(join(folder, `${id}${SUFFIX}`), MAX_PATH_BYTES);
    const path = read.status === 'ok' ? read.bytes.toString('utf8') : '';
    if (isAbsolute(path) && !path.includes('\0')) places.set(id, path);
  }
  return places;
}

/** Forgets the place; does not touch the run. */
export function forgetPlace(folder: string, runId: string): void {
  rmSync(join(folder, `${runId}${SUFFIX}`), { force: true });
}

function notesIn(folder: string): string[] {
  const names = orNone(() => readdirSync(folder)) ?? [];
  return names
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .filter((id) => RUN_ID.test(id));
}

/** The folders in which runs are by default, without links in their paths. */
export function runFolders(env: RunDirectoryRequest['env']): string[] {
  const folders = placesOf('any', env).map((place) => dirname(place));
  return [...new Set(folders.flatMap((folder) => orNone(() => realpathSync(folder)) ?? []).filter(isFolder))];
}

/** Where a run is. */
export type RunPlace = Pick<RunSummary, 'runId' | 'path' | 'place'>;

/** The folders of the runs there, unread, newest first. */
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

/** The same for what checks have kept. */
export function checkFolders(env: RunDirectoryRequest['env']): string[] {
  return runFolders(env)
    .map((folder) => join(folder, CHECKS))
    .filter(isFolder);
}

/** Folders with the name of a run, unsorted. */
export function idsIn(folder: string): string[] {
  // There has been no run there yet, or it is not a readable folder.
  const entries = orNone(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.filter((entry) => entry.isDirectory() && RUN_ID.test(entry.name)).map(({ name }) => name);
}

/** False for a link, and for what does not exist. */
export function isFolder(path: string): boolean {
  return orNone(() => lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) ?? false;
}
