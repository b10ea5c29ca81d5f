/** Enforces the policy on commands: forbidden changes are reverted as soon as the commands have ended. */

import type { ChangeSource, PathChange } from '../domain/changes/change.ts';
import { isRuleFile } from '../domain/changes/path.ts';
import { withConflictingPaths } from '../domain/changes/path-policy.ts';
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
interface Enforced {
  /** To be recorded in this order: when a run dies in between, the rest is found in the work tree and judged again. */
  readonly actions: readonly RunAction[];
  readonly putBack: readonly string[];
  readonly stuck: readonly string[];
  readonly hidden: readonly string[];
  /** Folders that git takes for repositories and in which something changed. */
  readonly repositories: readonly string[];
}

/** Puts back the changes that the plan or the settings do not allow, and returns what to record. */
export async function enforcePolicy(changes: CommandChanges, parts: PolicyParts): Promise<Enforced> {
  const { enforced, others, hasRules } = await enforceOnce(changes, parts);
  const { iteration } = changes;
  // A rule that was put back has hidden them until now.
  const shown = hasRules ? await enforceOnce({ ...changes, changes: others }, parts) : null;
  const { hidden, actions } = hiddenFiles(parts.workspace);
  const rest = shown === null ? others : shown.others;
  return {
    actions: [
      ...enforced.actions,
      ...(shown?.enforced.actions ?? []),
      // Undo leaves the user's files where they are.
      ...changesRecorded(rest, { by: 'outside' }, iteration),
      ...actions,
    ],
    putBack: [...enforced.putBack, ...(shown?.enforced.putBack ?? [])].sort(),
    stuck: [...enforced.stuck, ...(shown?.enforced.stuck ?? [])].sort(),
    hidden,
    repositories: [...new Set([...enforced.repositories, ...(shown?.enforced.repositories ?? [])])],
  };
}

interface PolicyParts {
  readonly workspace: Workspace;
  readonly permits: (path: string) => boolean;
}

/** `others` is what the look after it found besides. */
interface EnforcedOnce {
  readonly enforced: Omit<Enforced, 'hidden'>;
  readonly others: readonly PathChange[];
  /** Ignore rules were put back. */
  readonly hasRules: boolean;
}

async function enforceOnce(
  { changes, source, iteration }: CommandChanges,
  { workspace, permits }: PolicyParts,
): Promise<EnforcedOnce> {
  const repositories = await workspace.repositoriesAround(changes.map(({ path }) => path));
  const isPlanted = (path: string) => repositories.some((folder) => belongsTo(path, folder));
  const refused = withConflictingPaths(
    // A file that only a rule brought into view or hid may be the user's: it is reported at the end, but not reverted.
    changes.filter(({ path, ignored }) => ignored === undefined && (!permits(path) || isPlanted(path))),
    changes,
  );
  if (refused.length === 0) {
    const actions = [...changesRecorded(changes, source, iteration)];
    return { enforced: { actions, putBack: [], stuck: [], repositories }, others: [], hasRules: false };
  }
  const { stuck, others } = await workspace.putBack(refused, changes);
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
  const actions = [
    reverted,
    ...changesRecorded(credited, source, iteration),
    ...changesRecorded(outside, { by: 'outside' }, iteration),
  ];
  const putBack = gone.map(({ path }) => path);
  return {
    enforced: { actions, putBack, stuck: [...left.keys()], repositories },
    others,
    hasRules: refused.some(({ path }) => isRuleFile(path)),
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
