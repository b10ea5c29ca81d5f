/**
 * Line arithmetic, what is said of a file that is no text, and replacing text byte for byte, except that a `\n` in the searched text
 * also matches `\r\n`. Lines end with `\n` and count from 1; what follows the last `\n` is a line only if it is not empty.
 */

import type { Excerpt } from '../domain/conversation/excerpt.ts';
import { shellWord } from '../domain/shell-word.ts';
import { formatNumber } from '../domain/text/words.ts';
import { literalCall } from './result.ts';

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

/** Where a match is in the text: `end` is exclusive. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/**
 * All matches, overlapping ones included, up to `max`. If `find` has a bare `\n`, its line endings match `\n` and `\r\n`
 * alike, since the model writes the former even where it saw the latter; otherwise `\r\n` matches only itself.
 */
export function findMatches(text: string, find: string, max: number): Match[] {
  if (!text.includes('\r\n') || !/(?<!\r)\n/.test(find)) return exactMatches(text, find, max);
  const original = originalIndex(text);
  return exactMatches(text.replaceAll('\r\n', '\n'), find.replaceAll('\r\n', '\n'), max).map((match) => ({
    start: original(match.start),
    end: original(match.end),
  }));
}

/** The matches that do not overlap an earlier one, in the order they are replaced from the start of the text. */
export function withoutOverlaps(matches: readonly Match[]): Match[] {
  let end = 0;
  return matches.filter((match) => {
    const free = match.start >= end;
    if (free) end = match.end;
    return free;
  });
}

/** Replaces the matches and nothing else. `matches` are sorted and do not overlap. */
export function replaceMatches(text: string, matches: readonly Match[], replace: string): string {
  const pieces: string[] = [];
  let done = 0;
  for (const match of matches) {
    pieces.push(text.slice(done, match.start), withEndings(replace, text, match));
    done = match.end;
  }
  return pieces.join('') + text.slice(done);
}

/** Knuth–Morris–Pratt: `indexOf` can take minutes when text and `find` are repetitive, and cannot be interrupted. */
function exactMatches(text: string, find: string, max: number): Match[] {
  const matches: Match[] = [];
  const borders = bordersOf(find);
  let fits = 0;
  for (let at = 0; at < text.length && matches.length < max; at += 1) {
    fits = longestFit(find, borders, fits, text.charCodeAt(at));
    if (fits < find.length) continue;
    matches.push({ start: at + 1 - fits, end: at + 1 });
    fits = borders[fits - 1] ?? 0;
  }
  return matches;
}

/** For each prefix of the text, the length of its longest proper prefix that is also its suffix. */
function bordersOf(find: string): Int32Array {
  const borders = new Int32Array(find.length);
  for (let at = 1; at < find.length; at += 1) {
    borders[at] = longestFit(find, borders, borders[at - 1] ?? 0, find.charCodeAt(at));
  }
  return borders;
}

/** How many characters of `find` match after this one, if `fits` matched before it. */
function longestFit(find: string, borders: Int32Array, fits: number, unit: number): number {
  let rest = fits;
  while (rest > 0 && find.charCodeAt(rest) !== unit) rest = borders[rest - 1] ?? 0;
  return find.charCodeAt(rest) === unit ? rest + 1 : 0;
}

/**
 * Maps an index in the text with every `\r\n` replaced by `\n` to the index in the text itself; a `\r` belongs to its `\n`.
 */
function originalIndex(text: string): (flat: number) => number {
  const shortened: number[] = [];
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    shortened.push(at - shortened.length);
  }
  return (flat) => {
    let low = 0;
    let high = shortened.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((shortened[middle] ?? 0) < flat) low = middle + 1;
      else high = middle;
    }
    return flat + low;
  };
}

/**
 * The replacement with the line endings of its place: its first ending is that of the match's first line, and so on; beyond
 * the match's lines, endings follow the surrounding lines.
 */
function withEndings(replace: string, text: string, match: Match): string {
  if (!/(?<!\r)\n/.test(replace)) return replace;
  const own = text.slice(match.start, match.end).match(/\r?\n/g) ?? [];
  const rest = own.at(-1) ?? endingAround(text, match);
  let line = 0;
  return replace.replace(/\r?\n/g, (written) => {
    const ending = own[line] ?? rest;
    line += 1;
    return written === '\r\n' ? written : ending;
  });
}

function endingAround(text: string, match: Match): string {
  const after = text.indexOf('\n', match.end);
  const newline = after === -1 ? text.lastIndexOf('\n', match.start) : after;
  return newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n';
}
