/** Finds the root of the repository without running git. */

import { lstat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** The nearest folder at or above `start` that contains a `.git` folder or file, or null. */
export async function repositoryRoot(start: string): Promise<string | null> {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
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
