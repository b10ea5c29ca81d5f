/** Repositories in the work tree beside its own: submodules, those that nobody tracks, and linked worktrees. */

import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { invisible } from '../files/stat.ts';
import { lookAt } from '../files/tree-view.ts';
import type { NestedRepository } from '../ports.ts';
import type { Checkout } from './checkout-layout.ts';
import { textOfFile } from './repository-file.ts';

/** Git dirs that are covered at most: each costs every command two mounts, and their cost grows with their square. */
const MAX_COVERED = 64;

export interface Coverage {
  readonly nested: NestedRepository[];
  /** Folders whose `.git` commands can reach. */
  readonly uncovered: string[];
}

/**
 * Of these folders, those that can be kept from commands, as far as their `.git` goes, whether it is there or not. Warns of the
 * others: a `.git` that is a link would lead the cover elsewhere, a name that is not UTF-8 is no argument for a program, and
 * more than 64 cost too much time. Submodules that are not checked out take what room is left; what a command makes in one of
 * the others is removed afterwards.
 */
export function coverable(root: string, folders: readonly string[], warn: (text: string) => void): Coverage {
  const nested: NestedRepository[] = [];
  const uncovered: string[] = [];
  const empty: NestedRepository[] = [];
  for (const path of [...new Set(folders)].sort()) {
    const dotGit = gitOf(root, path);
    if (dotGit === 'absent') continue;
    const isNamed = !/\p{Surrogate}/u.test(path);
    if (dotGit === 'none') {
      if (isNamed) empty.push({ path, dotGit });
    } else if (dotGit !== 'other' && isNamed && nested.length < MAX_COVERED) {
      nested.push({ path, dotGit });
    } else {
      uncovered.push(path);
      warn(`${JSON.stringify(`${path}/.git`)} can be reached by commands.`);
    }
  }
  nested.push(...empty.slice(0, MAX_COVERED - nested.length));
  return { nested: nested.sort((a, b) => (a.path < b.path ? -1 : 1)), uncovered };
}

/** Marks those whose files commands may not change. */
export function underPolicy(
  nested: readonly NestedRepository[],
  isReadOnly: (folder: string) => boolean,
): NestedRepository[] {
  return nested.map((one) => (isReadOnly(one.path) ? { ...one, readOnly: true } : one));
}

/** The linked worktrees of this repository that lie in the work tree, often in an ignored folder, where nobody looks for them. */
export function linkedWorktrees({ root, commonDir }: Pick<Checkout, 'root' | 'commonDir'>): string[] {
  const known = join(commonDir, 'worktrees');
  return (orMissing(() => readdirSync(known)) ?? []).flatMap((name) => {
    const file = lookAt(known, `${name}/gitdir`);
    if (file.status !== 'seen' || file.stat.kind !== 'file') return [];
    const text = textOfFile(join(known, name, 'gitdir'))?.trim();
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

/** What the folder's `.git` is; `absent` where there is no such folder, `other` for what cannot be covered or looked at. */
function gitOf(root: string, folder: string): NestedRepository['dotGit'] | 'absent' | 'other' {
  const around = lookAt(root, folder);
  if (around.status === 'unreadable') return 'other';
  if (around.status === 'absent' || around.stat.kind !== 'folder') return 'absent';
  const dotGit = lookAt(root, `${folder}/.git`);
  if (dotGit.status === 'absent') return 'none';
  if (dotGit.status !== 'seen') return 'other';
  return dotGit.stat.kind === 'file' || dotGit.stat.kind === 'folder' ? dotGit.stat.kind : 'other';
}
