/**
 * Regular files that someone else may have created: opened without blocking, and read within bounds. Opening a pipe without a
 * writer would block and ignore signals, and a device may have no end.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { formatNumber } from '../domain/text/format-number.ts';
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
