/** One file of the final patch, as the result and the texts describe it. */

import * as z from 'zod';
import { ChangeKind } from './change.ts';

/** A file of the final patch, as git's rename detection sees it. Line counts are null for binary files. */
export const ChangedFile = z.strictObject({
  path: z.string(),
  kind: ChangeKind,
  from: z.string().optional().describe('The old path of a rename'),
  additions: z.int().nullable().describe('Lines added; null for a binary file'),
  deletions: z.int().nullable().describe('Lines removed; null for a binary file'),
});
export type ChangedFile = z.infer<typeof ChangedFile>;
