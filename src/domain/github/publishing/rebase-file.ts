/**
 * The result of one file of a patch in a tree that has moved on: a three-way merge of states, and of contents where needed.
 */

import type { FileMode } from '../../changes/change.ts';
import type { PatchedPath, PatchedState } from '../../changes/patch-text.ts';

/** What is at a path of the tree now. */
export type Occupant = { kind: 'file'; mode: FileMode; blob: string } | { kind: 'folder' };

/** Where the content of a file comes from: the current tree, the patch, or a merge of both. */
export type ContentFrom = 'tree' | 'patch' | 'merge';

/** What to do with one file of the patch on today's base. */
export type RebasedFile =
  | { do: 'nothing' }
  | { do: 'delete'; path: string }
  /** `removed` is the old path of a rename; `current` the blob that is there now. */
  | {
      do: 'put';
      path: string;
      removed: string | null;
      mode: FileMode;
      content: ContentFrom;
      current: string | null;
    }
  | { do: 'conflict'; path: string; why: string };

/** `occupant` returns what is at a path now, null if nothing. */
export function rebaseFile(file: PatchedPath, occupant: (path: string) => Occupant | null): RebasedFile {
  const { path, from, before, after } = file;
  const conflict = (why: string): RebasedFile => ({ do: 'conflict', path, why });
  const there = occupant(path);
  const source = from === null ? there : occupant(from);
  if (there?.kind === 'folder') return conflict('a folder has taken its place');
  if (source?.kind === 'folder') return conflict('a folder has taken the place of its old name');

  if (before === null) {
    if (after === null || after.mode === null) return conflict('the patch does not say what becomes of it');
    if (there === null)
      return { do: 'put', path, removed: null, mode: after.mode, content: 'patch', current: null };
    return isState(there, after) ? { do: 'nothing' } : conflict('another file was created there since');
  }
  if (after === null) {
    if (there === null) return { do: 'nothing' };
    return isState(there, before) ? { do: 'delete', path } : conflict('it has changed since');
  }
  if (from !== null && there !== null) {
    return source === null && isState(there, after)
      ? { do: 'nothing' }
      : conflict('another file was created there since');
  }
  if (source === null) return conflict(from === null ? 'it is gone' : `${from} is gone`);
  if (from === null && isState(source, after)) return { do: 'nothing' };
  const mode = mergedMode(source.mode, before, after);
  const content = mergedContent(source, before, after);
  if (mode === null || content === null) return conflict('it has changed since');
  if (from === null && content === 'tree' && mode === source.mode) return { do: 'nothing' };
  return { do: 'put', path, removed: from, mode, content, current: source.blob };
}

function isState(occupant: { mode: FileMode; blob: string }, state: PatchedState): boolean {
  return occupant.mode === state.mode && occupant.blob === state.blob;
}

/** Null if both sides have changed it, and differently. */
function mergedMode(now: FileMode, before: PatchedState, after: PatchedState): FileMode | null {
  if (before.mode === after.mode || after.mode === null) {
    // What the patch left unchanged is as in the tree, unless that is no longer a file.
    return before.mode === null || sameKind(now, before.mode) ? now : null;
  }
  return now === before.mode || now === after.mode ? after.mode : null;
}

function mergedContent(
  now: { mode: FileMode; blob: string },
  before: PatchedState,
  after: PatchedState,
): ContentFrom | null {
  if (before.blob === after.blob) return 'tree';
  if (now.blob === before.blob) return 'patch';
  if (now.blob === after.blob) return 'tree';
  const modes = [now.mode, before.mode, after.mode];
  return modes.every((mode) => mode === '100644' || mode === '100755') ? 'merge' : null;
}

function sameKind(a: FileMode, b: FileMode): boolean {
  return a.slice(0, 3) === b.slice(0, 3);
}
