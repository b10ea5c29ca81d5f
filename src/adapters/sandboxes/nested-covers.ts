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
 * shown and cannot be changed.
 */
export function nestedCovers({ root, at, nested, emptyFolder }: Covered): Mount[] {
  // What somebody outside has removed meanwhile would be made anew by a mount.
  const there = nested.flatMap((folder) => {
    const stats = statOf(join(root, folder, '.git'));
    return stats === null ? [] : [{ folder, isFile: stats.isFile() }];
  });
  const pins = new Set(there.flatMap(({ folder }) => [...foldersAbove(folder), folder]));
  return [
    ...[...pins].sort().map(
      (folder): Mount => ({
        kind: 'read-write',
        source: join(root, folder),
        at: join(at, folder),
        optional: true,
      }),
    ),
    ...there.map(({ folder, isFile }): Mount => {
      const dotGit = join(folder, '.git');
      const source = isFile ? join(root, dotGit) : emptyFolder;
      return { kind: 'read-only', source, at: join(at, dotGit), optional: true };
    }),
  ];
}

function foldersAbove(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
