/** Repositories in the work tree beside its own: submodules, and those that nobody tracks. */

import { lookAt } from './work-tree.ts';

/** Each costs every command some mounts. */
const MOST = 64;

/**
 * Of these folders, those whose `.git` can be kept from commands. Warns of the others: a link would lead the cover away, a
 * name that is not UTF-8 is no argument for a program, and more than 64 cost too much time.
 */
export function coverable(root: string, folders: readonly string[], warn: (text: string) => void): string[] {
  const covered: string[] = [];
  for (const folder of [...new Set(folders)].sort()) {
    const look = lookAt(root, `${folder}/.git`);
    if (look.status === 'absent') continue;
    const isPlain = look.status === 'seen' && (look.stat.kind === 'file' || look.stat.kind === 'folder');
    if (isPlain && !/\p{Surrogate}/u.test(folder) && covered.length < MOST) covered.push(folder);
    else warn(`${JSON.stringify(`${folder}/.git`)} is within reach of commands.`);
  }
  return covered;
}
