/** Restores files even in folders whose permissions deny it. */

import type { Warning } from '../../../domain/warnings/warning.ts';
import { ClosedPlaces, closedPlacesFile } from '../../../files/closed-places.ts';
import { openRestorer, type RestorePlaces, type Restorer } from './restore.ts';

/** For a run that is over: folders that were closed when it began stay closed. `warn` is called for what is opened. */
export async function openInsistentRestorer(
  places: RestorePlaces,
  warn: (warning: Warning) => void,
): Promise<Restorer> {
  const { root, shadowDir } = places;
  const closed = new ClosedPlaces({ root, file: closedPlacesFile(shadowDir), warn });
  closed.recall();
  return insistent(await openRestorer(places), closed);
}

/** If access to a path is denied, opens its folders to their owner and tries a second time. */
export function insistent(restorer: Restorer, closed: Pick<ClosedPlaces, 'open'>): Restorer {
  return {
    ...restorer,
    async stateAmong(path, states) {
      const state = await restorer.stateAmong(path, states);
      return state === undefined && closed.open(path, 'look') ? restorer.stateAmong(path, states) : state;
    },
    async put(path, state) {
      const why = await restorer.put(path, state);
      return why !== null && closed.open(path, 'write') ? restorer.put(path, state) : why;
    },
  };
}
