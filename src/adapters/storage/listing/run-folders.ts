/** The folders that contain runs, and the names in them, without reading any run. */

import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CHECKS, placesOf, RUN_ID, type RunDirectoryRequest } from '../run-directory.ts';

/** The folders in which runs are by default, without links in their paths. */
export function runFolders(env: RunDirectoryRequest['env']): string[] {
  const folders = placesOf('any', env).map((place) => dirname(place));
  return [...new Set(folders.filter(isFolder).map((folder) => realpathSync(folder)))];
}

/** The same for what checks have kept. */
export function checkFolders(env: RunDirectoryRequest['env']): string[] {
  return runFolders(env)
    .map((folder) => join(folder, CHECKS))
    .filter(isFolder);
}

/** Folders with the name of a run, unsorted. */
export function idsIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && RUN_ID.test(entry.name)).map(({ name }) => name);
  } catch (error) {
    // There has been no run there yet, or it is not a readable folder.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

/** False for a link, and for what does not exist. */
export function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
