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

export const DEFAULT_CHANGE_LIMITS: ChangeLimits = {
  maxChangedFiles: 20_000,
  maxChangedBytes: 256 * MEBIBYTE,
  maxChangedFileBytes: 100 * MEBIBYTE,
  maxDiskBytes: DEFAULT_COMMAND_LIMITS.maxDiskBytes,
};

/** A limit that changes have come to, with its value and what they would have needed: files or bytes. */
export const ExceededChangeLimit = z.strictObject({
  limit: z.enum(['changed_files', 'changed_bytes', 'changed_file_bytes', 'disk_bytes']),
  value: z.number(),
  used: z.number(),
});
export type ExceededChangeLimit = z.infer<typeof ExceededChangeLimit>;
