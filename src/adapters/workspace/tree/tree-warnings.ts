/** What people are warned of about the work tree. */

import { type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import { isRefusedForLinks, isRefusedName, quotedName } from '../../../domain/changes/path.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { FileStat } from '../../../files/stat.ts';
import { attributesOf } from './committed-forms.ts';
import type { ContentPlaces } from './content-places.ts';

/** Folders or files that were looked at in vain. */
export function unreadableWarnings(paths: Iterable<string>): Warning[] {
  return [...paths].map((path) =>
    warning('WARN_UNREADABLE', `${quotedName(path)} cannot be read and counts as unchanged.`),
  );
}

/** `untracked` are paths as git lists them: a repository ends with a slash. */
export function repositoryWarnings(untracked: readonly string[]): Warning[] {
  return untracked
    .filter((path) => path.endsWith('/'))
    .map((path) =>
      warning(
        'WARN_REPOSITORY_LEFT_OUT',
        `${quotedName(path.slice(0, -1))} is a separate repository and is left out.`,
      ),
    );
}

/** Those of the start. `repositories` are folders that have a git folder, besides submodules, and files of this repository. */
export function startWarnings(submodules: readonly string[], repositories: readonly string[]): Warning[] {
  const inside = repositories.map((folder) =>
    warning(
      'WARN_GIT_FOLDER_INSIDE',
      `${quotedName(folder)} has its own git folder; its files are included anyway.`,
    ),
  );
  if (submodules.length === 0) return inside;
  return [
    warning('WARN_SUBMODULES_LEFT_OUT', `Submodules are left out: ${submodules.join(', ')}.`),
    ...inside,
  ];
}

/** About a name that no patch can hold, or null. `kind` is what is there, if anything is. */
export function nameWarning(path: string, kind: FileStat['kind'] | null): Warning | null {
  const names = path.split('/');
  const at = names.findIndex((name) => isRefusedName(name) || (kind === 'link' && isRefusedForLinks(name)));
  if (at < 0) return null;
  const refused = quotedName(names.slice(0, at + 1).join('/'));
  return warning('WARN_NAME_NOT_ACCEPTED', `${refused} has a name that git does not accept and is left out.`);
}

/** Which changed files are in the patch otherwise than their filter would have them. */
export async function filterWarnings(
  contents: ContentPlaces,
  changes: readonly PathChange[],
): Promise<Warning[]> {
  const paths = changes.flatMap(({ path, before, after, ignored }) =>
    after === null || ignored === 'from_now' || after.mode === '120000' || sameOnDisk(before, after)
      ? []
      : [path],
  );
  if (paths.length === 0 || !contents.mayConvert()) return [];
  return [...(await attributesOf(contents, paths))].flatMap(([path, { filter }]) => {
    if (filter === null) return [];
    const name = quotedName(path);
    return filter === 'lfs'
      ? warning(
          'WARN_LFS_POINTER',
          `${name} is in the patch as a Git LFS pointer; push its content with git lfs.`,
        )
      : warning(
          'WARN_FILTER_NOT_RUN',
          `${name} is in the patch as it is on disk; its filter ${quotedName(filter)} was not run.`,
        );
  });
}
