/** Line arithmetic. Lines end with `\n` and count from 1; what follows the last `\n` is a line only if it is not empty. */

import type { Excerpt } from '../../domain/conversation/excerpt.ts';

/** Lines of a text, counted from 1, both ends included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** Number of lines in a text; what follows the last line ending counts as one. */
export function countLines(text: string): number {
  return countNewlines(text) + (text === '' || text.endsWith('\n') ? 0 : 1);
}

/** Number of line endings in a text. */
export function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Index at which line `line` starts; the text's length when it has fewer lines. */
export function startOfLine(text: string, line: number): number {
  let start = 0;
  for (let current = 1; current < line; current += 1) {
    const newline = text.indexOf('\n', start);
    if (newline === -1) return text.length;
    start = newline + 1;
  }
  return start;
}

/** Number of the line that contains the character at `index`. */
export function lineAt(text: string, index: number): number {
  return countNewlines(text.slice(0, index)) + 1;
}

/**
 * The lines that truncation left out or showed only in part; `text` has the lines of `range`, and `shown` is what remained. Null
 * if nothing is missing.
 */
export function missingLines(text: string, range: LineRange, shown: Excerpt): LineRange | null {
  if (shown.omitted === 0) return null;
  const from = range.from + countNewlines(shown.head);
  const tailStartsLine = text.endsWith(`\n${shown.tail}`);
  const to = Math.min(range.to, range.to - countLines(shown.tail) + (tailStartsLine ? 0 : 1));
  return { from: Math.min(from, range.to), to: Math.max(to, from) };
}
