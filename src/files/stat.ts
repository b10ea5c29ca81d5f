/** The stat of one place in the work tree. */

import { type BigIntStats, constants, lstatSync, utimesSync, writeFileSync } from 'node:fs';

/** Shows whether a file was touched. The kernel maintains `ctimeNs`, which cannot be set back. */
export interface FileStat {
  readonly kind: 'file' | 'link' | 'folder' | 'special';
  readonly executable: boolean;
  /** Neither group nor others may do anything with it. */
  readonly isPrivate: boolean;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
}

/** Whether a file with these two stats was not touched in between. */
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

/** A path's stat, or why it has none. */
export type Look = { status: 'seen'; stat: FileStat } | { status: 'absent' } | { status: 'unreadable' };

/** The part of a stat that reveals changes. */
export function fileStat(stats: BigIntStats): FileStat {
  const mode = Number(stats.mode);
  return {
    kind: KINDS.get(mode & constants.S_IFMT) ?? 'special',
    executable: (mode & constants.S_IXUSR) !== 0,
    isPrivate: (mode & (constants.S_IRWXG | constants.S_IRWXO)) === 0,
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

/** Classifies a file system error: gone, or present but out of reach. Any other error is rethrown. */
export function invisible(error: unknown): 'absent' | 'unreadable' {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
  if (typeof code === 'string' && UNREADABLE.includes(code)) return 'unreadable';
  throw error;
}

/** EAGAIN: a program holds a lease on it, and is asked for it by the try. */
const UNREADABLE = ['EACCES', 'EPERM', 'ENAMETOOLONG', 'ELOOP', 'EIO', 'EAGAIN'];

/**
 * The time of the file system, in ns, taken from a file that is written for it. A file that is not older may change again without
 * a trace.
 */
export function fileSystemTime(file: string): bigint {
  writeFileSync(file, '');
  utimesSync(file, 0, 0);
  return lstatSync(file, { bigint: true }).ctimeNs;
}
