/** Parses ripgrep's output: `./N NUL line:text` per match in descriptor N, and a notice for each file that proves to be binary. */

import { firstUnits } from '../../../domain/text/shorten.ts';
import type { SearchMatch } from '../../../ports/workspace.ts';

/** Maximum characters kept of a matching line, and a number of bytes that holds at least as many. */
const MAX_TEXT_CHARS = 500;
const MAX_TEXT_BYTES = 2_000;
/** A descriptor's path, or a notice, is never longer. */
const MAX_HEAD_BYTES = 1_000;

/** A child's first descriptor after its standard streams. */
export const FIRST_DESCRIPTOR = 3;

const NUL = 0;
const NEWLINE = 10;

/**
 * Collects matches until there are `max` of them (`full`) or the output ends. Matches in a file that proves to be binary are
 * dropped. Memory is bounded whatever is printed: only the start of a long line is kept. `files` holds the paths of the
 * descriptors from `FIRST_DESCRIPTOR` on.
 */
export async function readMatches(
  output: AsyncIterable<Buffer>,
  files: readonly string[],
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
        path = pathOf(head, files);
      } else {
        const binary = pathOf(head, files);
        matches = matches.filter((match) => match.path !== binary);
      }
      head = Buffer.alloc(0);
    }
  }
  return { matches, full: false };
}

/** The end of the piece that starts at `at`, before a path is complete: its NUL, or a line ending that comes first. */
function nextInHead(chunk: Buffer, at: number): number {
  const nul = chunk.indexOf(NUL, at);
  const newline = chunk.indexOf(NEWLINE, at);
  return newline !== -1 && (nul === -1 || newline < nul) ? NEWLINE : NUL;
}

/** The path of the file whose descriptor a head starts with. */
function pathOf(head: Buffer, files: readonly string[]): string {
  const descriptor = /^\.\/(\d+)(?:\0|: binary file matches )/.exec(head.toString('latin1'))?.[1];
  const path = files[Number(descriptor) - FIRST_DESCRIPTOR];
  if (path === undefined) throw new Error(`ripgrep printed ${JSON.stringify(head.toString('latin1'))}`);
  return path;
}

function matchOf(path: string, line: Buffer): SearchMatch {
  const printed = line.toString('utf8');
  const colon = printed.indexOf(':');
  const text = printed.slice(colon + 1).replace(/\r?\n$/, '');
  return {
    path,
    line: Number(printed.slice(0, colon)),
    text: firstUnits(text, MAX_TEXT_CHARS),
  };
}
