/** Determines whether a path is inside a folder, however it is written. */

import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/**
 * The path relative to `root`, which is a real path; null if it is outside. A path written as one inside is accepted as it
 * is; for any other, links are followed, except for the last name.
 */
export async function pathWithin(root: string, path: string): Promise<string | null> {
  const written = pathBelow(root, path);
  return written ?? pathBelow(root, join(await realpathExisting(dirname(path)), basename(path)));
}

/** The real path of a folder; if it does not exist, of its longest existing part, with the rest appended. */
export async function realpathExisting(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const parent = dirname(path);
    return parent === path ? path : join(await realpathExisting(parent), basename(path));
  }
}

/** The path relative to `root`, compared as written; null if it is outside. */
export function pathBelow(root: string, path: string): string | null {
  const place = relative(root, path);
  return place === '..' || place.startsWith('../') ? null : place;
}
