/** Looks at files of the machine that may not be there, or not for us: both give null. */

import { lstat, readdir, readlink, realpath } from 'node:fs/promises';

export const statOf = (path: string) => orMissing(lstat(path));
export const realPathOf = (path: string) => orMissing(realpath(path));
export const entriesOf = (folder: string) => orMissing(readdir(folder, { withFileTypes: true }));
/** Null also when it is no link. */
export const linkOf = (path: string) => orMissing(readlink(path));

const MISSING = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'EINVAL', 'ESRCH'];

/** Null for a missing or closed file; any other failure is thrown. */
export async function orMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (MISSING.includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
