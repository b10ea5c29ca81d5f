/** The failures of an operation on one file, as values with a message for the model. */

import type { FailureReason } from '../domain/conversation/tool.ts';

/** Why a file could not be read or written, for the model. */
export interface FileFailure {
  readonly status: 'failed';
  readonly reason: FailureReason;
  readonly message: string;
}

/** A failure with its class and its message. */
export function fileFailure(reason: FailureReason, message: string): FileFailure {
  return { status: 'failed', reason, message };
}

/** True for an operating system error with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** What the work returns; null if the system refuses it, for whatever reason. */
export function orNone<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

/** Errors that are explained by the state of the machine or the tree. */
const CAUSES: Readonly<Record<string, readonly [FailureReason, string]>> = {
  EACCES: ['path_refused', 'permission denied'],
  EPERM: ['path_refused', 'operation not permitted'],
  EROFS: ['path_refused', 'the file system is read-only'],
  EISDIR: ['path_refused', 'a folder has taken its place'],
  ENOTEMPTY: ['path_refused', 'a folder has taken its place'],
  ELOOP: ['path_refused', 'a link has taken its place'],
  ENXIO: ['path_refused', 'it is a device or a socket'],
  ENAMETOOLONG: ['path_refused', 'the name is too long for the file system'],
  EINVAL: ['path_refused', 'the file system does not allow this name'],
  EILSEQ: ['path_refused', 'the file system does not allow this name'],
  EAGAIN: ['path_refused', 'a program has it for itself (a lease)'],
  ETXTBSY: ['path_refused', 'the program is running'],
  ENOENT: ['not_found', 'its folder has just been removed'],
  ENOTDIR: ['not_found', 'its folder has just been replaced'],
  ENOSPC: ['too_large', 'no space is left on the disk'],
  EDQUOT: ['too_large', 'the disk quota is used up'],
  EFBIG: ['too_large', 'the file would be larger than the system allows'],
  EMFILE: ['crashed', 'too many files are open'],
  ENFILE: ['crashed', 'too many files are open on this machine'],
  EIO: ['crashed', 'the disk reports an input/output error'],
};

/** The failure for an operating system error; any other error is rethrown. */
export function ioFailure(error: unknown, path: string, done: 'read' | 'written' | 'entered'): FileFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const cause = CAUSES[code];
  if (!cause) throw error;
  return fileFailure(cause[0], `${JSON.stringify(path)} cannot be ${done}: ${cause[1]} (${code}).`);
}
