/** What a run may change: the fences around what the runner reads, keeps and puts into a patch. */

import * as z from 'zod';
import { DEFAULT_COMMAND_LIMITS } from './command-limits.ts';

/** Bytes are those of the files in the work tree, whatever the disk keeps of them. */
export interface ChangeLimits {
  /** Files that a run may change. */
  readonly maxChangedFiles: number;
  /** Most bytes of changed files that a run records, counting every version of a file. */
  readonly maxChangedBytes: number;
  /** One of them. */
  readonly maxChangedFileBytes: number;
  /** What free disk space may shrink by, where the runner keeps contents. */
  readonly maxDiskBytes: number;
}

const MEBIBYTE = 1024 ** 2;

/** The limits of changes where the settings name none. */
export const DEFAULT_CHANGE_LIMITS: ChangeLimits = {
  maxChangedFiles: 20_000,
  maxChangedBytes: 256 * MEBIBYTE,
  maxChangedFileBytes: 100 * MEBIBYTE,
  maxDiskBytes: DEFAULT_COMMAND_LIMITS.maxDiskBytes,
};

/** Entries of one folder that the runner looks at in any case. */
const MIN_FOLDER_ENTRIES = 100_000;

/** Entries that one folder may have. Whoever lets a run change more files lets a folder have more. */
export function maxFolderEntries({ maxChangedFiles }: ChangeLimits): number {
  return Math.max(MIN_FOLDER_ENTRIES, 5 * maxChangedFiles);
}

/** A limit that changes have come to, with its value and what they would have needed: files, bytes or entries. */
export const ExceededChangeLimit = z.strictObject({
  limit: z.enum(['changed_files', 'changed_bytes', 'changed_file_bytes', 'disk_bytes', 'folder_entries']),
  value: z.number(),
  used: z.number(),
  /** Of `folder_entries`: the folder, `''` for the root. Nobody counts how many entries it has, so that `used` is one too many. */
  folder: z.string().optional(),
});
export type ExceededChangeLimit = z.infer<typeof ExceededChangeLimit>;
