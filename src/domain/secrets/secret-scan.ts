/** Finds secrets in what a patch adds. */

import * as z from 'zod';
import { tokensIn } from './token-formats.ts';

/** `line` counts from 1 in the new file; 0 means the file's name. The value itself is never reported. */
export const FoundSecret = z.strictObject({
  path: z.string(),
  line: z.int().nonnegative(),
  what: z.string().describe('The kind of token, or that a known value was found'),
});
export type FoundSecret = z.infer<typeof FoundSecret>;

/** A file before and after, for finding what was added. */
export interface AddedText {
  readonly path: string;
  /** The contents as text, whatever they are; empty if there was no file. */
  readonly before: string;
  readonly after: string;
}

/** Returns where known secret values begin in a text, in any form that is known. */
export type FindKnown = (text: string) => readonly number[];

/** Maximum number of findings kept per file; one is enough to withhold the patch. */
const MAX_FOUND = 1_000;

/** Maximum characters of both texts together up to which they are split into lines: each line is an object. */
const MAX_TAKEN_APART = 512 * 1024;

/**
 * Examines lines that the file did not have before: lines that were only moved are not new. At most one finding per line and
 * kind, and 1,000 in all. In a large file, a secret that spans several lines is found only if they are consecutive.
 */
export function addedSecrets({ path, before, after }: AddedText, findKnown: FindKnown): FoundSecret[] {
  const isSmall = before.length + after.length <= MAX_TAKEN_APART;
  const inLines = isSmall ? inAddedLines(before, after, findKnown) : inLargeText(before, after, findKnown);
  const inName = secretsIn(path, findKnown).map(({ what }) => ({ line: 0, what }));
  const all = new Map([...inName, ...inLines].map((one) => [`${one.line} ${one.what}`, one]));
  const found = [...all.values()].sort((a, b) => a.line - b.line).slice(0, MAX_FOUND);
  return found.map((one) => ({ path, ...one }));
}

type InLine = Pick<FoundSecret, 'line' | 'what'>;

function inAddedLines(before: string, after: string, findKnown: FindKnown): InLine[] {
  const added = addedLines(before, after);
  const found = secretsInLines(added, findKnown);
  if (!after.includes('\0')) return found;
  // Text with two bytes per character is searched too.
  const narrow = added.map(({ text, number }) => ({ text: text.replaceAll('\0', ''), number }));
  return [...found, ...secretsInLines(narrow, findKnown)];
}

/** In chunks; only the lines with a finding are compared with those before. */
function inLargeText(before: string, after: string, findKnown: FindKnown): InLine[] {
  const found = secretsInPieces(after, (text) => secretsIn(text, findKnown), MAX_FOUND);
  const texts = new Set(found.map(({ text }) => text));
  const had = timesOfLines(before, texts);
  const nth = new Map<string, number>();
  let line = 0;
  const added = found.flatMap((one) => {
    // A line counts once, however many findings it has.
    if (one.line !== line) nth.set(one.text, (nth.get(one.text) ?? 0) + 1);
    line = one.line;
    return (nth.get(one.text) ?? 0) > (had.get(one.text) ?? 0) ? [{ line: one.line, what: one.what }] : [];
  });
  // The rest has not been examined.
  return found.length < MAX_FOUND ? added : [...added, { line: 0, what: TOO_MANY }];
}

const TOO_MANY = 'has too many places that look like secrets';

interface NumberedLine {
  readonly text: string;
  readonly number: number;
}

/** Searches all lines together, since an encoded secret can span several. */
function secretsInLines(
  lines: readonly NumberedLine[],
  findKnown: FindKnown,
): { line: number; what: string }[] {
  const starts: number[] = [];
  let at = 0;
  for (const { text } of lines) {
    starts.push(at);
    at += text.length + 1;
  }
  const text = lines.map((line) => line.text).join('\n');
  return secretsIn(text, findKnown).map(({ index, what }) => ({
    line: lines[lastAtMost(starts, index)]?.number ?? 1,
    what,
  }));
}

