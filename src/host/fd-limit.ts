/** Checks how many files the process may have open, before anything is started. */

import { readFileSync } from 'node:fs';

/** Sixteen parallel commands, each with its pipes, the journal, the model's connection and git need up to two hundred. */
const LEAST_OPEN_FILES = 256;

/** Why the process cannot work within its limit; null if it can, or if the limit is unknown. */
export function checkFdLimit(): string | null {
  const limit = /^Max open files +(\d+)/m.exec(readLimits())?.[1];
  if (limit === undefined || Number(limit) >= LEAST_OPEN_FILES) return null;
  return `A process may have only ${limit} files open here, and ${LEAST_OPEN_FILES} are needed. Raise the limit with ulimit -n.`;
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}
