/** Finds the root of the repository without running git. */

import { lstat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { realpathExisting } from '../files/path-within.ts';

/**
 * The nearest folder at or above `start` that contains a `.git` of any kind, as a real path; null if there is none. This alone
 * says where a checkout is: the settings of a repository do not.
 */
export async function repositoryRoot(start: string): Promise<string | null> {
  for (let folder = await realpathExisting(resolve(start)); ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    // A folder without search permission cannot be examined; git gives up on it too.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return false;
    throw error;
  }
}
