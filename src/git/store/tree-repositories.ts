/** Repositories that are not called `.git` in a tree. */

import { foldedName, foldersAround } from '../../domain/changes/path.ts';
import { repositoriesAround, repositoriesInTree } from '../../domain/review/git-folder.ts';
import { namesInFolder, type TreeFolder } from './tree-folders.ts';

/** Those of a tree that one of these paths belongs to, sorted. `folders` are the folders of the tree around the paths. */
export async function repositoriesAmong(
  paths: readonly string[],
  folders: ReadonlyMap<string, TreeFolder>,
  allPaths: () => Promise<readonly string[]>,
): Promise<string[]> {
  const around = new Set(paths.flatMap(foldersAround));
  const names = new Map([...folders].map(([path, folder]) => [path, namesInFolder(folder)]));
  // Folders whose names differ only in case count as one, and then others than those around the paths belong to it.
  return hasDoubles(around, names)
    ? repositoriesInTree(paths, await allPaths())
    : repositoriesAround(paths, (folder) => names.get(folder) ?? []);
}

/** Whether one of the folders has a sibling whose name differs only in case. */
function hasDoubles(folders: ReadonlySet<string>, names: ReadonlyMap<string, readonly string[]>): boolean {
  const spelled = new Map<string, string>();
  const place = (folder: string, name: string) => `${folder}/${foldedName(name)}`;
  for (const path of folders) {
    const cut = path.lastIndexOf('/');
    if (path !== '')
      spelled.set(place(path.slice(0, Math.max(cut, 0)), path.slice(cut + 1)), path.slice(cut + 1));
  }
  for (const [folder, inIt] of names)
    for (const name of inIt) if ((spelled.get(place(folder, name)) ?? name) !== name) return true;
  return false;
}
