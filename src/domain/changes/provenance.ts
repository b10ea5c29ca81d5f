/** Which changes made which part of the patch, as written to `result.json`. */

import * as z from 'zod';
import type { ChangedFile, ChangeSource } from './change.ts';
import type { PatchHunk } from './patch-text.ts';

/** One change: by tool calls of the model in a turn, or by something else after that many turns. */
export const Origin = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('tool'),
    tool: z.string(),
    calls: z.array(z.string()).describe('Ids of the calls; several when commands ran side by side'),
    iteration: z.int(),
  }),
  z.strictObject({ by: z.enum(['setup', 'verify', 'outside']), iteration: z.int() }),
]);
export type Origin = z.infer<typeof Origin>;

/** A hunk of the patch; the numbers are those of its header. */
const HunkProvenance = z.strictObject({
  oldStart: z.int(),
  oldLines: z.int(),
  newStart: z.int(),
  newLines: z.int(),
  sources: z.array(Origin),
});

/** The changes that made a file of the patch, hunk by hunk. */
export const FileProvenance = z.strictObject({
  path: z.string(),
  from: z.string().optional().describe('The old path of a rename'),
  sources: z
    .array(Origin)
    .describe('Every change of this file in order: contents, modes, renames, its creation and its end'),
  hunks: z.array(HunkProvenance).nullable().describe('null for a binary file, and where `cut` says so'),
  cut: z
    .string()
    .nullable()
    .describe('Why hunks are missing or name all changes of the file; null otherwise'),
});
export type FileProvenance = z.infer<typeof FileProvenance>;

/** The changes that made the patch, as in `result.json`. */
export const Provenance = z.strictObject({
  files: z.array(FileProvenance),
  filesLeftOut: z.int().describe('Files beyond the first 1,000; patchsmith blame shows them'),
});
export type Provenance = z.infer<typeof Provenance>;

/** The origin given by a change's source and iteration. */
export function originOf(source: ChangeSource, iteration: number): Origin {
  return source.by === 'tool'
    ? { by: 'tool', tool: source.tool, calls: source.calls, iteration }
    : { by: source.by, iteration };
}

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
}

/** Commits of a history, by their places in it. */
export interface Makers {
  /** All that changed the file. */
  readonly all: ReadonlySet<number>;
  /** The one that made a line; null if it is not known. Null in its place: lines are not followed. */
  readonly of: ((line: ChangedLine) => number | null) | null;
  readonly originOf: (commit: number) => Origin | null;
}

/** Every changed line names at least one change, provided the file has a history. */
export function attribute({ file, hunks }: PatchedFile, { all, of, originOf }: Makers): AttributedFile {
  const named = (commits: ReadonlySet<number>) =>
    [...commits].sort((a, b) => a - b).flatMap((commit) => originOf(commit) ?? []);
  const found = new Set(all);
  const attributed = hunks?.map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    const made = changedLines({ oldStart, newStart, lines }).map((line) => ({
      line,
      by: of?.(line) ?? null,
    }));
    const makers = new Set(made.flatMap(({ by }) => by ?? []));
    for (const maker of makers) found.add(maker);
    // A line that the patch marks although no commit made it: lines around it were moved past it, or the whole file was moved.
    const around = makers.size > 0 && file.kind !== 'create' ? makers : all;
    const ofAll = named(around);
    const ofOne = new Map([...makers].map((maker) => [maker, named(new Set([maker]))]));
    const isAllKnown = made.every(({ by }) => by !== null);
    return {
      ...{ oldStart, oldLines, newStart, newLines },
      lines: made.map(({ line, by }) => ({
        ...line,
        sources: (by === null ? null : ofOne.get(by)) ?? ofAll,
      })),
      sources: named(isAllKnown ? makers : new Set([...makers, ...around])),
    };
  });
  return { file, sources: named(found), hunks: attributed ?? null };
}

/** A line that the patch removes or adds. */
export type ChangedLine = Omit<AttributedLine, 'sources'>;

function changedLines({ oldStart, newStart, lines }: Pick<PatchHunk, 'oldStart' | 'newStart' | 'lines'>) {
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
