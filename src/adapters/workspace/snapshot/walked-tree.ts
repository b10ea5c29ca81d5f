/** The tree that a walk goes through, with what decides which of its files git would see, and what the walk finds. */

import type { ClosedPlaces } from '../../../files/closed-places.ts';
import type { FileStat } from '../../../files/stat.ts';
import type { FolderLimit } from '../../../files/tree-view.ts';
import type { LiveRules } from '../baseline/live-rules.ts';
import type { TrackedPaths } from '../baseline/tracked-paths.ts';
import type { SetIds } from '../unwalked/set-ids.ts';

/** The work tree for a walk: rules, limits, and what to do on the way. */
export interface WalkedTree {
  readonly root: string;
  readonly rules: LiveRules;
  readonly tracked: TrackedPaths;
  /** Files of the base count whatever the rules say now. */
  readonly keepsBase: boolean;
  /** Opens folders that their owner has closed since the start. */
  readonly closed: ClosedPlaces;
  readonly folders: FolderLimit;
  /** Receives everything the walk reaches. */
  readonly setIds: SetIds;
  /** Called for every rule file found, before the entries of its folder are judged. */
  onRuleFile(path: string): void;
}

/** Everything at and below `scope`. */
export interface Walked {
  /** The path that was examined: the requested one, or a folder above it that is not a folder or that git would not see. */
  readonly scope: string;
  readonly at: 'folder' | 'file' | 'absent' | 'foreign';
  /** Regular files and links that git would see, except unchanged ones. */
  readonly files: ReadonlyMap<string, FileStat>;
  /** Whether a file is as in the baseline index and was not looked into. */
  isUnchanged(path: string): boolean;
  /** Files of the baseline index that no longer exist. */
  readonly gone: readonly string[];
  /** Files and folders that cannot be read or are too large; their known states stay. */
  readonly unreadable: readonly string[];
  /** Folders that are separate repositories. */
  readonly nested: readonly string[];
  /** Folders that also have a `.git` but are looked into because they hold known files. */
  readonly embedded: readonly string[];
  /** Folders that git ignores; their contents are not examined. */
  readonly ignored: readonly string[];
  /** Files that git ignores, except those in such folders and in folders that have not changed since the last scan. */
  readonly ignoredFiles: readonly string[];
  /** Names that git refuses to store. */
  readonly unstorable: readonly string[];
  /** Folders without any entry, which git does not track. */
  readonly empty: readonly string[];
}
