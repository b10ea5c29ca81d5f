/** The findings of a check, for people. */

import type { CheckLine } from '../domain/check-report.ts';
import { wrapped } from '../domain/text/terminal.ts';

/** The page: a line for each finding, and below it what to do. */
export function pageOf(lines: readonly CheckLine[]): string[] {
  const marks = { ok: 'ok', note: 'note', failed: 'FAILED', skipped: '-' };
  return lines.flatMap(({ part, status, code, said, fix }) => [
    `${marks[status].padEnd(6)}  ${part.padEnd(10)}  ${code === null ? '' : `[${code}] `}${said}`,
    ...(fix === null ? [] : [`${' '.repeat(TEXT)}fix: ${fix}`]),
  ]);
}

/** The column in which findings begin. */
const TEXT = 20;

/** A line of the page as a terminal shows it. */
export function inTerminal(line: string, columns: number): string {
  const isFix = line.startsWith(`${' '.repeat(TEXT)}fix: `);
  return wrapped(line, columns, TEXT + (isFix ? 'fix: '.length : 0));
}
