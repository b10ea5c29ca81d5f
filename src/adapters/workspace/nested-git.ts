/** Repositories in the work tree beside its own: submodules, those that nobody tracks, and linked worktrees. */

import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { NestedRepository } from '../../ports.ts';
import type { Checkout } from './checkout-layout.ts';
import { lookAt } from './tree-view.ts';
import { invisible } from './work-tree.ts';

/** Each costs every command some mounts. */
const MOST = 64;

/**
 * Of these folders, those that can be kept from commands, as far as their `.git` goes, whether it is there or not. Warns of the
 * others: what is missing or a link would lead the cover elsewhere, a name that is not UTF-8 is no argument for a program, and
 * more than 64 cost too much time.
 */
export function coverable(
  root: string,
  folders: readonly string[],
  warn: (text: string) => void,
): NestedRepository[] {
  const covered: NestedRepository[] = [];
  for (const path of [...new Set(folders)].sort()) {
    const dotGit = /\p{Surrogate}/u.test(path) ? null : coverableGit(root, path);
    if (dotGit !== null && covered.length < MOST) covered.push({ path, dotGit });
    else warn(`${JSON.stringify(`${path}/.git`)} is within reach of commands.`);
  }
  return covered;
}

/** The linked worktrees of this repository that lie in the work tree, often in an ignored folder, where nobody looks for them. */
export function linkedWorktrees({ root, commonDir }: Pick<Checkout, 'root' | 'commonDir'>): string[] {
  const known = join(commonDir, 'worktrees');
  return (orMissing(() => readdirSync(known)) ?? []).flatMap((name) => {
    const file = lookAt(known, `${name}/gitdir`);
    if (file.status !== 'seen' || file.stat.kind !== 'file') return [];
    const text = orMissing(() => readFileSync(join(known, name, 'gitdir'), 'utf8'))?.trim();
    if (!text || text.includes('\0')) return [];
    // Of one that somebody has removed, git still has the entry.
    const folder = orMissing(() => realpathSync(dirname(resolve(join(known, name), text))));
    if (folder === null) return [];
    const path = relative(root, folder);
    return path === '' || path.startsWith('..') ? [] : [path];
  });
}

function orMissing<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    invisible(error);
    return null;
  }
}

/** What the folder's `.git` is; null when it cannot be covered, or cannot be looked at. */
function coverableGit(root: string, folder: string): NestedRepository['dotGit'] | null {
  const around = lookAt(root, folder);
  if (around.status !== 'seen' || around.stat.kind !== 'folder') return null;
  const dotGit = lookAt(root, `${folder}/.git`);
  if (dotGit.status === 'absent') return 'none';
  if (dotGit.status !== 'seen') return null;
  return dotGit.stat.kind === 'file' || dotGit.stat.kind === 'folder' ? dotGit.stat.kind : null;
}
