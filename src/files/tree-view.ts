/**
 * Reads names and stats of the work tree. Never throws for entries that it cannot see, and never follows a link below the root, even
 * if a folder is replaced by one: each is named relative to the descriptor of its folder, as in `nofollow.ts`.
 */

import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  readlinkSync,
} from 'node:fs';
import { hasCode, orNone } from './failures.ts';
import { decodeName, encodeName } from './names.ts';
import { type FileStat, fileStat, invisible, type Look } from './stat.ts';
import { Breath } from './time-limit.ts';

/** One entry of a folder. */
export interface FolderEntry {
  /** Decoded by `decodeName`. */
  readonly name: string;
  readonly folder: boolean;
  /** Neither file, folder nor link. */
  readonly special: boolean;
}

/** How many entries of one folder to examine. */
export interface FolderLimit {
  readonly maxEntries: number;
  /** Called with the path of each folder that has more. */
  exceeded(folder: string): void;
}

/** No limit on the size of folders. */
export const NO_FOLDER_LIMIT: FolderLimit = {
  maxEntries: Number.POSITIVE_INFINITY,
  exceeded: () => undefined,
};

/** `stat` is that of the very folder whose entries are listed. The entries of a folder that is too large are unknown. */
export type Listing =
  | { status: 'seen'; stat: FileStat; entries: FolderEntry[] }
  | { status: 'absent' }
  | { status: 'unreadable' }
  | { status: 'too_large' };

/** Linux's O_PATH: a descriptor of the place itself, which requires no read permission and never blocks. */
export const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

type LinkRead = { status: 'seen'; target: Buffer } | { status: 'absent' } | { status: 'unreadable' };

/** Number of folders kept open besides the root: enough for a walk that goes level by level. */
const MAX_OPEN = 8;

/** Maximum bytes of a path in the kernel, without the NUL: nothing else on the machine could address anything deeper. */
export const MAX_PATH_BYTES = 4_095;

/** A view of the tree below `root`, an absolute path without links. Folders stay open until it is closed. */
export class TreeView {
  readonly #root: string;
  /** Descriptors by path, least recently used first. */
  readonly #open = new Map<string, number>();
  #rootFolder: number | null = null;
  readonly #limit: FolderLimit;

  constructor(root: string, limit: FolderLimit = NO_FOLDER_LIMIT) {
    this.#root = root;
    this.#limit = limit;
  }

  lookAt(path: string): Look {
    try {
      const stats = lstatSync(this.place(path), { bigint: true, throwIfNoEntry: false });
      return stats ? { status: 'seen', stat: fileStat(stats) } : { status: 'absent' };
    } catch (error) {
      return { status: invisible(error) };
    }
  }

  /** What the system says of an entry; null if there is none, or if it cannot be examined. */
  stat(path: string): BigIntStats | null {
    return orNone(() => lstatSync(this.place(path), { bigint: true }));
  }

  /** The entries of a folder in no particular order, with exact names. */
  listFolder(folder: string): Listing {
    try {
      const descriptor = this.#enter(folder);
      const path = `/proc/self/fd/${descriptor}`;
      const stat = fileStat(fstatSync(descriptor, { bigint: true }));
      const entries =
        stat.size > 0 && stat.size <= SMALL_FOLDER_BYTES
          ? readSmall(path, this.#limit.maxEntries)
          : readEntries(path, this.#limit.maxEntries);
      if (entries !== null) return { status: 'seen', stat, entries };
      this.#limit.exceeded(folder);
      return { status: 'too_large' };
    } catch (error) {
      return { status: invisible(error) };
    }
  }

  /** Calls `found` with each entry of a folder of any size, without keeping them. Throws the system's error. */
  async eachEntry(folder: string, found: (entry: FolderEntry) => void): Promise<void> {
    const breath = new Breath();
    for (const entry of entriesIn(`/proc/self/fd/${this.#enter(folder)}`)) {
      found(entry);
      const pause = breath.after(1);
      if (pause !== null) await pause;
    }
  }

  /** The target of a link, as bytes; anything that is not a link counts as absent. */
  readLink(path: string): LinkRead {
    try {
      return { status: 'seen', target: readlinkSync(this.place(path), { encoding: 'buffer' }) };
    } catch (error) {
      if (hasCode(error, 'EINVAL')) return { status: 'absent' };
      return { status: invisible(error) };
    }
  }

  /**
   * The path of an entry, which may or may not exist, relative to its open folder (`''` is the root itself); valid for one
   * system call that does not follow links, before the next query. Throws the system's error if the folder cannot be
   * entered.
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

  /** The descriptor of a folder, which stays open at least until the next query. */
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

/** Does one piece of work with its own view. */
export function viewing<T>(root: string, work: (view: TreeView) => T, limit = NO_FOLDER_LIMIT): T {
  const view = new TreeView(root, limit);
  try {
    return work(view);
  } finally {
    view.close();
  }
}

/** The same for work that takes a while. */
export async function viewingFor<T>(root: string, work: (view: TreeView) => Promise<T>): Promise<T> {
  const view = new TreeView(root);
  return work(view).finally(() => view.close());
}

/** One look at one place. */
export function lookAt(root: string, path: string): Look {
  return viewing(root, (view) => view.lookAt(path));
}

/** Number of entries of a folder requested at a time. */
const PIECE = 4096;

function* entriesIn(path: string): Generator<FolderEntry> {
  // Node's types only know text encodings here.
  const folder = opendirSync(path, { bufferSize: PIECE, encoding: 'buffer' as BufferEncoding });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield toEntry(entry);
  } finally {
    folder.closeSync();
  }
}

/** A folder of this size has a few thousand entries on most file systems; some report 0 as the size of all. */
const SMALL_FOLDER_BYTES = 64 * 1024;

/** The same as `readEntries`, of a small folder: at once, which takes a quarter of the time. */
function readSmall(path: string, most: number): FolderEntry[] | null {
  const read = readdirSync(path, { withFileTypes: true });
  if (read.length > most) return null;
  const isExact = read.every((entry) => !entry.name.includes('\ufffd'));
  const exact = isExact ? read : readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
  return exact.map(toEntry);
}

/** The entries of the folder at `path` in no particular order; null if there are more than `most`. Throws the system's error. */
export function readEntries(path: string, most: number): FolderEntry[] | null {
  const entries: FolderEntry[] = [];
  for (const entry of entriesIn(path)) {
    if (entries.length === most) return null;
    entries.push(entry);
  }
  return entries;
}

function toEntry(entry: Dirent<string> | Dirent<Buffer>): FolderEntry {
  return {
    // Entries of an opened folder have bytes as their names, whatever the type says.
    name: typeof entry.name === 'string' ? entry.name : decodeName(entry.name),
    folder: entry.isDirectory(),
    special: !entry.isDirectory() && !entry.isFile() && !entry.isSymbolicLink(),
  };
}
