/** Compares a file of a run with given bytes. */

import { readRegularFile } from '../../files/regular-file.ts';

/** `bytes` null means that the file is absent. */
export function sameBytes(path: string, bytes: Uint8Array | null): boolean {
  const read = readRegularFile(path, bytes?.length ?? 0);
  return read.status === 'ok' ? bytes !== null && read.bytes.equals(bytes) : read.missing && bytes === null;
}
