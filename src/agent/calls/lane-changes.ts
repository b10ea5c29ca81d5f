/** What the calls of a lane changed in the work tree: captured before and after them, and recorded under their ids. */

import type { FoundChange, Writer } from '../../domain/changes/change.ts';
import { isRuleFile } from '../../domain/changes/path.ts';
import { changesRecorded, excludedRecorded, identicalRecorded } from '../../domain/journal/change-events.ts';
import type { RunAction } from '../../domain/run/events.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import type { Checkpoint, Workspace } from '../../ports/workspace.ts';
import { putBackPrompt, removedGitPrompt } from '../../prompts.ts';
import { creditedChanges } from '../credited-changes.ts';
import { enforcePolicy } from '../policy.ts';
import { type PreparedCall, type RunnableCall, sourceOf, targetsOf } from './prepared-call.ts';

/** What changes are captured and judged with. */
export interface LaneParts {
  readonly workspace: Workspace;
  readonly redact: Redact;
  /** False for a path that the plan or the settings do not allow to be changed. */
  readonly permits: (path: string) => boolean;
}

/**
 * A change since the last call belongs to no call and must not be attributed to the next one. Returns the checkpoint taken
 * before commands; null for other lanes.
 */
export async function* recordEarlier(
  lane: readonly PreparedCall[],
  iteration: number,
  { workspace }: LaneParts,
): AsyncGenerator<RunAction, Checkpoint | null> {
  const kind = lane[0]?.lane;
  if (kind === 'write') {
    const targets = targetsOf(lane);
    // New rules may bring any file into view, and earlier changes must not be attributed to these commands.
    const scope = targets.some(isRuleFile) ? 'all' : targets;
    yield* creditedChanges(workspace, await workspace.capture(scope), { by: 'outside' }, iteration);
  }
  const [first, ...more] = lane;
  if (kind !== 'command' || first === undefined) return null;
  const checkpoint = await workspace.checkpoint({ source: sourceOf(first, ...more), iteration });
  yield* creditedChanges(workspace, checkpoint.changes, { by: 'outside' }, iteration);
  return checkpoint;
}

/** A lane whose calls have run. */
export interface RanLane {
  readonly lane: readonly PreparedCall[];
  /** Taken before commands; null for other lanes. */
  readonly checkpoint: Checkpoint | null;
  /** Writes that no capture shows, by path. */
  readonly unseen: ReadonlyMap<string, FoundChange>;
  readonly iteration: number;
}

/**
 * Attributes writes by path; commands of one lane ran together, so their changes are attributed to all of them. Returns
 * what their results must say about changes against the policy.
 */
export async function* recordChanges(
  { lane, checkpoint, unseen, iteration }: RanLane,
  parts: LaneParts,
): AsyncGenerator<RunAction, string> {
  const { workspace, redact } = parts;
  const ran = lane.flatMap((prepared) => ('refusal' in prepared ? [] : [prepared]));
  if (ran[0]?.lane === 'write') {
    for (const { call, target } of ran) {
      if (target === null) continue;
      const changes = await workspace.capture([target]);
      const source = sourceOf({ call });
      yield* changesRecorded(changes, source, iteration);
      const write = changes.some(({ path }) => path === target) ? undefined : unseen.get(target);
      if (write !== undefined) yield* excludedRecorded([write], source, iteration);
    }
    yield* recordRules(ran, iteration, workspace);
  } else if (ran[0]?.lane === 'command' && checkpoint !== null) {
    const removed = workspace.removedGitDirs().length;
    const { earlier, since, identical } = await checkpoint.captureSince();
    const removedGit = workspace.removedGitDirs().slice(removed);
    yield* creditedChanges(workspace, earlier, { by: 'outside' }, iteration);
    const source = sourceOf(ran[0], ...ran.slice(1));
    const enforced = await enforcePolicy({ changes: since, source, iteration }, parts);
    yield* enforced.actions;
    yield* identicalRecorded(identical, source, iteration);
    return redact(putBackPrompt(enforced) + removedGitPrompt(removedGit));
  }
  return '';
}

/** What new rules and attributes do to other files is attributed to the calls that wrote them. */
async function* recordRules(
  ran: readonly RunnableCall[],
  iteration: number,
  workspace: Workspace,
): AsyncGenerator<RunAction> {
  const writers = ran.filter(({ target }) => target !== null && isRuleFile(target));
  const [first, ...more] = writers;
  if (first === undefined) return;
  const changes = await workspace.capture('all');
  yield* creditedChanges(workspace, changes, sourceOf(first, ...more), iteration);
}

/** The same workspace, but noting the writes that no capture will show. */
export function notingUnseen(workspace: Workspace, unseen: Map<string, FoundChange>, by: Writer): Workspace {
  return {
    ...workspace,
    async writeFile(path, bytes) {
      const write = await workspace.writeFile(path, bytes, by);
      if (write.status === 'ok' && write.unseen !== null) unseen.set(path, write.unseen);
      return write;
    },
  };
}
