/** Reads files of the work tree so that exactly the examined file is read. */

import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { type FileStat, fileStat, invisible } from './stat.ts';
import { checkTime } from './time-limit.ts';
import { O_PATH, type TreeView, viewing } from './tree-view.ts';

/** A regular file that is open for reading. The opener closes it. */
export interface OpenedFile {
  readonly descriptor: number;
  readonly stat: FileStat;
}

/** An open file, or why there is none. */
export type FileOpening =
  | { status: 'open'; file: OpenedFile }
  | { status: 'absent' }
  | { status: 'unreadable' };

/** Opens a regular file: the very inode that was examined, and no device or pipe. A link anywhere in the path counts as absent. */
export function openRegularIn(view: TreeView, path: string): FileOpening {
  let place: number | null = null;
  try {
    place = openSync(view.place(path), O_PATH | constants.O_NOFOLLOW);
    if (!fstatSync(place).isFile()) return { status: 'absent' };
    const descriptor = openSync(`/proc/self/fd/${place}`, constants.O_RDONLY | constants.O_NONBLOCK);
    return { status: 'open', file: { descriptor, stat: statNow({ descriptor }) } };
  } catch (error) {
    return { status: invisible(error) };
  } finally {
    if (place !== null) closeSync(place);
  }
}

/** As `openRegularIn`, for one file below `root`. */
export function openRegular(root: string, path: string): FileOpening {
  return viewing(root, (view) => openRegularIn(view, path));
}

/** All bytes from the start; `size` is only an estimate, since the file may have grown or shrunk. */
export function readWhole({ descriptor, stat }: OpenedFile): Buffer {
  return readUpTo(descriptor, stat.size, Number.POSITIVE_INFINITY) ?? Buffer.alloc(0);
}

/** All bytes from the start, of which some are expected; null if there are more than `most`. */
export function readUpTo(descriptor: number, expected: number, most: number): Buffer | null {
  if (expected > most) return null;
  let bytes = Buffer.allocUnsafe(expected + 1);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length);
    if (read === 0) return bytes.subarray(0, length);
    length += read;
    if (length > most) return null;
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(bytes.length)]);
  }
}

/** The first `stat.size` bytes in chunks, for as long as there is time. Leaves the file open. */
export async function* chunksOf({ descriptor, stat }: OpenedFile): AsyncGenerator<Buffer> {
  if (stat.size === 0) return;
  const chunks: AsyncIterable<Buffer> = createReadStream('', {
    fd: descriptor,
    autoClose: false,
    start: 0,
    end: stat.size - 1,
    highWaterMark: 1 << 20,
  });
  for await (const chunk of chunks) {
    checkTime();
    yield chunk;
  }
}

/** The current stat of the open file, to compare with the earlier one. */
export function statNow({ descriptor }: Pick<OpenedFile, 'descriptor'>): FileStat {
  return fileStat(fstatSync(descriptor, { bigint: true }));
}
