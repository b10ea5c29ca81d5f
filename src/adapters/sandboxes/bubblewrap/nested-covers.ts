/**
 * Keeps commands away from the `.git` of every other repository in the work tree: of submodules, and of checkouts inside it.
 * It may contain a token, and anything that a command wrote there would be run by the user's own git. In some of them, the
 * files may not be changed either.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { NestedRepository } from '../../../ports/workspace.ts';
import type { SandboxCommand } from '../../../ports.ts';
import { hasVanished } from '../host-files.ts';
import type { Mount } from '../mount.ts';
import type { SandboxOptions } from '../options.ts';

/** The covers, once the repositories are known. `files` is a private folder. */
export async function coversOf(
  options: Pick<SandboxOptions, 'root' | 'shownAs' | 'sandboxGitDir'>,
  files: string,
): Promise<(command: Pick<SandboxCommand, 'isSetup'>) => readonly Mount[]> {
  const emptyFolder = join(files, 'empty-folder');
  await mkdir(emptyFolder, { mode: 0o755 });
  return ({ isSetup = false }) => {
    const { nested } = options.sandboxGitDir;
    const shown = isSetup ? nested.map((one) => ({ ...one, readOnly: false })) : nested;
    return nestedCovers(options, shown, emptyFolder);
  };
}

/**
 * A cover must not be in a folder that a command can move or replace by a link, or the next command's cover would follow it.
 * So every folder on the way is mounted onto itself, which pins it. A `.git` that is a file says where the git dir is; it is
 * visible but cannot be changed; if that git dir is in the work tree, it is hidden like a `.git`. If there is none, as in a
 * submodule that is not checked out, none can be created.
 *
 * A repository whose files may not change is mounted read-only as a whole, which pins everything in it: that takes no
 * further mount, and one less if its `.git` is a file.
 *
 * The work tree is not examined: an earlier command may have closed a folder on the way, so that nothing below it is
 * visible, and the next one may open it again. bubblewrap needs no permission to mount there. If a place is gone, it is not
 * recreated: nothing is run then.
 */
function nestedCovers(
  { root, shownAs: at = root }: Pick<SandboxOptions, 'root' | 'shownAs'>,
  nested: readonly NestedRepository[],
  emptyFolder: string,
): Mount[] {
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

/** The place to cover: the `.git`, or the folder itself. */
function placeOf({ path, dotGit }: NestedRepository): string {
  return dotGit === 'none' || dotGit === 'itself' ? path : join(path, '.git');
}

/** No command can have removed it, since every command has its folders pinned. */
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
