/** Looks at names and stats of the work tree. Never follows a link below the root, and never throws for what it cannot see. */

import { type BigIntStats, constants, lstatSync, readdirSync } from 'node:fs';
import { decodeName, encodeName } from './names.ts';

/** What tells whether a file was touched. The kernel keeps `ctimeNs`; nobody can set it back. */
export interface FileStat {
  readonly kind: 'file' | 'link' | 'folder' | 'special';
  readonly executable: boolean;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
}

export function sameStat(a: FileStat, b: FileStat): boolean {
  return (
    a.ctimeNs === b.ctimeNs &&
    a.mtimeNs === b.mtimeNs &&
    a.size === b.size &&
    a.ino === b.ino &&
    a.kind === b.kind &&
    a.executable === b.executable
  );
}

/** The absolute path of a path below `root`, as bytes where its name is not UTF-8. */
export function absolutePath(root: string, path: string): string | Buffer {
  if (path === '') return root;
  const absolute = root === '/' ? `/${path}` : `${root}/${path}`;
  return SURROGATE.test(absolute) ? encodeName(absolute) : absolute;
}

const SURROGATE = /[\ud800-\udfff]/;

export type Look = { status: 'seen'; stat: FileStat } | { status: 'absent' } | { status: 'unreadable' };

export function lookAt(root: string, path: string): Look {
  try {
    const stats = lstatSync(absolutePath(root, path), { bigint: true, throwIfNoEntry: false });
    return stats ? { status: 'seen', stat: fileStat(stats) } : { status: 'absent' };
  } catch (error) {
    return { status: invisible(error) };
  }
}

export function fileStat(stats: BigIntStats): FileStat {
  const mode = Number(stats.mode);
  return {
    kind: KINDS.get(mode & constants.S_IFMT) ?? 'special',
    executable: (mode & constants.S_IXUSR) !== 0,
    size: Number(stats.size),
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    ino: stats.ino,
  };
}

const KINDS: ReadonlyMap<number, FileStat['kind']> = new Map([
  [constants.S_IFREG, 'file'],
  [constants.S_IFLNK, 'link'],
  [constants.S_IFDIR, 'folder'],
]);

export type Listing =
  | { status: 'seen'; entries: { name: string; folder: boolean; special: boolean }[] }
  | { status: 'absent' }
  | { status: 'unreadable' };

/** The entries of a folder in no order, with exact names. */
export function listFolder(root: string, folder: string): Listing {
  const path = absolutePath(root, folder);
  try {
    const read = readdirSync(path, { withFileTypes: true });
    const exact = read.every((entry) => !entry.name.includes('\ufffd'));
    const names = exact ? null : readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
    const entries = (names ?? read).map((entry) => ({
      name: typeof entry.name === 'string' ? entry.name : decodeName(entry.name),
      folder: entry.isDirectory(),
      special: !entry.isDirectory() && !entry.isFile() && !entry.isSymbolicLink(),
    }));
    return { status: 'seen', entries };
  } catch (error) {
    return { status: invisible(error) };
  }
}

/** Sorts an error of the file system: gone, or there but out of reach. Anything else is thrown on. */
export function invisible(error: unknown): 'absent' | 'unreadable' {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'ENAMETOOLONG' ||
    code === 'ELOOP' ||
    code === 'EIO'
  ) {
    return 'unreadable';
  }
  throw error;
}
