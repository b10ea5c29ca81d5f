/** The tree that a walk goes through, with what decides which of its files git would see. */

import type { ClosedPlaces } from '../../../files/closed-places.ts';
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
