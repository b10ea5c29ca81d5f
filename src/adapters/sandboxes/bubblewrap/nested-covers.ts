/**
 * Keeps commands from the `.git` of every repository in the work tree beside its own: of submodules, and of checkouts that
 * lie there. What is in it may hold a token, and what a command wrote there, the user's own git would run. Of some, the files
 * may not be changed either.
 */

import { join } from 'node:path';
import type { NestedRepository } from '../../../ports.ts';
import { hasVanished } from '../host-files.ts';
import type { Mount } from './args.ts';

/** The repositories within the work tree whose git dirs are covered. */
export interface Covered {
  readonly root: string;
  /** Where the work tree is seen. */
  readonly at: string;
  readonly nested: readonly NestedRepository[];
  /** An empty folder of ours. */
  readonly emptyFolder: string;
}

/**
 * A cover must not lie in a folder that a command can move or replace by a link: the next command's would follow. So every
 * folder on the way is mounted onto itself, which pins it down. A `.git` that is a file says where the git dir is; it is
 * shown and cannot be changed; where that git dir lies in the work tree, it is hidden like a `.git`. Where there is none, as in a submodule that is not checked out, none can be made.
 *
 * One whose files may not change is mounted read-only as a whole, which pins down everything in it: that takes no further
 * mount, and one less where its `.git` is a file.
 *
 * The work tree is not looked at: a command before may have closed a folder on the way, so that nothing below it can be
 * seen, and the next one may open it again. bubblewrap needs no permission to mount there. Where a place is gone, it is not
 * made anew: nothing is run then.
 */
export function nestedCovers({ root, at, nested, emptyFolder }: Covered): Mount[] {
  for (const one of nested) refuseIfGone(root, placeOf(one));
  const readOnly = new Set(nested.filter((one) => one.readOnly === true).map(({ path }) => path));
  const isFixed = (path: string) => foldersAbove(path).some((folder) => readOnly.has(folder));
  const pins = new Set(
    nested.flatMap(({ path, dotGit }) => [...foldersAbove(path), ...(dotGit === 'itself' ? [] : [path])]),
  );
  return [
    ...[...pins]
      .filter((folder) => !isFixed(folder))
      .sort()
      .map(
        (folder): Mount => ({ kind: readOnly.has(folder) ? 'read-only' : 'read-write', ...inTree(folder) }),
      ),
    ...nested.flatMap((one): Mount[] => {
      const place = placeOf(one);
      if (one.dotGit === 'folder' || one.dotGit === 'itself')
        return [{ kind: 'read-only', ...inTree(place), source: emptyFolder }];
      return isFixed(join(one.path, '.git')) ? [] : [{ kind: 'read-only', ...inTree(place) }];
    }),
  ];

  function inTree(path: string): { source: string; at: string } {
    return { source: join(root, path), at: join(at, path) };
  }
}

/** What is covered: the `.git`, or the folder itself. */
function placeOf({ path, dotGit }: NestedRepository): string {
  return dotGit === 'none' || dotGit === 'itself' ? path : join(path, '.git');
}

/** Whoever removed it was no command: each has its folders pinned down. */
function refuseIfGone(root: string, path: string): void {
  if (hasVanished(join(root, path))) {
    throw new Error(
      `${join(root, path)} was there when the run began and is gone, so it cannot be hidden from commands. Put it back, or start a new run.`,
    );
  }
}

function foldersAbove(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
