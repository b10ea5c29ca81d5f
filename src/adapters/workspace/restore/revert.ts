/** Takes changes of the work tree back, and sees whether they are gone. */

import { type FileState, type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import type { PutBack } from '../../../ports.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { openRestorer, type RestorePlaces, type Restorer } from './restore.ts';

interface PutBackPlaces extends RestorePlaces {
  readonly snapshot: Snapshot;
  readonly closed: ClosedPlaces;
}

export async function revert(
  changes: readonly PathChange[],
  { snapshot, ...places }: PutBackPlaces,
): Promise<PutBack> {
  const whys = await restore(changes, places);
  const found = new Map((await snapshot.capture('all')).map((change) => [change.path, change]));
  const stuck: { path: string; why: string; now: FileState | null }[] = [];
  for (const { path, before, after } of changes) {
    const seen = found.get(path);
    const now = seen ? seen.after : after;
    if (!sameOnDisk(now, before))
      stuck.push({ path, why: whys.get(path) ?? 'it does not stay as it was', now });
    found.delete(path);
  }
  return { stuck, others: [...found.values()] };
}

/** Why paths could not be restored. What is new goes first, so that a file may take a folder's place and the reverse. */
async function restore(
  changes: readonly PathChange[],
  { closed, ...places }: Omit<PutBackPlaces, 'snapshot'>,
): Promise<Map<string, string>> {
  const restorer = insistent(await openRestorer(places), closed);
  await restorer.readAhead(changes.flatMap(({ before }) => before ?? []));
  const whys = new Map<string, string>();
  for (const { path, before } of changes) {
    const why = before === null ? await restorer.remove(path) : null;
    if (why !== null) whys.set(path, why);
  }
  for (const { path, before } of changes) {
    const why =
      before === null ? null : ((await restorer.whyNot(path, before)) ?? (await restorer.put(path, before)));
    if (why !== null) whys.set(path, why);
  }
  return whys;
}

/** Where a folder may not be written to, its owner opens it for the second try. */
function insistent(
  restorer: Restorer,
  closed: ClosedPlaces,
): Pick<Restorer, 'readAhead' | 'whyNot' | 'remove' | 'put'> {
  const twice = async (path: string, work: () => Promise<string | null>) => {
    const why = await work();
    return why !== null && closed.open(path, 'write') ? work() : why;
  };
  return {
    readAhead: (states) => restorer.readAhead(states),
    whyNot: (path, state) => restorer.whyNot(path, state),
    remove: (path) => twice(path, () => restorer.remove(path)),
    put: (path, state) => twice(path, () => restorer.put(path, state)),
  };
}
