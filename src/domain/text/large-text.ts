/** Searches texts of many megabytes without an object for every line: a file of line endings has one per byte. */

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
