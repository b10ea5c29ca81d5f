/**
 * Files that someone else may have created, and other bytes of unknown length: opened without blocking, and read within bounds.
 * Opening a pipe without a writer would block and ignore signals, and a device may have no end.
 */

import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import process from 'node:process';
import { formatNumber } from '../domain/text/words.ts';
import { orNone } from './failures.ts';
import { readUpTo } from './opened-file.ts';

/** `why` is for people and follows the name of the file. */
export type RegularFileRead = { status: 'ok'; bytes: Buffer } | FileReadFailure;
/** Why a regular file could not be read. */
export type FileReadFailure = { status: 'failed'; missing: boolean; why: string };

/** How to read a file. */
export interface Reading {
  /** Whether to follow a link. Default: false. */
  readonly follow?: boolean;
}

/** Why a path could not be opened, for people; other errors do not concern the path. */
const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
  ENAMETOOLONG: 'has too long a name',
  ENXIO: 'is not a file',
  ENODEV: 'is not a file',
};

/** All bytes of a regular file; fails above `maxBytes`. Throws disk errors. */
export function readRegularFile(path: string, maxBytes: number, reading: Reading = {}): RegularFileRead {
  const opened = openRegularFile(path, reading);
  if (opened.status === 'failed') return opened;
  try {
    const bytes = readUpTo(opened.file, opened.bytes, maxBytes);
    return bytes === null ? largerThan(maxBytes) : { status: 'ok', bytes };
  } finally {
    closeSync(opened.file);
  }
}

/** At most the first `maxBytes` bytes of a regular file; none if it cannot be opened. Throws disk errors. */
export function readBeginning(path: string, maxBytes: number): Buffer {
  const opened = openRegularFile(path);
  if (opened.status === 'failed') return Buffer.alloc(0);
  try {
    const bytes = Buffer.allocUnsafe(Math.min(maxBytes, opened.bytes));
    return bytes.subarray(0, readSync(opened.file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(opened.file);
  }
}

/** A regular file that is open for reading. The opener closes it. */
interface OpenedRegular {
  readonly status: 'ok';
  /** Its descriptor. */
  readonly file: number;
  /** What it had when it was opened. */
  readonly bytes: number;
}

/** Opens a regular file without waiting. Throws disk errors. */
export function openRegularFile(
  path: string,
  { follow = false }: Reading = {},
): OpenedRegular | FileReadFailure {
  let file: number;
  try {
    file = openSync(path, follow ? OPENING : OPENING | constants.O_NOFOLLOW);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = code === 'ELOOP' ? linkRefused(follow) : WHY[code];
    if (why === undefined) throw error;
    return failedRead(why, why === WHY.ENOENT);
  }
  const stat = fstatSync(file);
  if (stat.isFile()) return { status: 'ok', file, bytes: stat.size };
  closeSync(file);
  return failedRead(stat.isDirectory() ? 'is a folder' : 'is not a file');
}

const OPENING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

function linkRefused(follow: boolean): string {
  return follow
    ? 'is a link that leads nowhere or may not be followed'
    : 'is a link, and links are not followed here';
}

function failedRead(why: string, missing = false): FileReadFailure {
  return { status: 'failed', missing, why };
}

/** The failure of a file of more than `maxBytes` bytes. */
export function largerThan(maxBytes: number): FileReadFailure {
  return failedRead(`is larger than ${formatNumber(maxBytes)} bytes`);
}

/** All bytes of a regular file or, with `pipes`, of what a shell's `<(command)` provides; fails above `maxBytes`. */
export async function readBytes(
  path: string,
  { maxBytes, pipes = false, follow = true }: { maxBytes: number; pipes?: boolean; follow?: boolean },
): Promise<RegularFileRead> {
  // If it cannot be examined, reading it reports why.
  if (pipes && orNone(() => statSync(path))?.isFIFO()) return collect(pipeOf(path), maxBytes);
  return readRegularFile(path, maxBytes, { follow });
}

/**
 * A pipe is read by a separate process: waiting for a writer would block a thread of this one, which then could not exit.
 * That process reaches a descriptor of this one (`<(command)`) by its number here.
 */
function pipeOf(path: string): AsyncIterable<Uint8Array> {
  const reachable = path.replace(/^\/(?:dev|proc\/self)\/fd\//, `/proc/${process.pid}/fd/`);
  // PATH may contain folders of the repository.
  const env = { PATH: '/usr/bin:/bin' };
  const cat = spawn('cat', ['--', reachable], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  cat.on('error', (error) => cat.stdout.destroy(error));
  // It may wait for a writer that never comes, and must not outlive us.
  const end = () => cat.kill();
  process.once('exit', end);
  cat.once('exit', () => process.off('exit', end));
  return cat.stdout;
}

/** All bytes of a stream; stops and fails above `maxBytes`. */
export async function collect(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<RegularFileRead> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) return largerThan(maxBytes);
    chunks.push(bytes);
  }
  return { status: 'ok', bytes: Buffer.concat(chunks) };
}

/** The text of UTF-8 bytes, without a byte order mark by default; null if they are not UTF-8 or contain a NUL. */
export function textOf(bytes: Uint8Array, { keepsMark = false } = {}): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepsMark }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** The text of at most the first `maxBytes` of a stream, which is ended there. */
export async function startOfText(
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the transfer.
  for await (const chunk of stream ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
}
