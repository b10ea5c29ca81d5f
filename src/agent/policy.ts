/** Enforces the policy on commands: forbidden changes are reverted as soon as the commands have ended. */

import type { ChangeSource, PathChange } from '../domain/changes/change.ts';
import { isRuleFile } from '../domain/changes/path.ts';
import { withConflictingPaths } from '../domain/changes/path-policy.ts';
import { changesRecorded } from '../domain/journal/recorded-changes.ts';
import { belongsTo } from '../domain/review/git-folder.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { Workspace } from '../ports/workspace.ts';
import type { AgentParts } from './parts.ts';

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
  const first = await enforceOnce(changes, parts);
  // A rule that was put back has hidden them until now.
  const shown = first.hasRules ? await enforceOnce({ ...changes, changes: first.others }, parts) : null;
  const passes = shown === null ? [first] : [first, shown];
  const { hidden, actions } = hiddenFiles(parts.workspace);
  return {
    actions: [
      ...passes.flatMap((pass) => pass.actions),
      // Undo leaves the user's files where they are.
      ...changesRecorded((shown ?? first).others, { by: 'outside' }, changes.iteration),
      ...actions,
    ],
    putBack: passes.flatMap((pass) => pass.putBack).sort(),
    stuck: passes.flatMap((pass) => pass.stuck).sort(),
    hidden,
    repositories: [...new Set(passes.flatMap((pass) => pass.repositories))],
  };
}

type PolicyParts = Pick<AgentParts, 'workspace' | 'permits'>;

interface EnforcedOnce extends Omit<Enforced, 'hidden'> {
  /** What the look after it found besides. */
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
    const actions = changesRecorded(changes, source, iteration);
    return { actions, putBack: [], stuck: [], repositories, others: [], hasRules: false };
  }
  const { stuck, others } = await workspace.putBack(refused, changes);
  const left = new Map(stuck.map((one) => [one.path, one]));
  const gone = refused.filter(({ path }) => !left.has(path));
  const kept = changes.flatMap((change) => {
    const stays = left.get(change.path);
    if (!refused.includes(change)) return [change];
    return stays === undefined ? [] : [{ ...change, after: stays.now }];
  });
  // The commands found files of the user there.
  const isFound = ({ path }: PathChange) => left.get(path)?.isFound === true;
  const reverted: RunAction = {
    type: 'changes.put_back',
    changes: gone,
    stuck: stuck.map(({ path, why }) => ({ path, why })),
    source,
    iteration,
  };
  const credited = kept.filter((change) => !isFound(change));
  return {
    actions: [
      reverted,
      ...changesRecorded(credited, source, iteration),
      ...changesRecorded(kept.filter(isFound), { by: 'outside' }, iteration),
    ],
    putBack: gone.map(({ path }) => path),
    stuck: [...left.keys()],
    repositories,
    others,
    hasRules: refused.some(({ path }) => isRuleFile(path)),
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
