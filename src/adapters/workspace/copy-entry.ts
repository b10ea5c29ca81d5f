/** Copies single files and links of a tree that others may write to meanwhile. */

import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { openRegularIn } from '../../files/opened-file.ts';
import type { TreeView } from '../../files/tree-view.ts';

/** Larger files are copied in pieces, and the signal is checked between them. */
const AT_ONCE_BYTES = 8 * 1024 * 1024;

/**
 * Copies a file, or a link as a link, to a path that does not exist yet; false if the signal stopped it early. A file keeps the
 * time of its last change, which build tools go by, and its holes, but no set-uid and set-gid bits; where the file system can, it
 * shares its blocks with the original. Throws the errors of the file system, and if the entry has become something other than a
 * file or a link.
 */
export async function copyEntry(
  view: TreeView,
  path: string,
  to: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  // Most entries are files, and Node takes long to report that one is no link.
  const opening = openRegularIn(view, path);
  if (opening.status !== 'open') {
    const link = view.readLink(path);
    if (link.status === 'seen') {
      symlinkSync(link.target, to);
      return true;
    }
    throw Object.assign(new Error(`${path} is not a regular file`), {
      code: opening.status === 'absent' ? 'EINVAL' : 'EACCES',
    });
  }
  const { descriptor } = opening.file;
  try {
    const stats = fstatSync(descriptor);
    const isWhole = await copyContent(descriptor, stats, { to, signal });
    utimesSync(to, stats.atime, stats.mtime);
    return isWhole;
  } finally {
    closeSync(descriptor);
  }
}

async function copyContent(
  descriptor: number,
  { size, mode }: Stats,
  { to, signal }: { to: Buffer; signal: AbortSignal },
): Promise<boolean> {
  const source = `/proc/self/fd/${descriptor}`;
  const { COPYFILE_EXCL, COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = constants;
  // Node gives a copy the mode of the original, which may not be set-uid for its new owner for any moment.
  if ((mode & SET_IDS) === 0) {
    if (size <= AT_ONCE_BYTES) {
      copyFileSync(source, to, COPYFILE_EXCL | COPYFILE_FICLONE);
      return true;
    }
    try {
      copyFileSync(source, to, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error) || error.code === 'EEXIST') throw error;
    }
  }
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const file = openSync(to, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  try {
    const isWhole = await copyPieces(descriptor, file, signal);
    fchmodSync(file, mode & 0o777);
    return isWhole;
  } finally {
    closeSync(file);
  }
}

/** The set-uid and set-gid bits of a mode. */
const SET_IDS = 0o6000;
const PIECE_BYTES = 1024 * 1024;
const ZEROS = Buffer.alloc(PIECE_BYTES);

/** Skips holes, so that a sparse file takes no space, whatever its nominal size. */
async function copyPieces(from: number, to: number, signal: AbortSignal): Promise<boolean> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let at = 0;
  for (;;) {
    const length = readSync(from, piece, 0, PIECE_BYTES, at);
    if (length === 0) break;
    const read = piece.subarray(0, length);
    if (!read.equals(ZEROS.subarray(0, length)))
      for (let done = 0; done < length; ) done += writeSync(to, read, done, length - done, at + done);
    at += length;
    await setImmediate();
    if (signal.aborted) return false;
  }
  ftruncateSync(to, at);
  return true;
}
