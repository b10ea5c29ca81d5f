/** Files that a run writes before its baseline has been taken. */

import type { FileState } from '../../domain/changes/change.ts';

/** Paths whose part in the baseline is settled before the look at the whole tree has ended. */
export interface NotedPaths {
  /** Ends the noting; what is noted holds for the baseline. */
  close(): ReadonlyMap<string, FileState | null>;
  /** Hands over to the finished snapshot what has been recorded as written since. */
  handOver(take: (path: string, recorded: RecordedPath) => void): void;
}

/** The last recorded state of a noted path, the sizes of all versions that were recorded, and the inodes that writes made. */
export interface RecordedPath {
  readonly state: FileState | null;
  readonly sizes: readonly number[];
  readonly inodes: readonly bigint[];
}
