/** A conflict of a pull request with its base: which ones a model can resolve, how it sees them, and what resolved is. */

import { shortened } from '../text/shorten.ts';

/** A file of one side. */
export interface ConflictSide {
  readonly mode: string;
  readonly blob: string;
}

/** A path that git cannot merge; a side is null if it has no such file. */
export interface Conflict {
  readonly path: string;
  /** What both sides began from. */
  readonly before: ConflictSide | null;
  readonly ours: ConflictSide | null;
  readonly theirs: ConflictSide | null;
}

/** The names of the sides in the markers. */
export const SIDES = { ours: 'pull-request', theirs: 'base' } as const;

/** `lines`: both sides stand between markers. The others: one side has deleted what the other has changed. */
export type ConflictKind = 'lines' | 'deleted in the base' | 'deleted in the pull request';

/**
 * `merged` is git's result for the path; null if there is none. Null for conflicts that cannot be resolved as text: binary files,
 * links, submodules, and files that have been moved to different places.
 */
export function conflictKind({ ours, theirs }: Conflict, merged: Uint8Array | null): ConflictKind | null {
  const sides = [ours, theirs].flatMap((side) => side ?? []);
  if (sides.some(({ mode }) => !mode.startsWith('100')) || merged === null || isBinary(merged)) return null;
  if (ours !== null && theirs !== null) return hasMarkers(textOf(merged)) ? 'lines' : null;
  if (sides.length === 0) return null;
  return theirs === null ? 'deleted in the base' : 'deleted in the pull request';
}

/** Whether a conflict of such a merge is still in the text. */
export function hasMarkers(text: string): boolean {
  return new RegExp(MARKER, 'm').test(text);
}

/** Extended regular expression for grep, and for JavaScript. */
const MARKER = `^(<{7} ${SIDES.ours}|>{7} ${SIDES.theirs})`;

/** A command that fails as long as one of the files has a conflict in it, and prints where. */
export function markerCheck(paths: readonly string[]): string {
  const names = paths.map((path) => `'${path.replaceAll("'", "'\\''")}'`).join(' ');
  return `for file in ${names}; do ! grep -nHE '${MARKER}' -- "$file" || exit 1; done`;
}

/** Lines around a conflict that are shown with it. */
const AROUND = 3;

/** The parts of a text between markers, with the lines around them and the number of the first; at most `most` characters. */
export function conflictHunks(text: string, most: number): string {
  const lines = text.split('\n');
  const hunks: { from: number; to: number }[] = [];
  let from = 0;
  lines.forEach((line, at) => {
    if (line.startsWith(`<<<<<<< ${SIDES.ours}`)) from = Math.max(0, at - AROUND);
    if (!line.startsWith(`>>>>>>> ${SIDES.theirs}`)) return;
    const last = hunks.at(-1);
    const to = Math.min(lines.length, at + 1 + AROUND);
    if (last !== undefined && last.to >= from) last.to = to;
    else hunks.push({ from, to });
  });
  const places = hunks.map((hunk) => `line ${hunk.from + 1}:\n${lines.slice(hunk.from, hunk.to).join('\n')}`);
  return shortened(places.join('\n\n'), most);
}

/** Markers are ASCII, so bytes that are not UTF-8 do not matter. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** By git's own rule: a NUL among the first bytes. */
function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8_000).includes(0);
}
