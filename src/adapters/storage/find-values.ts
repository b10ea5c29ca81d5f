/** Searches folders for values that must not be in them: in contents and names of files, and in where links lead. */

import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { decodeName, encodeName } from '../../files/names.ts';

/** Where to search, and for what. */
export interface ValueSearch {
  /** Absolute path of a folder or file. */
  readonly root: string;
  /** Entries of the root that are left out. */
  readonly except?: readonly string[];
  readonly values: readonly Buffer[];
  /** Only what changed since then, in milliseconds of the clock; a change time cannot be set back. */
  readonly since: number;
  /** Stops the search, which then rejects. */
  readonly signal: AbortSignal;
}

/** Paths relative to the root, empty for the root itself; at most `MAX_FOUND` of each. */
export interface FoundValues {
  readonly found: string[];
  /** What could not be searched. */
  readonly closed: string[];
}

const MAX_FOUND = 20;
const CHUNK = 1024 * 1024;

/** Follows no links. Skips what disappears in the meantime. */
export async function findValues(search: ValueSearch): Promise<FoundValues> {
  const { root, except = [], values, since, signal } = search;
  const found: string[] = [];
  const closed: string[] = [];
  const queue = [''];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    signal.throwIfAborted();
    if (found.length + closed.length >= MAX_FOUND) break;
    const at = path === '' ? encodeName(root) : Buffer.concat([encodeName(`${root}/`), encodeName(path)]);
    try {
      const stats = await lstat(at);
      const isNew = stats.ctimeMs >= since;
      if (stats.isDirectory()) {
        for (const bytes of await readdir(at, { encoding: 'buffer' })) {
          const name = decodeName(bytes);
          if (path === '' && except.includes(name)) continue;
          const below = path === '' ? name : `${path}/${name}`;
          if (holds(bytes, values)) found.push(below);
          queue.push(below);
        }
      } else if (isNew && stats.isSymbolicLink()) {
        if (holds(await readlink(at, { encoding: 'buffer' }), values)) found.push(path);
      } else if (isNew && stats.isFile() && (await fileHolds(at, values, signal))) found.push(path);
    } catch (error) {
      signal.throwIfAborted();
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') continue;
      if (!UNREADABLE.includes(code)) throw error;
      closed.push(path);
    }
  }
  return { found, closed };
}

const UNREADABLE = ['EACCES', 'EPERM', 'ELOOP', 'EIO', 'ENAMETOOLONG'];

async function fileHolds(path: Buffer, values: readonly Buffer[], signal: AbortSignal): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return (await file.stat()).isFile() && (await contentHolds(file, values, signal));
  } finally {
    await file.close();
  }
}

/** Chunks overlap by the longest value. */
async function contentHolds(
  file: FileHandle,
  values: readonly Buffer[],
  signal: AbortSignal,
): Promise<boolean> {
  const overlap = Math.max(0, ...values.map((value) => value.length - 1));
  const buffer = Buffer.alloc(CHUNK + overlap);
  for (let kept = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, kept, CHUNK, null);
    if (bytesRead === 0) return false;
    const filled = buffer.subarray(0, kept + bytesRead);
    if (holds(filled, values)) return true;
    const rest = filled.subarray(Math.max(0, filled.length - overlap));
    rest.copy(buffer, 0);
    kept = rest.length;
  }
}

function holds(bytes: Buffer, values: readonly Buffer[]): boolean {
  return values.some((value) => bytes.includes(value));
}
