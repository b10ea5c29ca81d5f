/** Reading a file that may be missing, huge or not a file at all. */

import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import process from 'node:process';
import { figure } from '../../domain/figure.ts';

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
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW);
  try {
    if (pipes && statSync(path).isFIFO()) return await collect(pipeOf(path), maxBytes);
    const file = openSync(path, flags);
    try {
      const stat = fstatSync(file);
      if (stat.isDirectory()) return failed('is a folder');
      if (!stat.isFile()) return failed('is not a file');
      return readOpen(file, maxBytes);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? WHY[String(error.code)] : undefined;
    if (why === undefined) throw error;
    return failed(why, why === WHY.ENOENT);
  }
}

function readOpen(file: number, maxBytes: number): BytesRead {
  const bytes = Buffer.allocUnsafeSlow(maxBytes + 1);
  let size = 0;
  for (let read = -1; read !== 0 && size < bytes.length; size += read) {
    read = readSync(file, bytes, size, bytes.length - size, null);
  }
  return size > maxBytes ? tooLarge(maxBytes) : { status: 'ok', bytes: Buffer.from(bytes.subarray(0, size)) };
}

/**
 * A pipe is read by a process of its own: waiting for a writer would take a thread of this one, which then could not end.
 * A descriptor of this process (`<(command)`) is reached from there by its number here.
 */
function pipeOf(path: string): AsyncIterable<Uint8Array> {
  const reachable = path.replace(/^\/(?:dev|proc\/self)\/fd\//, `/proc/${process.pid}/fd/`);
  // PATH may name folders of the repository.
  const env = { PATH: '/usr/bin:/bin' };
  const cat = spawn('cat', ['--', reachable], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  cat.on('error', (error) => cat.stdout.destroy(error));
  // It may wait for a writer that never comes, and must not do so longer than we do.
  const end = () => cat.kill();
  process.once('exit', end);
  cat.once('exit', () => process.off('exit', end));
  return cat.stdout;
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
    if (size > maxBytes) return tooLarge(maxBytes);
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

function tooLarge(maxBytes: number): BytesRead {
  return failed(`is larger than ${figure(maxBytes)} bytes`);
}

function failed(why: string, missing = false): BytesRead {
  return { status: 'failed', missing, why };
}
