/** The work tree of a replay: what nothing in a replay makes is put in place when it is due. */

import type { Restorer } from '../adapters/workspace/restore.ts';
import type { FileState } from '../domain/change.ts';
import type { RunEvent } from '../domain/events.ts';
import type { Line, Workspace } from '../ports.ts';
import { cannotBeMadeAgain, type Follower } from './follower.ts';

/** Before each look at the tree, the recorded changes that no command of the replay makes are put in place. */
export function following(workspace: Workspace, follower: Follower, restorer: Restorer): Workspace {
  return {
    root: workspace.root,
    base: workspace.base,
    agentGit: workspace.agentGit,
    readFile: (path) => workspace.readFile(path),
    writeFile: (path, bytes) => workspace.writeFile(path, bytes),
    listFiles: (path, glob) => workspace.listFiles(path, glob),
    search: (query) => workspace.search(query),
    putBack: (changes, all) => workspace.putBack(changes, all),
    hidden: () => workspace.hidden(),
    removedGitDirs: () => workspace.removedGitDirs(),
    sweep: () => workspace.sweep(),
    repositoriesAround: (paths, added) => workspace.repositoriesAround(paths, added),
    ignoredWrites: () => workspace.ignoredWrites(),
    exceeded: () => workspace.exceeded(),
    nestedChanges: () => workspace.nestedChanges(),
    warnings: () => workspace.warnings(),
    rebase: (changes) => workspace.rebase(changes),
    makePatch: (net) => workspace.makePatch(net),
    async capture(scope) {
      await putDue(follower.due, restorer);
      return workspace.capture(scope);
    },
    drawLine: () => drawLine(workspace, follower, restorer),
  };
}

/** Nobody but the replay works on the copy, so what was there before the commands is what the recording says. */
async function drawLine(workspace: Workspace, follower: Follower, restorer: Restorer): Promise<Line> {
  const isForeign = (event: RunEvent | undefined) =>
    event?.type === 'change.recorded' && event.changes.every(({ source }) => source.by === 'outside');
  const { due } = follower;
  const seenAtOnce = isForeign(due[0]);
  const first = seenAtOnce ? due[0] : due.find(({ type }) => type !== 'tool.started');
  const foreign = first && isForeign(first) ? first : null;
  if (foreign) await putInPlace(foreign, restorer);
  const before = foreign ? await workspace.capture('all') : [];
  return {
    changes: seenAtOnce ? before : [],
    async captureSince() {
      const left = follower.due;
      await putDue(isForeign(left[0]) ? left.slice(1) : left, restorer);
      return { earlier: seenAtOnce ? [] : before, since: await workspace.capture('after_commands') };
    },
  };
}

/** Puts in place what is due next, when nothing in a replay makes it. */
async function putDue([next, ...rest]: readonly RunEvent[], restorer: Restorer): Promise<void> {
  if (!next || !cannotBeMadeAgain(next, rest)) return;
  await putInPlace(next, restorer);
  // What was put back was found together with what was kept.
  if (next.type === 'changes.put_back') await putDue(rest, restorer);
}

async function putInPlace(event: RunEvent, restorer: Restorer): Promise<void> {
  const changes = madeBy(event);
  // What cannot be put in place is missing in the events that follow, and is told as that.
  for (const { path, after } of changes) if (after === null) await restorer.remove(path);
  for (const { path, after } of changes) if (after !== null) await restorer.put(path, after);
}

function madeBy(event: RunEvent): { path: string; after: FileState | null }[] {
  if (event.type === 'changes.put_back') return event.changes;
  if (event.type !== 'change.recorded') return [];
  return event.changes.flatMap(({ path, from, after }) => [
    ...(from === undefined ? [] : [{ path: from, after: null }]),
    { path, after },
  ]);
}
