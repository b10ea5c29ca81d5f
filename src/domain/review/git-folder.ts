/**
 * Repositories that are not called `.git`. Git considers any folder with a HEAD, objects and refs a repository, and even
 * `git status` in it starts the programs that its configuration names (such as `core.fsmonitor`).
 */

import { foldedName, foldedPath, folderOf, foldersAround, nameOf } from '../changes/path.ts';

/**
 * The folders around these paths that git would consider the paths' repository; sorted, `''` is the root. `namesIn` returns the
 * names in a folder, whatever they are: git accepts a link or an executable file where it looks for a folder. Source: git's
 * `is_git_directory` (setup.c). The content of HEAD is not checked.
 */
export function repositoriesAround(
  paths: Iterable<string>,
  namesIn: (folder: string) => Iterable<string>,
): string[] {
  const found = new Map<string, boolean>();
  const repositories = new Set<string>();
  for (const path of paths) {
    for (const folder of foldersAround(path)) {
      let is = found.get(folder);
      if (is === undefined) {
        is = isRepository(namesIn(folder));
        found.set(folder, is);
      }
      if (is && belongsTo(path, folder)) repositories.add(folder);
    }
  }
  return [...repositories].sort();
}

/**
 * The same for a tree whose paths are all known. Folders whose names differ only in case count as one, as they do on many
 * machines where the tree is checked out.
 */
export function repositoriesInTree(paths: Iterable<string>, tree: readonly string[]): string[] {
  const around = new Map<string, Set<string>>();
  const changed = [...paths];
  for (const path of changed)
    for (const folder of foldersAround(path)) around.set(foldedPath(folder), new Set());
  // Most trees have nothing that could be a HEAD.
  if (!tree.some((path) => isHead(path) && around.has(foldedPath(folderOf(path))))) return [];
  for (const path of tree) {
    for (const folder of foldersAround(path)) {
      const from = folder === '' ? 0 : folder.length + 1;
      around.get(foldedPath(folder))?.add(path.slice(from).split('/', 1)[0] ?? '');
    }
  }
  return repositoriesAround(changed, (folder) => around.get(foldedPath(folder)) ?? []);
}

/** Whether the path belongs to the repository in this folder. In the root, only what git would read there belongs to one. */
export function belongsTo(path: string, repository: string): boolean {
  if (repository !== '') return path.startsWith(`${repository}/`);
  return PARTS.has(foldedName(path.split('/', 1)[0] ?? ''));
}

/** Whether git considers a folder with these names a repository. Most folders contain nothing that could be a HEAD. */
export function isRepository(names: Iterable<string>): boolean {
  const listed = [...names];
  if (!listed.some(isHead)) return false;
  const all = new Set(listed.map(foldedName));
  // The git dir of a linked worktree has objects and refs elsewhere.
  return all.has('head') && ((all.has('objects') && all.has('refs')) || all.has('commondir'));
}

const PARTS: ReadonlySet<string> = new Set([
  ...['head', 'objects', 'refs', 'commondir', 'config', 'config.worktree', 'hooks', 'info', 'packed-refs'],
  ...['reftable', 'modules', 'worktrees', 'index'],
]);

function isHead(path: string): boolean {
  const name = nameOf(path);
  return (/^h/i.test(name) || /[^ -~]/.test(name)) && foldedName(name) === 'head';
}
