/** The work tree of a replay: changes that nothing in a replay makes are applied when they are due. */

import type { Restorer } from '../../adapters/workspace/restore/restore.ts';
import type { FileState, Writer } from '../../domain/changes/change.ts';
import { deletionsFirst } from '../../domain/changes/deletions-first.ts';
import type { RunEvent } from '../../domain/run/events.ts';
import type { Checkpoint, Workspace } from '../../ports/workspace.ts';
import type { ReplayTracker } from './tracker.ts';

/** Before each scan of the tree, applies the recorded changes that no command of the replay makes. */
export function replayWorkspace(workspace: Workspace, tracker: ReplayTracker, restorer: Restorer): Workspace {
  return {
    ...workspace,
    async capture(scope) {
      await putDue(tracker.due, tracker, restorer);
      return workspace.capture(scope);
    },
    checkpoint: (by) => checkpointOf(workspace, tracker, restorer, by),
  };
}

/** Only the replay works on the copy, so the state before the commands is the recorded one. */
async function checkpointOf(
  workspace: Workspace,
  tracker: ReplayTracker,
  restorer: Restorer,
  by: Writer | undefined,
): Promise<Checkpoint> {
  const isForeign = (event: RunEvent | undefined) =>
    event?.type === 'change.recorded' && event.changes.every(({ source }) => source.by === 'outside');
  const { due } = tracker;
  const seenAtOnce = isForeign(due[0]);
  const first = seenAtOnce ? due[0] : due.find(({ type }) => type !== 'tool.started');
  const foreign = first && isForeign(first) ? first : null;
  if (foreign) await putInPlace(foreign, restorer);
  // Looked at here: by the file system's clock alone it could as well be the commands' work.
  const before = foreign ? await workspace.capture('all') : [];
  const line = await workspace.checkpoint(by);
  return {
    changes: seenAtOnce ? before : [],
    async captureSince() {
      const left = tracker.due;
      await putDue(isForeign(left[0]) ? left.slice(1) : left, tracker, restorer);
      const found = await line.captureSince();
      const since = [...line.changes, ...found.earlier, ...found.since].sort((a, b) =>
        a.path < b.path ? -1 : 1,
      );
      return { earlier: seenAtOnce ? [] : before, since, identical: [] };
    },
  };
}

/** Applies the next change if nothing in a replay makes it. */
async function putDue(
  [next, ...rest]: readonly RunEvent[],
  tracker: ReplayTracker,
  restorer: Restorer,
): Promise<void> {
  if (!next || !tracker.cannotBeMadeAgain(next, rest)) return;
  await putInPlace(next, restorer);
  // Reverted changes were found together with the others.
  if (next.type === 'changes.put_back') await putDue(rest, tracker, restorer);
}

async function putInPlace(event: RunEvent, restorer: Restorer): Promise<void> {
  const changes = madeBy(event);
  // What cannot be applied is missing from the events that follow, and is reported there.
  for (const { path, after } of deletionsFirst(changes, (change) => change.after))
    await restorer.put(path, after);
}

function madeBy(event: RunEvent): { path: string; after: FileState | null }[] {
  if (event.type === 'changes.put_back') return event.changes;
  if (event.type !== 'change.recorded') return [];
  const counted = event.changes.filter(({ excluded }) => excluded === undefined);
  return counted.flatMap(({ path, from, after }) => [
    ...(from === undefined ? [] : [{ path: from, after: null }]),
    { path, after },
  ]);
}
