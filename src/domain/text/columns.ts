/** Tables for a terminal. */

import type { Redact } from '../secrets/redact.ts';
import { oneLine } from './terminal.ts';

/** A line for each row, with its cells below each other; `widest` is the longest text of each column. */
export function columns(
  rows: readonly (readonly string[])[],
  widest: readonly number[],
  redact: Redact,
): string {
  const cells = rows.map((row) => row.map((cell, at) => oneLine(redact(cell), widest[at] ?? 0)));
  const widths = widest.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
