/** Reading a file that may be missing, huge or not a file at all. */

import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';

/** `why` is for people and follows the name of the file. */
export type BytesRead = { status: 'ok'; bytes: Buffer } | { status: 'failed'; missing: boolean; why: string };

/** Why a path could not be opened, for people; other errors are not about the path. */
const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
  ELOOP: 'is a link that leads nowhere or may not be followed',
  ENAMETOOLONG: 'has too long a name',
  ENXIO: 'is not a file',
};

/**
 * All bytes of a regular file or, with `pipes`, of what a shell's `<(command)` gives; fails above `maxBytes`.
 * With `follow: false` a link is not followed.
 */
export async function readBytes(
  path: string,
  { maxBytes, pipes = false, follow = true }: { maxBytes: number; pipes?: boolean; follow?: boolean },
): Promise<BytesRead> {
  // Waiting for the writer of a pipe would take a thread of the process, which then cannot end.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW);
  try {
    const file = openSync(path, flags);
    const stat = fstatSync(file);
    // The socket closes the pipe.
    if (pipes && stat.isFIFO())
      return await collect(new Socket({ fd: file, readable: true, writable: false }), maxBytes);
    try {
      if (stat.isDirectory()) return failed('is a folder');
      if (!stat.isFile()) return failed('is not a file');
      return await collect(createReadStream(path, { fd: file, autoClose: false }), maxBytes);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? WHY[String(error.code)] : undefined;
    if (why === undefined) throw error;
    return failed(why, why === WHY.ENOENT);
  }
}

/** All bytes of a stream; stops reading and fails above `maxBytes`. */
export async function collect(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<BytesRead> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) {
      return failed(`is larger than ${maxBytes.toLocaleString('en-US')} bytes`);
    }
    chunks.push(bytes);
  }
  return { status: 'ok', bytes: Buffer.concat(chunks) };
}

/** The text of UTF-8 bytes without a byte order mark; null when they are not UTF-8 or hold a NUL. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function failed(why: string, missing = false): BytesRead {
  return { status: 'failed', missing, why };
}
