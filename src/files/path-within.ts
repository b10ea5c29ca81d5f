/** Determines whether a path is inside a folder, however it is written. */

import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isGitDirName } from '../domain/changes/path.ts';
import { hasCode } from './failures.ts';

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

/** Whether a real path is in the work tree at `root`, and not in a git dir. */
export function isInWorkTree(root: string, target: string): boolean {
  const inside = pathBelow(root, target);
  return inside !== null && !inside.split(sep).some(isGitDirName);
}

/** The real path of a file; null if it does not exist or its links lead nowhere. */
export async function realpathOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return null;
    throw error;
  }
}
