/**
 * Files of the user's repository and configuration, which may be missing and otherwise must be regular files of a sensible
 * size.
 */

import { chmodSync, closeSync, copyFileSync, statSync } from 'node:fs';
import { UnusableFile } from '../domain/errors/thrown.ts';
import {
  type FileReadFailure,
  openRegularFile,
  type Reading,
  readRegularFile,
} from '../files/regular-file.ts';

/** Enough for the index and packed refs of a million files; git keeps them in memory. */
export const MAX_INDEX_BYTES = 1024 ** 3;

/** For rules and configuration. */
export const MAX_RULES_BYTES = 16 * 1024 * 1024;

/** For a ref, HEAD or a pointer to a folder. */
export const MAX_POINTER_BYTES = 1024 * 1024;

/** The text of a file, or null. A link is followed only if `follow` says so. Throws `UnusableFile`. */
export function textOfFile(path: string, reading: Reading = {}): string | null {
  const read = readRegularFile(path, MAX_POINTER_BYTES, reading);
  if (read.status === 'ok') return read.bytes.toString('utf8');
  return absent(path, read);
}

/** Copies a file, and returns whether it existed. A link is followed only if `follow` says so. Throws `UnusableFile`. */
export function copyIfThere(
  from: string,
  to: string,
  { maxBytes = MAX_RULES_BYTES, follow = false }: Reading & { readonly maxBytes?: number } = {},
): boolean {
  const opened = openRegularFile(from, { follow });
  if (opened.status === 'failed') return absent(from, opened) !== null;
  try {
    if (opened.bytes > maxBytes) throw new UnusableFile(from, 'is too large for a file of its kind');
    copyFileSync(`/proc/self/fd/${opened.file}`, to);
    chmodSync(to, 0o644);
    return true;
  } finally {
    closeSync(opened.file);
  }
}

/** A device such as /dev/null, configured in order to have no rules. */
export function isNullDevice(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.rdev === statSync('/dev/null').rdev;
}

function absent(path: string, { missing, why }: FileReadFailure): null {
  if (missing) return null;
  throw new UnusableFile(path, why);
}
