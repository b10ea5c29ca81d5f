/** Enforces the policy on commands: forbidden changes are reverted as soon as the commands have ended. */

import type { ChangeSource, PathChange } from '../domain/changes/change.ts';
import { withConflictingPaths } from '../domain/changes/conflicting-paths.ts';
import { changesRecorded } from '../domain/journal/change-events.ts';
import { belongsTo } from '../domain/review/git-folder.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { PutBack, Workspace } from '../ports/workspace.ts';

/** What commands did, before any of it is recorded. */
export interface CommandChanges {
  readonly changes: readonly PathChange[];
  readonly source: ChangeSource;
  readonly iteration: number;
}

/** The result of applying the policy to changes. */
export interface Enforced {
  /** To be recorded in this order: when a run dies in between, the rest is found in the work tree and judged again. */
  readonly actions: readonly RunAction[];
  readonly putBack: readonly string[];
  readonly stuck: readonly string[];
  readonly hidden: readonly string[];
  /** Folders that git takes for repositories and in which something changed. */
  readonly repositories: readonly string[];
}

/** Puts back the changes that the plan or the settings do not allow, and returns what to record. */
export async function enforcePolicy(
  { changes, source, iteration }: CommandChanges,
  { workspace, permits }: { workspace: Workspace; permits: (path: string) => boolean },
): Promise<Enforced> {
  const repositories = await workspace.repositoriesAround(changes.map(({ path }) => path));
  const isPlanted = (path: string) => repositories.some((folder) => belongsTo(path, folder));
  const refused = withConflictingPaths(
    // A file that only a rule brought into view or hid may be the user's: it is reported at the end, but not reverted.
    changes.filter(({ path, ignored }) => ignored === undefined && (!permits(path) || isPlanted(path))),
    changes,
  );
  if (refused.length === 0) {
    const { hidden, actions } = hiddenFiles(workspace);
    return {
      actions: [...changesRecorded(changes, source, iteration), ...actions],
      putBack: [],
      stuck: [],
      hidden,
      repositories,
    };
  }
  const { stuck, others } = await workspace.putBack(refused, changes);
  const { hidden, actions } = hiddenFiles(workspace);
  const left = new Map(stuck.map(({ path, now }) => [path, now]));
  const gone = refused.filter(({ path }) => !left.has(path));
  const reverted: RunAction = {
    type: 'changes.put_back',
    changes: gone,
    stuck: stuck.map(({ path, why }) => ({ path, why })),
    source,
    iteration,
  };
  const { credited, outside } = keptChanges({ changes, refused, stuck });
  return {
    actions: [
      reverted,
      ...changesRecorded(credited, source, iteration),
      // Undo leaves the user's files where they are.
      ...changesRecorded([...outside, ...others], { by: 'outside' }, iteration),
      ...actions,
    ],
    putBack: gone.map(({ path }) => path),
    stuck: [...left.keys()],
    hidden,
    repositories,
  };
}

/** What stays of the changes: that of the commands, and files of the user that they found. */
function keptChanges({
  changes,
  refused,
  stuck,
}: {
  changes: readonly PathChange[];
  refused: readonly PathChange[];
  stuck: PutBack['stuck'];
}): { credited: PathChange[]; outside: PathChange[] } {
  const left = new Map(stuck.map(({ path, now }) => [path, now]));
  const found = new Set(stuck.flatMap(({ path, isFound }) => (isFound ? [path] : [])));
  const kept = changes.flatMap((change) => {
    if (!refused.includes(change)) return [change];
    const after = left.get(change.path);
    return after === undefined ? [] : [{ ...change, after }];
  });
  return {
    credited: kept.filter(({ path }) => !found.has(path)),
    outside: kept.filter(({ path }) => found.has(path)),
  };
}

/** Maximum number of paths named in one event. */
const MAX_HIDDEN = 100;

/** The paths that the last scan of the work tree could not examine, and the event that reports them. */
export function hiddenFiles(workspace: Workspace): {
  hidden: readonly string[];
  actions: readonly RunAction[];
} {
  const hidden = workspace.notes().hidden.slice(0, MAX_HIDDEN);
  return { hidden, actions: hidden.length > 0 ? [{ type: 'files.hidden', paths: [...hidden] }] : [] };
}
