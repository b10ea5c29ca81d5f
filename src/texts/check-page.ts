/** What a check has found, for people. */

import type { CheckLine } from '../domain/check-report.ts';

/** The page: a line for each finding, and below it what to do. */
export function pageOf(lines: readonly CheckLine[]): string[] {
  const marks = { ok: 'ok', note: 'note', failed: 'FAILED', skipped: '-' };
  return lines.flatMap(({ part, status, said, fix }) => [
    `${marks[status].padEnd(6)}  ${part.padEnd(10)}  ${said}`,
    ...(fix === null ? [] : [`${' '.repeat(20)}fix: ${fix}`]),
  ]);
}
