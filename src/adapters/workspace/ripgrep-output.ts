/** Reads what ripgrep prints: `path NUL line:text` a line, and a notice for each file that turned out to be binary. */

import type { SearchMatch } from '../../ports.ts';

/** Characters of a matching line that are kept, and bytes that hold at least as many. */
const MAX_TEXT_CHARS = 500;
const MAX_TEXT_BYTES = 2_000;
/** A path and the notices before it cannot be longer than this unless something else is being printed. */
const MAX_HEAD_BYTES = 64 * 1024;

const NUL = 0;
const NEWLINE = 10;

/**
 * Collects matches until there are `max` of them (`full`) or the output ends. Matches in a file that proves to be binary
 * are taken back. Memory is bounded whatever is printed: of a long line only the start is kept.
 */
export async function readMatches(
  output: AsyncIterable<Buffer>,
  max: number,
): Promise<{ matches: SearchMatch[]; full: boolean }> {
  let matches: SearchMatch[] = [];
  let head = Buffer.alloc(0);
  let path: string | null = null;
  for await (const chunk of output) {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(path === null ? nextInHead(chunk, at) : NEWLINE, at);
      const piece = chunk.subarray(at, end === -1 ? chunk.length : end + 1);
      at += piece.length;
      head = Buffer.concat([
        head,
        piece.subarray(0, (path === null ? MAX_HEAD_BYTES : MAX_TEXT_BYTES) - head.length),
      ]);
      if (end === -1) continue;
      if (path !== null) {
        matches.push(matchOf(path, head));
        if (matches.length >= max) return { matches, full: true };
        path = null;
      } else if (chunk[end] === NUL) {
        path = pathOf(head.toString('utf8', 0, head.length - 1));
      } else {
        const binary = BINARY.exec(head.toString('utf8'))?.[1];
        // A line end inside a file name; the rest of the name follows.
        if (binary === undefined) continue;
        matches = matches.filter((match) => match.path !== binary);
      }
      head = Buffer.alloc(0);
    }
  }
  return { matches, full: false };
}

const BINARY = /^\.\/(.*): binary file matches \(found "\\0" byte around offset \d+\)\n$/s;

/** What ends the piece that starts at `at`, before a path is complete: its NUL, or a line end that comes first. */
function nextInHead(chunk: Buffer, at: number): number {
  const nul = chunk.indexOf(NUL, at);
  const newline = chunk.indexOf(NEWLINE, at);
  return newline !== -1 && (nul === -1 || newline < nul) ? NEWLINE : NUL;
}

function pathOf(printed: string): string {
  return printed.replace(/^\.\//, '');
}

function matchOf(path: string, line: Buffer): SearchMatch {
  const printed = line.toString('utf8');
  const colon = printed.indexOf(':');
  const text = printed.slice(colon + 1).replace(/\r?\n$/, '');
  return {
    path,
    line: Number(printed.slice(0, colon)),
    text: text.slice(0, MAX_TEXT_CHARS).replace(/[\ud800-\udbff]$/, ''),
  };
}
