/** Holds commands to the policy: what they changed against it is put back as soon as they have ended. */

import type { ChangeSource, PathChange } from '../domain/changes/change.ts';
import { withConflictingPaths } from '../domain/changes/conflicting-paths.ts';
import { changesRecorded } from '../domain/journal/change-events.ts';
import { belongsTo } from '../domain/review/git-folder.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { Workspace } from '../ports.ts';

/** What commands did, before anything of it has been recorded. */
export interface CommandChanges {
  readonly changes: readonly PathChange[];
  readonly source: ChangeSource;
  readonly iteration: number;
}

/** What became of changes after the policy was applied. */
export interface Enforced {
  /** To be recorded in this order: a run that dies in between finds the rest in the work tree, and judges it again. */
  readonly actions: readonly RunAction[];
  readonly putBack: readonly string[];
  readonly stuck: readonly string[];
  readonly hidden: readonly string[];
  /** Folders that git takes for repositories and that something was changed in. */
  readonly repositories: readonly string[];
}

/** Puts back the changes that the plan or the settings do not allow, and says what is to be recorded. */
export async function enforcePolicy(
  { changes, source, iteration }: CommandChanges,
  { workspace, permits }: { workspace: Workspace; permits: (path: string) => boolean },
): Promise<Enforced> {
  const repositories = await workspace.repositoriesAround(changes.map(({ path }) => path));
  const isPlanted = (path: string) => repositories.some((folder) => belongsTo(path, folder));
  const refused = withConflictingPaths(
    // What only a rule brought into view or took out of it may be the user's: it is told at the end, and not put back.
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
  const found = new Set(stuck.flatMap(({ path, isFound }) => (isFound ? [path] : [])));
  const gone = refused.filter(({ path }) => !left.has(path));
  const kept = changes.flatMap((change) => {
    const { path } = change;
    if (!refused.includes(change)) return [change];
    const after = left.get(path);
    return after === undefined ? [] : [{ ...change, after }];
  });
  return {
    actions: [
      {
        type: 'changes.put_back',
        changes: gone,
        stuck: stuck.map(({ path, why }) => ({ path, why })),
        source,
        iteration,
      },
      ...changesRecorded(
        kept.filter(({ path }) => !found.has(path)),
        source,
        iteration,
      ),
      // Undo leaves what is the user's where it is.
      ...changesRecorded(
        [...kept.filter(({ path }) => found.has(path)), ...others],
        { by: 'outside' },
        iteration,
      ),
      ...actions,
    ],
    putBack: gone.map(({ path }) => path),
    stuck: [...left.keys()],
    hidden,
    repositories,
  };
}

/** Paths that one event names. */
const MAX_HIDDEN = 100;

/** What the last look at the work tree could not examine, and the event that says so. */
export function hiddenFiles(workspace: Workspace): {
  hidden: readonly string[];
  actions: readonly RunAction[];
} {
  const hidden = workspace.hidden().slice(0, MAX_HIDDEN);
  return { hidden, actions: hidden.length > 0 ? [{ type: 'files.hidden', paths: [...hidden] }] : [] };
}
