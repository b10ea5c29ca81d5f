/** Finds the changes that made each line of the final patch, from the history of its files. */

import type { ChangedFile } from './changed-file.ts';
import { type LineHistory, lineKey, type TracedFile } from './line-history.ts';
import type { PatchHunk } from './patch-text.ts';
import type { Origin } from './provenance.ts';

/** A changed file and its hunks in the patch; `hunks` is null for a binary file. */
export interface PatchedFile {
  readonly file: ChangedFile;
  readonly hunks: readonly PatchHunk[] | null;
}

/** `at` counts from 1 in the old file for `-`, in the new one for `+`. */
export interface AttributedLine {
  readonly sign: '+' | '-';
  readonly at: number;
  readonly text: string;
  readonly sources: readonly Origin[];
}

/** A hunk of the patch with the changes that made each of its lines. */
export interface AttributedHunk extends Omit<PatchHunk, 'lines'> {
  readonly lines: readonly AttributedLine[];
  readonly sources: readonly Origin[];
}

/** A file of the patch with the changes that made its hunks. */
export interface AttributedFile {
  readonly file: ChangedFile;
  readonly sources: readonly Origin[];
  readonly hunks: readonly AttributedHunk[] | null;
  /** Some content along the way could not be followed, so lines may name too many changes. */
  readonly blurred: boolean;
}

/** Every changed line names at least one change, provided the file has a history. */
export function attribute({ file, hunks }: PatchedFile, history: LineHistory): AttributedFile {
  const now = history.file(file.path);
  const was = history.file(file.from ?? file.path);
  const origins = new Set([...(was?.origins ?? []), ...(now?.origins ?? [])]);
  const named = (places: Iterable<number>) =>
    [...new Set(places)].sort((a, b) => a - b).flatMap((place) => history.origins[place] ?? []);
  const attributed = hunks?.map((hunk) => {
    const lines = changedLines(hunk).map((line) => ({
      ...line,
      by: makersOf(line, file, { now, was }, history),
    }));
    const makers = new Set(lines.flatMap(({ by }) => [...by]));
    // A line that git's diff marks but no single change made: lines around it were moved past it.
    const around = makers.size > 0 ? makers : origins;
    return {
      oldStart: hunk.oldStart,
      oldLines: hunk.oldLines,
      newStart: hunk.newStart,
      newLines: hunk.newLines,
      lines: lines.map(({ by, ...line }) => ({ ...line, sources: named(by.size > 0 ? by : around) })),
      sources: named(around),
    };
  });
  return {
    file,
    sources: named(origins),
    hunks: attributed ?? null,
    blurred: now?.blurred === true || was?.blurred === true,
  };
}

type ChangedLine = Omit<AttributedLine, 'sources'>;

function changedLines({ oldStart, newStart, lines }: PatchHunk): ChangedLine[] {
  const changed: ChangedLine[] = [];
  let old = oldStart;
  let now = newStart;
  for (const line of lines) {
    const [sign] = line;
    if (sign === '-') changed.push({ sign, at: old, text: line.slice(1) });
    else if (sign === '+') changed.push({ sign, at: now, text: line.slice(1) });
    if (sign === '-' || sign === ' ') old += 1;
    if (sign === '+' || sign === ' ') now += 1;
  }
  return changed;
}

/** Empty if no change is known to have made this particular line. */
function makersOf(
  { sign, at, text }: ChangedLine,
  { path, from }: ChangedFile,
  { now, was }: { now: TracedFile | null; was: TracedFile | null },
  history: LineHistory,
): ReadonlySet<number> {
  const oldPath = from ?? path;
  if (sign === '-') {
    const removers = history.removersOf(oldPath, at - 1);
    if (removers.size > 0) return removers;
    if (was && was.goneBy.size > 0) return was.goneBy;
  } else {
    const line = now?.lines?.[at - 1];
    if (line && line.by.length > 0 && lineKey(line.text) === text) return new Set(line.by);
    if (line?.base && line.base.path !== oldPath && now) return now.movedBy;
  }
  return now?.touched.get(text) ?? was?.touched.get(text) ?? new Set();
}
