/** Takes changes of the work tree back, and sees whether they are gone. */

import { type FileState, type PathChange, sameOnDisk } from '../../domain/change.ts';
import type { PutBack } from '../../ports.ts';
import { openRestorer, type RestorePlaces } from './restore.ts';
import type { Snapshot } from './snapshot.ts';

export async function putBack(
  changes: readonly PathChange[],
  { snapshot, ...places }: RestorePlaces & { snapshot: Snapshot },
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
async function restore(changes: readonly PathChange[], places: RestorePlaces): Promise<Map<string, string>> {
  const restorer = await openRestorer(places);
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
