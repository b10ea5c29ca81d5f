/**
 * Repositories that are not called `.git`. Git considers any folder with a HEAD, objects and refs a repository, and even
 * `git status` in it starts the programs that its configuration names (such as `core.fsmonitor`).
 */

import { byFolder, foldedName, foldedPath, folderOf, nameOf } from '../changes/path.ts';

/**
 * The folders around these paths that git would consider the paths' repository; sorted, `''` is the root. `namesIn` returns the
 * names in a folder, whatever they are: git accepts a link or an executable file where it looks for a folder. Source: git's
 * `is_git_directory` (setup.c). The content of HEAD is not checked.
 */
export function repositoriesAround(
  paths: Iterable<string>,
  namesIn: (folder: string) => Iterable<string>,
): string[] {
  interface Nested {
    readonly folder: string;
    readonly outer: Nested | null;
  }
  const nearest = byFolder<Nested | null>((folder, outer) =>
    folder !== '' && isRepository(namesIn(folder)) ? { folder, outer } : outer,
  );
  const repositories = new Set<string>();
  let isOfRoot = false;
  for (const path of paths) {
    isOfRoot ||= belongsTo(path, '');
    for (let one = nearest(path); one !== null && !repositories.has(one.folder); one = one.outer)
      repositories.add(one.folder);
  }
  if (isOfRoot && isRepository(namesIn(''))) repositories.add('');
  return [...repositories].sort();
}

/**
 * The same for a tree whose paths are all known. Folders whose names differ only in case count as one, as they do on many
 * machines where the tree is checked out.
 */
export function repositoriesInTree(paths: Iterable<string>, tree: readonly string[]): string[] {
  const around = new Map<string, Set<string>>();
  const changed = [...paths];
  const namesOf = byFolder<Set<string>>((folder) => {
    const names = around.get(foldedPath(folder)) ?? new Set();
    around.set(foldedPath(folder), names);
    return names;
  });
  for (const path of changed) namesOf(path);
  // Most trees have nothing that could be a HEAD.
  if (!tree.some((path) => isHead(path) && around.has(foldedPath(folderOf(path))))) return [];
  const namesThere = byFolder<Set<string> | undefined>((folder, outer) => {
    outer?.add(nameOf(folder));
    return around.get(foldedPath(folder));
  });
  for (const path of tree) namesThere(path)?.add(nameOf(path));
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
