/** Repositories in the work tree beside its own: submodules, those that nobody tracks, and linked worktrees. */

import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { invisible } from '../files/stat.ts';
import { lookAt } from '../files/tree-view.ts';
import type { NestedRepository } from '../ports.ts';
import type { Checkout } from './checkout-layout.ts';
import { gitDirsBehind } from './leading-git-dirs.ts';
import { textOfFile } from './repository-file.ts';

/** Git dirs that are covered at most: each costs every command two mounts, and their cost grows with their square. */
const MAX_COVERED = 64;

/** The nested repositories of a work tree, and which cannot be covered. */
export interface Coverage {
  readonly nested: NestedRepository[];
  /** Folders whose `.git` commands can reach. */
  readonly uncovered: string[];
}

/**
 * Of these folders, those that can be kept from commands, as far as their `.git` goes, whether it is there or not. Warns of the
 * others: a `.git` that is a link would lead the cover elsewhere, a name that is not UTF-8 is no argument for a program, and
 * more than 64 cost too much time. A git dir that such a `.git`, or the checkout's own, leads to is covered as well. Submodules that are not checked out take what room is left; what a command makes in one of
 * the others is removed afterwards.
 */
export function coverable(root: string, folders: readonly string[], warn: (text: string) => void): Coverage {
  const nested: NestedRepository[] = [];
  const uncovered: string[] = [];
  const empty: NestedRepository[] = [];
  const behind = new Set<string>();
  const leave = (path: string, named: string) => {
    uncovered.push(path);
    warn(`${JSON.stringify(named)} can be reached by commands.`);
  };
  const lookBehind = (folder: string) => {
    for (const { status, path } of gitDirsBehind(root, folder)) {
      const isNamed = !/\p{Surrogate}/u.test(path);
      if (status === 'folder' && isNamed && nested.length + behind.size < MAX_COVERED) behind.add(path);
      else leave(folder === '' ? '.' : folder, path);
    }
  };
  lookBehind('');
  for (const path of [...new Set(folders)].sort()) {
    const dotGit = gitOf(root, path);
    if (dotGit === 'absent') continue;
    if (dotGit === 'file' || dotGit === 'folder') lookBehind(path);
    const isNamed = !/\p{Surrogate}/u.test(path);
    if (dotGit === 'none') {
      if (isNamed) empty.push({ path, dotGit });
    } else if (dotGit !== 'other' && isNamed && nested.length + behind.size < MAX_COVERED) {
      nested.push({ path, dotGit });
    } else {
      leave(path, `${path}/.git`);
    }
  }
  for (const path of behind) nested.push({ path, dotGit: 'itself' });
  nested.push(...empty.slice(0, MAX_COVERED - nested.length));
  // Below a cover there is nothing to mount anything on.
  const isHidden = (path: string) => [...behind].some((folder) => path.startsWith(`${folder}/`));
  const shown = nested.filter(({ path }) => !isHidden(path));
  return { nested: shown.sort((a, b) => (a.path < b.path ? -1 : 1)), uncovered: [...new Set(uncovered)] };
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
function gitOf(
  root: string,
  folder: string,
): Exclude<NestedRepository['dotGit'], 'itself'> | 'absent' | 'other' {
  const around = lookAt(root, folder);
  if (around.status === 'unreadable') return 'other';
  if (around.status === 'absent' || around.stat.kind !== 'folder') return 'absent';
  const dotGit = lookAt(root, `${folder}/.git`);
  if (dotGit.status === 'absent') return 'none';
  if (dotGit.status !== 'seen') return 'other';
  return dotGit.stat.kind === 'file' || dotGit.stat.kind === 'folder' ? dotGit.stat.kind : 'other';
}
