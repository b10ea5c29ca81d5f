/**
 * Keeps commands from the `.git` of every repository in the work tree beside its own: of submodules, and of checkouts that
 * lie there. What is in it may hold a token, and what a command wrote there, the user's own git would run.
 */

import { join } from 'node:path';
import type { Mount } from './bubblewrap-args.ts';
import { statOf } from './host-files.ts';

export interface Covered {
  readonly root: string;
  /** Where the work tree is seen. */
  readonly at: string;
  /** Relative to the root. */
  readonly nested: readonly string[];
  /** An empty folder of ours. */
  readonly emptyFolder: string;
}

/**
 * A cover must not lie in a folder that a command can move or replace by a link: the next command's would follow. So every
 * folder on the way is mounted onto itself, which pins it down. A `.git` that is a file says where the git dir is; it is
 * shown and cannot be changed. Where there is none, as in a submodule that is not checked out, none can be made.
 */
export function nestedCovers({ root, at, nested, emptyFolder }: Covered): Mount[] {
  // What somebody outside has removed meanwhile would be made anew by a mount.
  const there = nested.filter((folder) => statOf(join(root, folder))?.isDirectory());
  const pins = [...new Set(there.flatMap((folder) => [...foldersAbove(folder), folder]))].sort();
  return [
    ...pins.map((folder): Mount => ({ kind: 'read-write', ...inTree(folder), optional: true })),
    ...there.map((folder): Mount => {
      const dotGit = join(folder, '.git');
      const stats = statOf(join(root, dotGit));
      if (stats === null) return { kind: 'read-only', ...inTree(folder), optional: true };
      const shown = stats.isFile() ? {} : { source: emptyFolder };
      return { kind: 'read-only', ...inTree(dotGit), ...shown, optional: true };
    }),
  ];

  function inTree(path: string): { source: string; at: string } {
    return { source: join(root, path), at: join(at, path) };
  }
}

function foldersAbove(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