function secretsIn(text: string, findKnown: FindKnown): { index: number; what: string }[] {
  return [
    ...findKnown(text).map((index) => ({ index, what: 'a known secret value' })),
    ...tokensIn(text).map(({ name, index }) => ({ index, what: name })),
  ];
}

function addedLines(before: string, after: string): NumberedLine[] {
  const had = new Map<string, number>();
  for (const line of before === '' ? [] : before.split('\n')) had.set(line, (had.get(line) ?? 0) + 1);
  return after.split('\n').flatMap((text, index) => {
    const left = had.get(text) ?? 0;
    if (left > 0) had.set(text, left - 1);
    return left > 0 ? [] : [{ text, number: index + 1 }];
  });
}

/** Index of the last of the sorted numbers that is not above `limit`. */
function lastAtMost(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Number of characters examined at a time, and of those examined again with the next chunk. */
const PIECE = 256 * 1024;
const OVERLAP = 64 * 1024;

/** A line in which something was found. */
export interface FoundInLine {
  /** Counted from 1. */
  readonly line: number;
  readonly what: string;
  /** The whole line, without its line ending. */
  readonly text: string;
}

interface Hit {
  readonly index: number;
  readonly what: string;
}

/**
 * What `find` finds in chunks of the text, at most once per line and kind, in line order. Stops after `most` findings.
 * Anything longer than 64 Ki characters is found only if its beginning suffices.
 */
export function secretsInPieces(
  text: string,
  find: (piece: string) => readonly Hit[],
  most: number,
): FoundInLine[] {
  const found = new Map<string, FoundInLine>();
  let line = 1;
  for (let start = 0; start < text.length && found.size < most; ) {
    const end = Math.min(text.length, start + PIECE + OVERLAP);
    const piece = text.slice(start, end);
    // Text with two bytes per character is searched too; it has the same line endings.
    const forms = piece.includes('\0') ? [piece, piece.replaceAll('\0', '')] : [piece];
    for (const form of forms) {
      for (const one of located(find(form), form, { text, start, line })) {
        const key = `${one.line} ${one.what}`;
        if (found.size < most && !found.has(key)) found.set(key, one);
      }
    }
    const next = end === text.length ? end : start + PIECE;
    line += newlinesIn(text, start, next);
    start = next;
  }
  return [...found.values()].sort((a, b) => a.line - b.line);
}

/** Where a chunk begins in the whole text, and the number of the line in which it begins. */
interface ChunkPlace {
  readonly text: string;
  readonly start: number;
  readonly line: number;
}

/** Goes through chunk and text in parallel, line by line, so that many hits cost no more than one. */
function* located(
  hits: readonly Hit[],
  piece: string,
  { text, start, line }: ChunkPlace,
): Generator<FoundInLine> {
  if (hits.length === 0) return;
  let number = line;
  let lineStart = start === 0 ? 0 : text.lastIndexOf('\n', start - 1) + 1;
  let newline = piece.indexOf('\n');
  for (const { index, what } of [...hits].sort((a, b) => a.index - b.index)) {
    while (newline !== -1 && newline < index) {
      newline = piece.indexOf('\n', newline + 1);
      lineStart = text.indexOf('\n', lineStart) + 1;
      number += 1;
    }
    const end = text.indexOf('\n', lineStart);
    yield { line: number, what, text: text.slice(lineStart, end === -1 ? text.length : end) };
  }
}

/** How many lines of the text are equal to each of these. */
export function timesOfLines(text: string, wanted: ReadonlySet<string>): Map<string, number> {
  const times = new Map<string, number>();
  if (text === '' || wanted.size === 0) return times;
  const lengths = new Set([...wanted].map((line) => line.length));
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (lengths.has(end - start)) {
      const line = text.slice(start, end);
      if (wanted.has(line)) times.set(line, (times.get(line) ?? 0) + 1);
    }
    start = end + 1;
  }
  return times;
}

function newlinesIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
