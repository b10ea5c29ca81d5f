/** How many files the process may have open, looked at before anything is begun. */

import { readFileSync } from 'node:fs';

/** Sixteen commands side by side, the journal, the model's connection and git need some hundred. */
const LEAST_OPEN_FILES = 128;

/** Why the process cannot work within its limit; null when it can, and where no limit is told. */
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
