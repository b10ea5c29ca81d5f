/** Tables and long lines for a terminal. */

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

/** The line, which a terminal would break in the middle of a word, in pieces of at most `columns` characters, broken at spaces; all but the first begin with `indent` spaces. */
export function wrapped(line: string, columns: number, indent: number): string {
  const pieces: string[] = [];
  const margin = ' '.repeat(indent);
  for (let rest = line; ; ) {
    if (rest.length <= columns) return [...pieces, rest].join('\n');
    const last = rest.lastIndexOf(' ', columns);
    const end = last > indent ? last : rest.indexOf(' ', columns);
    if (end < 0) return [...pieces, rest].join('\n');
    pieces.push(rest.slice(0, end));
    rest = `${margin}${rest.slice(end + 1)}`;
  }
}
