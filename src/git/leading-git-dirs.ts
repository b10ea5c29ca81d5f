/**
 * Git dirs in the work tree that are not called `.git`, and that git finds through a file: `.git` of a submodule or a linked
 * worktree says `gitdir: …`, and `commondir` in such a git dir says where its configuration is.
 */

import { lstatSync, realpathSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { withoutTail } from '../domain/text/shorten.ts';
import { readRegularFile } from '../files/regular-file.ts';
import { invisible } from '../files/stat.ts';
import { MAX_POINTER_BYTES } from './repository-file.ts';

/** `reachable`: it is missing, or the way to it contains a link, so that commands could put another in its place. */
export type LedTo = { status: 'folder' | 'reachable'; path: string };

/** The ones that the `.git` of a folder points to, relative to the root, except those outside the root or below a `.git`. */
export function gitDirsBehind(root: string, folder: string): LedTo[] {
  const dotGit = join(root, folder, '.git');
  const named = /^gitdir: (.*)$/s.exec(withoutTail(textAt(dotGit), '\r\n'))?.[1];
  const gitDir = named ? resolve(root, folder, named) : dotGit;
  const common = textAt(join(gitDir, 'commondir')).trim();
  return [...ledTo(root, gitDir), ...(common === '' ? [] : ledTo(root, resolve(gitDir, common)))];
}

/** The place, if it is in the work tree and not below a `.git`, which has its own cover. */
function ledTo(root: string, place: string): LedTo[] {
  const real = realPathOf(place);
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

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    invisible(error);
    return null;
  }
}
