/** A tree on GitHub, read only along some paths, and what it becomes when files in it change. */

import { deletionsFirst, type FileMode } from '../../domain/changes/change.ts';
import { folderOf, foldersAround, nameOf } from '../../domain/changes/path.ts';
import type { Occupant } from '../../domain/github/publishing/rebase-file.ts';
import { folderId, readFolder, type TreeEntry } from './objects.ts';
import type { OnGitHub } from './request.ts';

/** A path and its new state; null removes it. */
export interface PartialTreeEdit {
  readonly path: string;
  readonly state: { readonly mode: FileMode; readonly blob: string } | null;
}

/** A tree on GitHub. Only the folders along some paths are read. */
export interface PartialTree {
  readonly sha: string;
  occupant(path: string): Occupant | null;
  /** The tree after these edits; or the conflicting path, if a file would be below a file. */
  after(edits: readonly PartialTreeEdit[]): Edited;
}

/** `namesIn` returns the names in a folder that contains one of the paths or edits; it does not know other folders. */
export type Edited =
  | { status: 'ok'; sha: string; namesIn: (folder: string) => Iterable<string> }
  | { status: 'obstructed'; path: string };

/** Reads the folders that contain the paths, level by level, and no others. */
export async function readPartialTree(
  where: OnGitHub,
  sha: string,
  paths: readonly string[],
): Promise<PartialTree> {
  const folders = new Map<string, TreeEntry[]>();
  const wanted = new Set(paths.flatMap(foldersAround));
  for (let level = new Map([['', sha]]); level.size > 0; ) {
    const read = await Promise.all(
      [...level].map(async ([path, id]) => [path, await readFolder(where, id)] as const),
    );
    level = new Map();
    for (const [path, entries] of read) {
      folders.set(path, entries);
      for (const entry of entries) {
        const below = joined(path, entry.path);
        if (entry.mode === FOLDER && wanted.has(below)) level.set(below, entry.sha);
      }
    }
  }
  return { sha, occupant: (path) => occupantOf(folders, path), after: (edits) => edited(folders, edits) };
}

const FOLDER = '040000';

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function occupantOf(folders: ReadonlyMap<string, readonly TreeEntry[]>, path: string): Occupant | null {
  const [folder, name] = [folderOf(path), nameOf(path)];
  const entry = folders.get(folder)?.find((one) => one.path === name);
  if (!entry) return null;
  if (entry.mode === FOLDER) return { kind: 'folder' };
  // Very old repositories contain group-writable files.
  return { kind: 'file', mode: entry.mode === '100664' ? '100644' : entry.mode, blob: entry.sha };
}

function edited(
  folders: ReadonlyMap<string, readonly TreeEntry[]>,
  edits: readonly PartialTreeEdit[],
): Edited {
  const now = new Map(
    [...folders].map(([path, entries]) => [path, new Map(entries.map((entry) => [entry.path, entry]))]),
  );
  for (const { path, state } of deletionsFirst(edits, (edit) => edit.state)) {
    const [folder, name] = [folderOf(path), nameOf(path)];
    if (state === null) {
      now.get(folder)?.delete(name);
      continue;
    }
    for (const above of foldersAround(path)) if (!now.has(above)) now.set(above, new Map());
    now.get(folder)?.set(name, { path: name, mode: state.mode, sha: state.blob });
  }
  // Deepest first, so that a folder is known when its parent is written. Git does not store empty folders.
  const deepestFirst = [...now.keys()].sort((a, b) => b.split('/').length - a.split('/').length);
  for (const folder of deepestFirst) {
    if (folder === '') continue;
    const entries = [...(now.get(folder)?.values() ?? [])];
    const [parent, name] = [folderOf(folder), nameOf(folder)];
    const around = now.get(parent);
    const occupant = around?.get(name);
    if (entries.length > 0) {
      if (occupant && occupant.mode !== FOLDER) return { status: 'obstructed', path: folder };
      around?.set(name, { path: name, mode: FOLDER, sha: folderId(entries) });
    } else if (occupant?.mode === FOLDER) around?.delete(name);
  }
  const namesIn = (folder: string) => now.get(folder)?.keys() ?? [];
  return { status: 'ok', sha: folderId([...(now.get('')?.values() ?? [])]), namesIn };
}
