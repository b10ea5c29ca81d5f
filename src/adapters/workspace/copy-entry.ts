/** Copies single files and links of a tree that others may write to meanwhile. */

import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  openSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import type { TreeView } from '../../files/tree-view.ts';

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Copies a file, or a link as a link, to a place where nothing is yet. A file keeps the time of its last change, which build tools
 * go by, but no set-uid and set-gid bits; where the file system can, it shares its blocks with the original. Throws what the file
 * system throws, and for what has become neither file nor link.
 */
export function copyEntry(view: TreeView, path: string, to: Buffer): void {
  const link = view.readLink(path);
  if (link.status === 'seen') {
    symlinkSync(link.target, to);
    return;
  }
  const file = openSync(view.place(path), READ);
  try {
    const { mode, atime, mtime } = fstatSync(file);
    // Opening a pipe by its descriptor would wait for a writer.
    if ((mode & constants.S_IFMT) !== constants.S_IFREG)
      throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EINVAL' });
    copyFileSync(`/proc/self/fd/${file}`, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    if ((mode & 0o7000) !== 0) chmodSync(to, mode & 0o777);
    utimesSync(to, atime, mtime);
  } finally {
    closeSync(file);
  }
}
