/** The clock of a file system. */

import { lstatSync, utimesSync, writeFileSync } from 'node:fs';

/**
 * The time of the file system, in ns, taken from a file that is written for it. A file that is not older may change again without
 * a trace.
 */
export function fileSystemTime(file: string): bigint {
  writeFileSync(file, '');
  utimesSync(file, 0, 0);
  return lstatSync(file, { bigint: true }).ctimeNs;
}
