/** Tells whether anything below a folder has been touched, without reading a file. */

import { createHash } from 'node:crypto';
import { Breath } from '../../files/time-limit.ts';
import { TreeView } from '../../files/tree-view.ts';

/**
 * A hash of the names and stats of everything below `root`, an absolute path without links; of folders only that they are there,
 * since whatever is added or removed shows by itself. Null where something cannot be looked at. `except` are names in the root.
 * Rejects with `CutShort` when the time is over.
 */
export async function folderState(root: string, except: readonly string[] = []): Promise<string | null> {
  const hash = createHash('sha256');
  const view = new TreeView(root);
  const breath = new Breath();
  try {
    const waiting = [''];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const listing = view.listFolder(folder);
      if (listing.status !== 'seen') return null;
      hash.update(`${folder}/\0`);
      const entries = listing.entries
        .filter(({ name }) => folder !== '' || !except.includes(name))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const { name, folder: isFolder } of entries) {
        const path = folder === '' ? name : `${folder}/${name}`;
        if (isFolder) {
          waiting.push(path);
          continue;
        }
        const look = view.lookAt(path);
        if (look.status !== 'seen') return null;
        const { kind, executable, setId, size, mtimeNs, ctimeNs, ino } = look.stat;
        hash.update(`${name}\0${kind} ${executable} ${setId} ${size} ${mtimeNs} ${ctimeNs} ${ino}\0`);
      }
      await breath.after(1 + entries.length);
    }
  } finally {
    view.close();
  }
  return hash.digest('hex');
}
