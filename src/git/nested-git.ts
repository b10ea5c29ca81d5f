/** Other repositories in the work tree: submodules, untracked ones, and linked worktrees. */

import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { withoutTail } from '../domain/text/shorten.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import { orNone } from '../files/failures.ts';
import { readRegularFile } from '../files/regular-file.ts';
import { lookAt } from '../files/tree-view.ts';
import type { NestedRepository } from '../ports/workspace.ts';
import { MAX_POINTER_BYTES } from './repository-file.ts';

/** Maximum number of covered git dirs: each adds two mounts to every command, and the cost of mounts is quadratic. */
const MAX_COVERED = 64;

/** The nested repositories of a work tree, and those that cannot be covered. */
export interface Coverage {
  readonly nested: NestedRepository[];
  /** Folders whose `.git` commands can reach. */
  readonly uncovered: string[];
}

/**
 * Of these folders, those whose `.git` can be kept from commands, whether it exists or not. Warns about the others: a `.git`
 * that is a link would redirect the cover, a name that is not UTF-8 cannot be passed to a program, and more than 64 take too
 * long. A git dir that such a `.git`, or the checkout's own, points to is covered too. Submodules that are not checked out
 * get what room is left; what a command creates in an uncovered one is removed afterwards.
 */
export function coverable(
  root: string,
  folders: readonly string[],
  warn: (warning: Warning) => void,
): Coverage {
  const nested: NestedRepository[] = [];
  const uncovered: string[] = [];
  const empty: NestedRepository[] = [];
  const behind = new Set<string>();
  const leave = (path: string, named: string) => {
    uncovered.push(path);
    warn(warning('WARN_REPOSITORY_UNCOVERED', `${JSON.stringify(named)} can be reached by commands.`));
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
  // Nothing can be mounted below a cover.
  const isHidden = (path: string) => [...behind].some((folder) => path.startsWith(`${folder}/`));
  const shown = nested.filter(({ path }) => !isHidden(path));
  return { nested: shown.sort((a, b) => (a.path < b.path ? -1 : 1)), uncovered: [...new Set(uncovered)] };
}

/** The kind of the folder's `.git`; `absent` if there is none, `other` if it cannot be covered or examined. */
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

/** `reachable`: it is missing, or the way to it contains a link, so that commands could put another in its place. */
type LedTo = { status: 'folder' | 'reachable'; path: string };

/**
 * Git dirs in the work tree that are not called `.git`, and that git finds through a file: `.git` of a submodule or a linked
 * worktree says `gitdir: …`, and `commondir` in such a git dir says where its configuration is. Relative to the root, except
 * those outside the root or below a `.git`.
 */
function gitDirsBehind(root: string, folder: string): LedTo[] {
  const dotGit = join(root, folder, '.git');
  const gitDir = gitDirNamedIn(dotGit) ?? dotGit;
  const common = textAt(join(gitDir, 'commondir')).trim();
  return [...ledTo(root, gitDir), ...(common === '' ? [] : ledTo(root, resolve(gitDir, common)))];
}

/** The folder that the file `.git` of a submodule or a linked worktree names, or null. */
export function gitDirNamedIn(dotGit: string): string | null {
  const named = /^gitdir: (.*)$/s.exec(withoutTail(textAt(dotGit), '\r\n'))?.[1];
  return named ? resolve(dirname(dotGit), named) : null;
}

/** The place, if it is in the work tree and not below a `.git`, which has its own cover. */
function ledTo(root: string, place: string): LedTo[] {
  const real = orNone(() => realpathSync(place));
  const written = relative(root, place);
  const path = isInside(written) ? written : relative(root, real ?? place);
  if (!isInside(path) || path.split('/').includes('.git')) return [];
  const isFolder = real === join(root, path) && lstatSync(real).isDirectory();
  return [{ status: isFolder ? 'folder' : 'reachable', path }];
}

function isInside(path: string): boolean {
  return path !== '' && path !== '..' && !path.startsWith('../');
}

function textAt(path: string): string {
  const read = readRegularFile(path, MAX_POINTER_BYTES);
  const text = read.status === 'ok' ? read.bytes.toString('utf8') : '';
  return text.includes('\0') ? '' : text;
}
