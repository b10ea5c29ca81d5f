/** What the calls of a lane changed in the work tree: captured before and after them, and recorded under their ids. */

import type { FoundChange } from '../../domain/changes/change.ts';
import { isRuleFile } from '../../domain/changes/path.ts';
import { changesRecorded } from '../../domain/journal/recorded-changes.ts';
import type { RunAction } from '../../domain/run/events.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { putBackPrompt, removedGitPrompt } from '../../prompts.ts';
import type { AgentParts } from '../parts.ts';
import { enforcePolicy } from '../policy.ts';
import { type PreparedCall, type RunnableCall, sourceOf, targetsOf } from './prepared-call.ts';

/** What changes are captured and judged with. */
type LaneParts = Pick<AgentParts, 'workspace' | 'redact' | 'permits' | 'folder'>;

/** A change since the last call belongs to no call and must not be attributed to the next one. */
export async function* recordEarlier(
  lane: readonly PreparedCall[],
  iteration: number,
  { workspace }: LaneParts,
): AsyncGenerator<RunAction> {
  const kind = lane[0]?.lane;
  if (kind !== 'write' && kind !== 'command') return;
  const targets = targetsOf(lane);
  // New rules may bring any file into view, and earlier changes must not be attributed to these calls.
  const scope = kind === 'command' || targets.some(isRuleFile) ? 'all' : targets;
  yield* changesRecorded(await workspace.capture(scope), { by: 'outside' }, iteration);
}

/** A lane whose calls have run. */
interface RanLane {
  readonly lane: readonly PreparedCall[];
  /** Writes that no capture shows, by path. */
  readonly unseen: ReadonlyMap<string, FoundChange>;
  readonly iteration: number;
}

/**
 * Attributes writes by path; commands of one lane ran together, so their changes are attributed to all of them. Returns
 * what their results must say about changes against the policy.
 */
export async function* recordChanges(
  { lane, unseen, iteration }: RanLane,
  parts: LaneParts,
): AsyncGenerator<RunAction, string> {
  const { workspace, redact, folder } = parts;
  const ran = lane.flatMap((prepared) => ('refusal' in prepared ? [] : [prepared]));
  if (ran[0]?.lane === 'write') {
    for (const { call, target } of ran) {
      if (target === null) continue;
      const changes = await workspace.capture([target]);
      const source = sourceOf({ call });
      yield* changesRecorded(changes, source, iteration);
      const write = changes.some(({ path }) => path === target) ? undefined : unseen.get(target);
      if (write !== undefined) yield* changesRecorded([write], source, iteration);
    }
    yield* recordRules(ran, iteration, workspace);
  } else if (ran[0]?.lane === 'command') {
    const removed = workspace.notes().removedGitDirs.length;
    const changes = await workspace.capture('after_commands');
    const removedGit = workspace.notes().removedGitDirs.slice(removed);
    const source = sourceOf(ran[0], ...ran.slice(1));
    const enforced = await enforcePolicy({ changes, source, iteration }, parts);
    yield* enforced.actions;
    return redact(putBackPrompt(enforced, folder) + removedGitPrompt(removedGit, folder));
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
  yield* changesRecorded(changes, sourceOf(first, ...more), iteration);
}

/** The same workspace, but noting the writes that no capture will show. */
export function notingUnseen(workspace: Workspace, unseen: Map<string, FoundChange>): Workspace {
  return {
    ...workspace,
    async writeFile(path, bytes) {
      const write = await workspace.writeFile(path, bytes);
      if (write.status === 'ok' && write.unseen !== null) unseen.set(path, write.unseen);
      return write;
    },
  };
}
