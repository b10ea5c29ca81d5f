/** Files that a run writes before its baseline has been taken. */

import type { FileState } from '../../domain/changes/change.ts';

/** Paths whose part in the baseline is settled before the look at the whole tree has ended. */
export interface NotedPaths {
  /** Ends the noting; what is noted holds for the baseline. `found`: what the look at the whole tree found at a path. */
  close(found: (path: string) => FileState | null): Noted;
  /** Hands over to the finished snapshot what has been recorded as written since. */
  handOver(take: (path: string, recorded: RecordedPath) => void): void;
}

/** What holds for the baseline whatever a look at the whole tree finds. */
export interface Noted {
  readonly states: ReadonlyMap<string, FileState | null>;
  /** What the run has written to paths that do not have it any more: where it is now, it has been moved by others. */
  readonly moved: ReadonlySet<string>;
}

/** The last recorded state of a noted path, the sizes of all versions that were recorded, and the inodes that writes made. */
export interface RecordedPath {
  readonly state: FileState | null;
  readonly sizes: readonly number[];
  readonly inodes: readonly bigint[];
}

/** The blob of a file by which it is recognised elsewhere; none for an empty one. */
export function contentOf(state: FileState | null): string[] {
  return state === null || state.size === 0 ? [] : [state.blob];
}
