/** Pipes and devices where git opens a file of its own accord, and would wait: rule files, and those that mark a repository. */

import { lstatSync, statSync, unlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRuleFile, nameOf, quotedName } from '../../../domain/changes/path.ts';
import { UnusableFile } from '../../../domain/errors/thrown.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { hasCode } from '../../../files/failures.ts';
import { encodeName } from '../../../files/names.ts';
import { viewing } from '../../../files/tree-view.ts';
import { gitDirNamedIn } from '../../../git/nested-git.ts';
import type { FoundFolders } from './folders.ts';

const WHY = 'is a pipe or device, which git would wait for';

type Found = Pick<FoundFolders, 'special' | 'gitDirs'>;

/** Throws `UnusableFile` for one that is there at the start. */
export function refuseBlocking(root: string, found: Found): void {
  const [first] = blockingIn(root, found);
  if (first !== undefined) throw new UnusableFile(resolve(root, first), WHY);
}

/** Relative to the root, or absolute behind a `.git` that names a folder. */
function blockingIn(root: string, { special, gitDirs }: Found): string[] {
  const opened = gitDirs.filter((path) => nameOf(path) === '.git').flatMap((path) => openedIn(root, path));
  return [...special.filter(isRuleFile), ...opened.filter((path) => isBlocking(root, path))];
}

/** What git opens in order to see whether there is a repository. */
function openedIn(root: string, dotGit: string): string[] {
  const gitDir = gitDirNamedIn(join(root, dotGit)) ?? dotGit;
  return [`${gitDir}/HEAD`, `${gitDir}/commondir`];
}

function isBlocking(root: string, path: string): boolean {
  // A HEAD that is a link is not opened.
  const look = nameOf(path) === 'HEAD' ? lstatSync : statSync;
  try {
    const stat = look(encodeName(resolve(root, path)), { throwIfNoEntry: false });
    return stat !== undefined && !(stat.isFile() || stat.isDirectory() || stat.isSymbolicLink());
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** What is needed to remove them. */
interface BlockingPlaces {
  readonly root: string;
  readonly closed: Pick<ClosedPlaces, 'open'>;
  warn(warning: Warning): void;
}

/** Removes those that are there later. Throws `UnusableFile` if one stays. */
export function removeBlocking({ root, closed, warn }: BlockingPlaces, found: Found): void {
  for (const path of blockingIn(root, found)) {
    const isRemoved =
      !path.startsWith('/') && (remove(root, path) || (closed.open(path, 'write') && remove(root, path)));
    // Behind a link it is still there.
    if (!isRemoved || isBlocking(root, path)) throw new UnusableFile(resolve(root, path), WHY);
    warn(warning('WARN_SPECIAL_REMOVED', `${quotedName(path)} was a pipe or device, and was removed.`));
  }
}

/** False if it is still there. */
function remove(root: string, path: string): boolean {
  return viewing(root, (view) => {
    try {
      unlinkSync(view.place(path));
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return true;
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'EBUSY')) return false;
      throw error;
    }
  });
}
