/** What a run may change: limits on what the runner reads, keeps and puts into a patch. */

import * as z from 'zod';
import { DEFAULT_COMMAND_LIMITS } from './command-limits.ts';

/** Bytes are sizes of the files in the work tree, whatever they take on disk. */
export interface ChangeLimits {
  /** Maximum number of files a run may change. */
  readonly maxChangedFiles: number;
  /** Maximum bytes of changed files that a run records, counting every version of a file. */
  readonly maxChangedBytes: number;
  /** Maximum bytes of a single one. */
  readonly maxChangedFileBytes: number;
  /** How much free disk space may shrink where the runner keeps contents. */
  readonly maxDiskBytes: number;
}

const MEBIBYTE = 1024 ** 2;

/** The change limits used when the settings give none. */
export const DEFAULT_CHANGE_LIMITS: ChangeLimits = {
  maxChangedFiles: 20_000,
  maxChangedBytes: 256 * MEBIBYTE,
  maxChangedFileBytes: 100 * MEBIBYTE,
  maxDiskBytes: DEFAULT_COMMAND_LIMITS.maxDiskBytes,
};

/** Number of entries of one folder that the runner always examines. */
const MIN_FOLDER_ENTRIES = 100_000;

/** Maximum number of entries in one folder. A run that may change more files may also have larger folders. */
export function maxFolderEntries({ maxChangedFiles }: ChangeLimits): number {
  return Math.max(MIN_FOLDER_ENTRIES, 5 * maxChangedFiles);
}

/** A limit that changes have reached, with its value and what they would have needed: files, bytes or entries. */
export const ExceededChangeLimit = z.strictObject({
  limit: z.enum(['changed_files', 'changed_bytes', 'changed_file_bytes', 'disk_bytes', 'folder_entries']),
  value: z.number(),
  used: z.number(),
  /**
   * For `folder_entries`: the folder, `''` for the root. The entries are not all counted, so `used` is one over the limit.
   */
  folder: z.string().optional(),
});
export type ExceededChangeLimit = z.infer<typeof ExceededChangeLimit>;
