/** Repositories in the work tree beside its own: submodules, and those that nobody tracks. */

import { lookAt } from './work-tree.ts';

/** Each costs every command some mounts. */
const MOST = 64;

/**
 * Of these folders, those that can be kept from commands, as far as their `.git` goes, whether it is there or not. Warns of the
 * others: what is missing or a link would lead the cover elsewhere, a name that is not UTF-8 is no argument for a program, and
 * more than 64 cost too much time.
 */
export function coverable(root: string, folders: readonly string[], warn: (text: string) => void): string[] {
  const covered: string[] = [];
  for (const folder of [...new Set(folders)].sort()) {
    const isNamed = !/\p{Surrogate}/u.test(folder);
    if (isNamed && isCoverable(root, folder) && covered.length < MOST) covered.push(folder);
    else warn(`${JSON.stringify(`${folder}/.git`)} is within reach of commands.`);
  }
  return covered;
}

function isCoverable(root: string, folder: string): boolean {
  const around = lookAt(root, folder);
  if (around.status !== 'seen' || around.stat.kind !== 'folder') return false;
  const dotGit = lookAt(root, `${folder}/.git`);
  if (dotGit.status === 'absent') return true;
  return dotGit.status === 'seen' && (dotGit.stat.kind === 'file' || dotGit.stat.kind === 'folder');
}
