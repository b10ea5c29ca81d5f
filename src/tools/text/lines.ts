/** Line arithmetic, and what is said of a file that is no text. Lines end with `\n` and count from 1; what follows the last `\n` is a line only if it is not empty. */

import type { Excerpt } from '../../domain/conversation/excerpt.ts';
import { shellWord } from '../../domain/shell-word.ts';
import { formatNumber } from '../../domain/text/words.ts';
import { literalCall } from '../result.ts';

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

/** `bytes` are not UTF-8 or contain a NUL. The answer names kind, size, first bytes and, for text, a way to view it. */
export function describeNotText(path: string, bytes: Uint8Array): string {
  const { kind, encoding } = kindOf(bytes);
  const first = Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const what = `${JSON.stringify(path)} is ${kind}, not UTF-8 text: ${formatNumber(bytes.length)} bytes, first bytes ${first}.`;
  if (encoding === null) return what;
  const command = `iconv -f ${encoding} -t UTF-8 ${shellWord(`./${path}`)}`;
  return `${what} Next: ${literalCall('run_command', { command })}`;
}

function kindOf(bytes: Uint8Array): { kind: string; encoding: string | null } {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return { kind: 'UTF-16 text (little endian)', encoding: 'UTF-16' };
  if (first === 0xfe && second === 0xff) return { kind: 'UTF-16 text (big endian)', encoding: 'UTF-16' };
  return bytes.includes(0)
    ? { kind: 'binary data', encoding: null }
    : { kind: 'Latin-1 or other non-UTF-8 text', encoding: 'LATIN1' };
}
