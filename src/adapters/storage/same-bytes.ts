/** Compares a file of a run with bytes. */

import { readRunFile } from './run-file.ts';

/** `bytes` null stands for a file that is not there. */
export function sameBytes(path: string, bytes: Uint8Array | null): boolean {
  const read = readRunFile(path, bytes?.length ?? 0);
  return read.status === 'ok' ? bytes !== null && read.bytes.equals(bytes) : read.missing && bytes === null;
}
