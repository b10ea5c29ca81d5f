/** Files of a run directory, which anybody may have made: opened without following a link or waiting for anybody, and read within bounds. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { parseJson } from '../../domain/bounded-json.ts';
import { figure } from '../../domain/figure.ts';

/** `why` is for people and follows the name of the file. */
export type RunFileRead = { status: 'ok'; bytes: Buffer } | RunFileFailure;
export type RunFileFailure = { status: 'failed'; missing: boolean; why: string };

/** A result holds excerpts and lists; its largest lists are cut. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** A patch above this size is neither published nor attributed. */
export const MAX_PATCH_BYTES = 256 * 1024 * 1024;

/** Bytes that are read at once. */
const CHUNK_BYTES = 1024 * 1024;

/** Why a path could not be opened, for people; other errors are not about the path. */
const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
  ELOOP: 'is a link, and links are not followed here',
  ENAMETOOLONG: 'has too long a name',
  ENXIO: 'is not a file',
  ENODEV: 'is not a file',
};

/** All bytes of a regular file; fails above `maxBytes`. Throws what the disk throws. */
export function readRunFile(path: string, maxBytes: number): RunFileRead {
  const chunks: Buffer[] = [];
  let size = 0;
  const failure = eachChunk(path, (chunk) => {
    size += chunk.length;
    if (size > maxBytes) return false;
    chunks.push(Buffer.from(chunk));
    return true;
  });
  if (failure !== null) return failure;
  if (size > maxBytes) return failed(`is larger than ${figure(maxBytes)} bytes`);
  return { status: 'ok', bytes: Buffer.concat(chunks) };
}

/**
 * Hands out the bytes of a regular file piece by piece; a piece is valid until the next. `take` says whether it wants more.
 * Null when the file could be read.
 */
export function eachChunk(path: string, take: (chunk: Buffer) => boolean): RunFileFailure | null {
  let file: number;
  try {
    file = openSync(path, READING);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? WHY[String(error.code)] : undefined;
    if (why === undefined) throw error;
    return failed(why, why === WHY.ENOENT);
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return failed(stat.isDirectory() ? 'is a folder' : 'is not a file');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const read = readSync(file, chunk, 0, chunk.length, null);
      if (read === 0 || !take(chunk.subarray(0, read))) return null;
    }
  } finally {
    closeSync(file);
  }
}

/** Null for what is no JSON, or more of it than a result holds. */
export function jsonOf(bytes: Buffer): unknown {
  const parsed = parseJson(bytes.toString('utf8'), { values: MAX_RESULT_VALUES });
  return parsed.status === 'ok' ? parsed.value : null;
}

const MAX_RESULT_VALUES = 4_000_000;

/** A pipe without a writer would keep whoever opens it waiting, deaf to signals. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

function failed(why: string, missing = false): RunFileFailure {
  return { status: 'failed', missing, why };
}
