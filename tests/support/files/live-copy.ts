/** Copies of folders in which a run is working. */

import { accessSync, constants, cpSync, lstatSync } from 'node:fs';

/**
 * Copies a folder with the times of its files. Leaves out what a plain user cannot copy: sockets (nobody answers at those of a
 * killed run), programs that may be executed but not read, and closed folders.
 */
export function copyLive(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, filter: isCopyable });
}

function isCopyable(path: string): boolean {
  const at = lstatSync(path);
  if (at.isSocket()) return false;
  if (!at.isFile() && !at.isDirectory()) return true;
  try {
    accessSync(path, at.isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
