/** Reads files of the machine that may be missing or unreadable: both give null. */

import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from '../../domain/changes/path.ts';

// Synchronous: a look takes microseconds, a promise many times that, and hundreds of links are examined before every run.
/** The stat of a path without following links; null if it is missing. */
export const statOf = (path: string) => orMissing(() => lstatSync(path, { throwIfNoEntry: false }) ?? null);
/** The stat of what a link leads to. */
export const statOfTarget = (path: string) =>
  orMissing(() => statSync(path, { throwIfNoEntry: false }) ?? null);
/** The path without links; null when it is missing. */
export const realPathOf = (path: string) => orMissing(() => realpathSync.native(path));
/** The entries of a folder; null when it is missing. */
export const entriesOf = (folder: string) => orMissing(() => readdirSync(folder, { withFileTypes: true }));
/** The text of a file; null when it is missing. */
export const readText = (path: string) => orMissing(() => readFileSync(path, 'utf8'));
/** Null also if it is not a link, which is the usual case: an error costs more than a look. */
export const linkOf = (path: string) => (statOf(path)?.isSymbolicLink() ? readLink(path) : null);
/** The target of a link; null if it is not a link, or is gone. */
export const readLink = (path: string) => orMissing(() => readlinkSync(path));

/** As many as the kernel follows. */
const MOST_LINKS = 40;

/** Where a path leads. */
export interface ResolvedPath {
  /** The path without links. */
  readonly real: string;
  /** The links on the way, each by its own path without links above it. */
  readonly links: readonly string[];
}

/** Where an absolute path leads, as the kernel would follow it; null if nothing is there. */
export function resolvePath(path: string): ResolvedPath | null {
  const links: string[] = [];
  const names = path.split('/').reverse();
  let real = '/';
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '' || name === '.') continue;
    const next = name === '..' ? dirname(real) : join(real, name);
    const stats = statOf(next);
    if (stats === null || links.length > MOST_LINKS) return null;
    const target = stats.isSymbolicLink() ? readLink(next) : null;
    if (target === null) {
      real = next;
      continue;
    }
    links.push(next);
    if (target.startsWith('/')) real = '/';
    names.push(...target.split('/').reverse());
  }
  return { real, links };
}

/** Whether an absolute path is in a folder, or leads through it by a link, which whoever writes there could replace. */
export function leadsInto(folder: string, path: string): boolean {
  if (!path.startsWith('/')) return false;
  const { real, links } = resolvePath(path) ?? { real: path, links: [] };
  return [path, real, ...links].some((one) => isWithin(one, folder));
}

/** True only if nothing is known to be there; what cannot be examined may still exist. */
export function hasVanished(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return true;
    if (MISSING.includes(code ?? '')) return false;
    throw error;
  }
}

const MISSING = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'EINVAL', 'ESRCH'];

/** Null for a missing or unreadable file; any other failure is thrown. */
export function orMissing<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (MISSING.includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
