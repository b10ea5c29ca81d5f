/** The work tree of a replay: changes that nothing in a replay makes are applied when they are due. */

import type { Restorer } from '../../adapters/workspace/restore/restore.ts';
import { deletionsFirst, type FileState } from '../../domain/changes/change.ts';
import type { RunEvent } from '../../domain/run/events.ts';
import type { Workspace } from '../../ports/workspace.ts';
import type { ReplayTracker } from './tracker.ts';

/** Before each scan of the tree, applies the recorded changes that no command of the replay makes. */
export function replayWorkspace(workspace: Workspace, tracker: ReplayTracker, restorer: Restorer): Workspace {
  return {
    ...workspace,
    async capture(scope) {
      await putDue(tracker.due, tracker, restorer);
      return workspace.capture(scope);
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
