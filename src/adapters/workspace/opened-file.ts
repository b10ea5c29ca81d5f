/** Reads files of the work tree so that what was read is what was looked at. */

import {
  type BigIntStats,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { checkTime } from './time-limit.ts';
import { absolutePath, type FileStat, fileStat, invisible } from './work-tree.ts';

/** A regular file that is open for reading. Whoever opened it closes it. */
export interface OpenedFile {
  readonly descriptor: number;
  readonly stat: FileStat;
}

export type Opening = { status: 'open'; file: OpenedFile } | { status: 'absent' } | { status: 'unreadable' };

/** Opens a regular file. A link in any place of the path counts as absent: the file behind it is not the one meant. */
export function openRegular(root: string, path: string): Opening {
  const absolute = absolutePath(root, path);
  let descriptor: number;
  try {
    descriptor = openSync(
      absolute,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ELOOP' || error.code === 'ENXIO'))
      return { status: 'absent' };
    return { status: invisible(error) };
  }
  const stats = fstatSync(descriptor, { bigint: true });
  const opened = readlinkSync(`/proc/self/fd/${descriptor}`, { encoding: 'buffer' });
  if (!stats.isFile() || !opened.equals(Buffer.from(absolute))) {
    closeSync(descriptor);
    return { status: 'absent' };
  }
  return { status: 'open', file: { descriptor, stat: fileStat(stats) } };
}

/** All bytes from the start; `size` is a guess, the file may have grown or shrunk since. */
export function readWhole({ descriptor, stat }: OpenedFile): Buffer {
  let bytes = Buffer.allocUnsafe(stat.size + 1);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length);
    if (read === 0) return bytes.subarray(0, length);
    length += read;
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(bytes.length)]);
  }
}

/** The first `stat.size` bytes in chunks, as long as there is time. Leaves the file open. */
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

/** What the open file is now, to be compared with what it was. */
export function statNow({ descriptor }: OpenedFile): FileStat {
  const stats: BigIntStats = fstatSync(descriptor, { bigint: true });
  return fileStat(stats);
}
