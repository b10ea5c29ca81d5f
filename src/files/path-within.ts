/** Where a path lies in a folder, whichever way it is written. */

import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/**
 * The path relative to `root`, which is a real path; null when it lies outside. A path that is written as one inside is
 * taken at its word; of any other the links on the way to it are followed, but for the last name.
 */
export async function pathWithin(root: string, path: string): Promise<string | null> {
  const written = pathBelow(root, path);
  return written ?? pathBelow(root, join(await realpathExisting(dirname(path)), basename(path)));
}

/** The real path of a folder; of one that is not there, as far as there is one. */
export async function realpathExisting(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const parent = dirname(path);
    return parent === path ? path : join(await realpathExisting(parent), basename(path));
  }
}

/** The path relative to `root`, as both are written; null when it lies outside. */
export function pathBelow(root: string, path: string): string | null {
  const place = relative(root, path);
  return place === '..' || place.startsWith('../') ? null : place;
}
