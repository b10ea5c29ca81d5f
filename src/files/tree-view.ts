/**
 * Looks at names and stats of the work tree. Never follows a link below the root, whatever is swapped for one meanwhile, and
 * never throws for what it cannot see.
 *
 * A folder is opened by one plain name below the descriptor of the folder above it, and an entry is named below its folder's
 * descriptor, so the kernel has nothing to resolve that could be swapped (as in `nofollow-path.ts`). Needs Linux's `/proc`.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { decodeName, encodeName } from './names.ts';
import { type FileStat, fileStat, invisible, type Look } from './stat.ts';

/** `stat` is that of the very folder whose entries these are. */
export type Listing =
  | {
      status: 'seen';
      stat: FileStat;
      entries: { name: string; folder: boolean; special: boolean }[];
    }
  | { status: 'absent' }
  | { status: 'unreadable' };

/** Linux's O_PATH: a descriptor of the place itself, which needs no permission to read and never blocks. */
export const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

type LinkRead = { status: 'seen'; target: Buffer } | { status: 'absent' } | { status: 'unreadable' };

/** Folders that stay open, beside the root: enough for a walk that goes level by level. */
const MAX_OPEN = 8;

/** Bytes of a path of the kernel, without the NUL: nothing else on the machine could name what lies deeper. */
const MAX_PATH_BYTES = 4095;

/**
 * One look at the tree below `root`, an absolute path without links. Folders that were opened are kept open for the next
 * question, so a view is for one piece of work, after which it is closed.
 */
export class TreeView {
  readonly #root: string;
  /** Descriptors by path, the one longest unused first. */
  readonly #open = new Map<string, number>();
  #rootFolder: number | null = null;

  constructor(root: string) {
    this.#root = root;
  }

  lookAt(path: string): Look {
    try {
      const stats = lstatSync(this.place(path), { bigint: true, throwIfNoEntry: false });
      return stats ? { status: 'seen', stat: fileStat(stats) } : { status: 'absent' };
    } catch (error) {
      return { status: invisible(error) };
    }
  }

  /** The stat of the folder that `listFolder` would read. */
  lookAtFolder(folder: string): Look {
    try {
      return { status: 'seen', stat: this.#statOf(folder) };
    } catch (error) {
      return { status: invisible(error) };
    }
  }

  /** The entries of a folder in no order, with exact names. */
  listFolder(folder: string): Listing {
    try {
      const path = `/proc/self/fd/${this.#enter(folder)}`;
      const stat = this.#statOf(folder);
      const read = readdirSync(path, { withFileTypes: true });
      const exact = read.every((entry) => !entry.name.includes('\ufffd'));
      const names = exact ? null : readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
      const entries = (names ?? read).map((entry) => ({
        name: typeof entry.name === 'string' ? entry.name : decodeName(entry.name),
        folder: entry.isDirectory(),
        special: !entry.isDirectory() && !entry.isFile() && !entry.isSymbolicLink(),
      }));
      return { status: 'seen', stat, entries };
    } catch (error) {
      return { status: invisible(error) };
    }
  }

  /** The bytes that a link holds; what is no link counts as absent. */
  readLink(path: string): LinkRead {
    try {
      return { status: 'seen', target: readlinkSync(this.place(path), { encoding: 'buffer' }) };
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EINVAL') return { status: 'absent' };
      return { status: invisible(error) };
    }
  }

  /**
   * Names an entry, which may or may not exist, below its open folder (`''` is the root itself); good for one system call that does not follow links,
   * before the next question. Throws the error of the system where the folder cannot be entered.
   */
  place(path: string): string | Buffer {
    if (path === '') return `/proc/self/fd/${this.#enter('')}/.`;
    const cut = path.lastIndexOf('/');
    const name = path.slice(cut + 1);
    if (name === '' || name === '.' || name === '..') throw systemError('ENOENT', path);
    if (path.length * 3 > MAX_PATH_BYTES && Buffer.byteLength(`${this.#root}/${path}`) > MAX_PATH_BYTES)
      throw systemError('ENAMETOOLONG', path);
    const place = `/proc/self/fd/${this.#enter(cut < 0 ? '' : path.slice(0, cut))}/${name}`;
    return SURROGATE.test(name) ? encodeName(place) : place;
  }

  close(): void {
    for (const descriptor of this.#open.values()) closeSync(descriptor);
    this.#open.clear();
    if (this.#rootFolder !== null) closeSync(this.#rootFolder);
    this.#rootFolder = null;
  }

  #statOf(folder: string): FileStat {
    return fileStat(fstatSync(this.#enter(folder), { bigint: true }));
  }

  /** The descriptor of a folder, which is open until the next question at least. */
  #enter(folder: string): number {
    if (folder === '') {
      this.#rootFolder ??= openSync(this.#root, FOLDER);
      return this.#rootFolder;
    }
    const descriptor = this.#open.get(folder) ?? openSync(this.place(folder), FOLDER);
    this.#open.delete(folder);
    this.#open.set(folder, descriptor);
    for (const [oldest, unused] of this.#open) {
      if (this.#open.size <= MAX_OPEN) break;
      this.#open.delete(oldest);
      closeSync(unused);
    }
    return descriptor;
  }
}

const SURROGATE = /[\ud800-\udfff]/;

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${JSON.stringify(path)}`), { code });
}

/** Does one piece of work with a view of its own. */
export function viewing<T>(root: string, work: (view: TreeView) => T): T {
  const view = new TreeView(root);
  try {
    return work(view);
  } finally {
    view.close();
  }
}

/** One look at one place. */
export function lookAt(root: string, path: string): Look {
  return viewing(root, (view) => view.lookAt(path));
}
