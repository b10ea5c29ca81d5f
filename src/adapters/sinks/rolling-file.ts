/** A log that many runs write, one after another or in parallel: it rotates at 10 MB, and three old files are kept. */

import { appendFileSync, renameSync, statSync } from 'node:fs';
import { hasCode } from '../../files/failures.ts';

const MAX_BYTES = 10_000_000;
const KEPT = 3;

/**
 * Appends a line, with its end. The file is not kept open between two lines, so that runs of one process can share it
 * without knowing each other. What cannot be written, for example because the disk is full, is missing and stops
 * nothing.
 */
export function appendRolling(path: string, line: string, maxBytes = MAX_BYTES): void {
  try {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > 0 && bytes + Buffer.byteLength(line) > maxBytes) roll(path);
    appendFileSync(path, line, { mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** `log` becomes `log.1`, and so on; `log.3` is dropped. */
function roll(path: string): void {
  for (let number = KEPT; number >= 1; number -= 1) {
    try {
      renameSync(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
}
