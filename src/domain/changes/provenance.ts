/** Which changes made which part of the patch, as written to `result.json`. */

import * as z from 'zod';
import type { ChangeSource } from './change.ts';

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
