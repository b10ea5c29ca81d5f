/**
 * Regular files that someone else may have created: opened without blocking, and read within bounds. Opening a pipe without a
 * writer would block and ignore signals, and a device may have no end.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { formatNumber } from '../domain/text/format-number.ts';
import { checkTime } from './time-limit.ts';

/** `why` is for people and follows the name of the file. */
export type RegularFileRead = { status: 'ok'; bytes: Buffer } | FileReadFailure;
/** Why a regular file could not be read. */
export type FileReadFailure = { status: 'failed'; missing: boolean; why: string };

/** How to read a file. */
export interface Reading {
  /** Whether to follow a link. Default: false. */
  readonly follow?: boolean;
}

/** Bytes read at a time. */
const CHUNK_BYTES = 1024 * 1024;

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
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) return false;
    chunks.push(Buffer.from(chunk));
    return true;
  };
  const failure = eachChunk(path, take, reading);
  if (failure !== null) return failure;
  if (size > maxBytes) return failedRead(`is larger than ${formatNumber(maxBytes)} bytes`);
  return { status: 'ok', bytes: Buffer.concat(chunks) };
}

/**
 * Passes the bytes of a regular file to `take` in chunks; a chunk is valid until the next one. `take` returns whether it
 * wants more. Null if the file could be read.
 */
export function eachChunk(
  path: string,
  take: (chunk: Buffer) => boolean,
  reading: Reading = {},
): FileReadFailure | null {
  const opened = openRegular(path, reading);
  if (opened.status === 'failed') return opened;
  try {
    for (const chunk of chunksOf(opened)) if (!take(chunk)) break;
    return null;
  } finally {
    closeSync(opened.file);
  }
}

/** The same for contents that take their time: signals are heard after each chunk. Rejects with `CutShort` when the time is over. */
export async function eachChunkInTime(
  path: string,
  take: (chunk: Buffer) => boolean,
): Promise<FileReadFailure | null> {
  const opened = openRegular(path, {});
  if (opened.status === 'failed') return opened;
  try {
    for (const chunk of chunksOf(opened)) {
      const isWanted = take(chunk);
      await setImmediate();
      checkTime();
      if (!isWanted) break;
    }
    return null;
  } finally {
    closeSync(opened.file);
  }
}

interface OpenedRegular {
  readonly status: 'ok';
  readonly file: number;
  /** What it had when it was opened. */
  readonly bytes: number;
}

function openRegular(path: string, { follow = false }: Reading): OpenedRegular | FileReadFailure {
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

function* chunksOf({ file, bytes }: OpenedRegular): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes + 1));
  for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk))
    yield chunk.subarray(0, read);
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
