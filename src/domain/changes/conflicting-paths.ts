/** Which paths have to give way so that changes can be taken back. */

import type { PathChange } from './change.ts';

/**
 * `wanted`, plus those of `all` that conflict with them: a file where a folder has to be restored, and files in a folder
 * where a file has to be restored.
 */
export function withConflictingPaths(
  wanted: readonly PathChange[],
  all: readonly PathChange[],
): PathChange[] {
  const taken = new Set(wanted);
  for (let isDone = wanted.length === 0; !isDone; ) {
    const back = [...taken].flatMap(({ path, before }) => (before === null ? [] : [path]));
    const files = new Set(back);
    const folders = new Set(back.flatMap(foldersAbove));
    const inTheWay = all.filter(
      (change) =>
        !taken.has(change) &&
        change.after !== null &&
        (folders.has(change.path) || foldersAbove(change.path).some((folder) => files.has(folder))),
    );
    for (const change of inTheWay) taken.add(change);
    isDone = inTheWay.length === 0;
  }
  return [...taken];
}

/** `a` and `a/b` for `a/b/c`. */
function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
