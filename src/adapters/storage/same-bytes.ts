/** Compares a file with bytes. */

import { existsSync, readFileSync } from 'node:fs';

/** `bytes` null stands for a file that is not there. */
export function sameBytes(path: string, bytes: Uint8Array | null): boolean {
  if (bytes === null || !existsSync(path)) return bytes === null && !existsSync(path);
  return readFileSync(path).equals(bytes);
}
