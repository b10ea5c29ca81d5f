/** Clears the set-uid and set-gid bits that commands left in places that nothing else has examined. */

import type { Warning } from '../../../domain/warnings/warning.ts';
import { ClosedPlaces, closedPlacesFile } from '../../../files/closed-places.ts';
import { Breath } from '../../../files/time-limit.ts';
import { NO_FOLDER_LIMIT, TreeView } from '../../../files/tree-view.ts';
import { GitDirs } from './git-dirs.ts';
import { SetIds, setIdsFile } from './set-ids.ts';

/** Visits every place of the work tree except git dirs, for a run whose other looks were cut short. */
export async function sweepSetIds(
  root: string,
  closed: Pick<ClosedPlaces, 'insist'>,
  setIds: SetIds,
): Promise<void> {
  const folders = new GitDirs({ root, closed, setIds, limit: NO_FOLDER_LIMIT });
  const view = new TreeView(root);
  const breath = new Breath();
  try {
    const waiting = [''];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const read = folders.read(view, folder);
      if (typeof read === 'string') continue;
      const names = read.files.split('/').slice(0, -1);
      for (const name of names) {
        const path = folder === '' ? name : `${folder}/${name}`;
        const look = closed.insist(path, () => view.lookAt(path));
        if (look.status === 'seen') setIds.see(view, path, look.stat);
      }
      waiting.push(...read.folders);
      await breath.after(1 + names.length);
    }
  } finally {
    view.close();
  }
}

/** The same for a run that is over, of which only the shadow repository is left. Returns what to report. */
export async function clearSetIdsOf(root: string, shadowDir: string): Promise<Warning[]> {
  const setIds = new SetIds(setIdsFile(shadowDir));
  setIds.recall();
  const closed = new ClosedPlaces({ root, file: closedPlacesFile(shadowDir), warn: () => undefined });
  closed.recall();
  await sweepSetIds(root, closed, setIds);
  return setIds.warnings();
}
