/**
 * Makes a tree by applying a few changes to another. Git would read and write an index of all files; this reads and writes only
 * the folders above changed paths.
 */

import { foldersAround } from '../../domain/changes/path.ts';
import { type ObjectFormat, ObjectStore } from './object-store.ts';
import { FOLDER_MODE, latin1Name, readFolders, type TreeFolder, treeBytes } from './tree-folders.ts';
import type { TreeEdit } from './trees.ts';

/** The tree to begin with, in the repository that the new one is written to. */
export interface BaseTree {
  readonly gitDir: string;
  readonly tree: string;
  readonly objectFormat: ObjectFormat;
}

/** A tree that was written. */
export interface EditedTree {
  readonly id: string;
  /** Its folders around what was edited. */
  readonly folders: ReadonlyMap<string, TreeFolder>;
}

/**
 * Writes the tree of `from` with these edits. As in an index, a file replaces a folder of its name. Null if a folder on the way is as
 * git would not write it again: then only an index gives the tree that git makes.
 */
export async function editedTree(from: BaseTree, edits: readonly TreeEdit[]): Promise<EditedTree | null> {
  const { gitDir, tree, objectFormat } = from;
  if (edits.length === 0) return { id: tree, folders: new Map() };
  const around = new Set(edits.flatMap(({ path }) => foldersAround(path)));
  const folders = await readFolders(gitDir, tree, around);
  if (folders === null) return null;
  for (const { path, state } of edits) if (state === null) remove(folders, path);
  for (const { path, state } of edits) if (state !== null) put(folders, path, state);
  return { id: write(new ObjectStore(gitDir, objectFormat), folders), folders };
}

function remove(folders: ReadonlyMap<string, TreeFolder>, path: string): void {
  const { folder, name } = placeOf(path);
  const inIt = folders.get(folder);
  if (inIt?.get(name)?.mode !== FOLDER_MODE) inIt?.delete(name);
}

function put(folders: Map<string, TreeFolder>, path: string, state: NonNullable<TreeEdit['state']>): void {
  for (const folder of foldersAround(path)) if (!folders.has(folder)) folders.set(folder, new Map());
  const { folder, name } = placeOf(path);
  const inIt = folders.get(folder);
  if (inIt?.get(name)?.mode === FOLDER_MODE)
    for (const other of folders.keys()) if (`${other}/`.startsWith(`${path}/`)) folders.delete(other);
  inIt?.set(name, { mode: state.mode, id: state.blob });
}

/** Deepest folders first: their parents contain their ids. */
function write(store: ObjectStore, folders: ReadonlyMap<string, TreeFolder>): string {
  const depth = (path: string) => (path === '' ? 0 : path.split('/').length);
  for (const [path, entries] of [...folders].sort(([a], [b]) => depth(b) - depth(a))) {
    if (path === '') continue;
    const { folder, name } = placeOf(path);
    const outer = folders.get(folder);
    const there = outer?.get(name);
    if (entries.size > 0)
      outer?.set(name, { mode: FOLDER_MODE, id: store.writeTree(treeBytes(entries), there?.id ?? null) });
    else if (there?.mode === FOLDER_MODE) outer?.delete(name);
  }
  return store.writeTree(treeBytes(folders.get('') ?? new Map()), null);
}

function placeOf(path: string): { folder: string; name: string } {
  const cut = path.lastIndexOf('/');
  return { folder: path.slice(0, Math.max(cut, 0)), name: latin1Name(path.slice(cut + 1)) };
}
