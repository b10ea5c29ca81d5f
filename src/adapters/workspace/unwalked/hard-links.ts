/**
 * Replaces files of the work tree that also have a name outside of it by copies. pnpm, Bun and uv link what they install to
 * a store that all projects of the user share: a command that edits such a file in place would change all of them, and with
 * the old time put back, no package manager would notice. A name in a `.git` counts as outside, since commands reach no git
 * dir; a file with all its names elsewhere in the work tree stays as it is.
 *
 * Costs a stat for each file: 0.5 s of processor time for 31,000 files in 5,300 folders. Copying them takes three to four times the
 * processor time of `cp -r`.
 */

import { randomBytes } from 'node:crypto';
import {
  accessSync,
  type BigIntStats,
  chownSync,
  constants,
  lstatSync,
  readFileSync,
  renameSync,
  statfsSync,
  unlinkSync,
} from 'node:fs';
import { geteuid } from 'node:process';
import { folderOf, quotedName } from '../../../domain/changes/path.ts';
import { LinkedOutside } from '../../../domain/errors/linked-outside.ts';
import { belongsTo, isRepository } from '../../../domain/review/git-folder.ts';
import { CutShort } from '../../../domain/run/cut-short.ts';
import { formatNumber } from '../../../domain/text/format-number.ts';
import { formatSize } from '../../../domain/text/format-size.ts';
import { pluralize } from '../../../domain/text/pluralize.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { ClosedPlaces } from '../../../files/closed-places.ts';
import { hasCode } from '../../../files/failures.ts';
import { decodeName } from '../../../files/names.ts';
import { invisible } from '../../../files/stat.ts';
import { Breath, timeLimit } from '../../../files/time-limit.ts';
import { type FolderEntry, TreeView } from '../../../files/tree-view.ts';
import { copyEntry } from '../copy-entry.ts';

/** Where to look, and what copies may take. */
export interface LinkedTree {
  readonly root: string;
  /** Opens what commands of an earlier process have closed. */
  readonly closed: Pick<ClosedPlaces, 'insist'>;
  /** Maximum bytes of all copies. */
  readonly maxBytes: number;
}

/** Files that are kept in memory. */
const MAX_LINKED_FILES = 1_000_000;
/** Free disk space that the copies must leave. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;
/** How often a file that changes meanwhile is copied. */
const MAX_COPIES = 3;

/** Call before commands run. Throws `LinkedOutside` if a file cannot be copied, and `CutShort` when time runs out. */
export async function copyLinkedOut({ root, closed, maxBytes }: LinkedTree): Promise<Warning[]> {
  const view = new TreeView(root);
  try {
    const linked = await new LinkSearch(view, closed, mountsBelow(root)).leadingOut();
    if (linked.length === 0) return [];
    const bytes = linked.reduce((sum, { size }) => sum + size, 0);
    refuseTooLarge(root, linked, { bytes, maxBytes });
    const breath = new Breath();
    // One for all: asking for random bytes takes as long as copying a small file.
    const name = `.patchsmith-${randomBytes(8).toString('hex')}.tmp`;
    let count = 0;
    for (const { path, size } of linked) {
      if (await copyInPlace(view, path, name)) count += 1;
      await breath.after(1, size);
    }
    return count === 0 ? [] : [copied(linked, count, bytes)];
  } finally {
    view.close();
  }
}

interface LinkedFile {
  readonly path: string;
  readonly size: number;
}

/** A folder whose files are looked at. */
interface SearchedFolder {
  /** False for a git dir, whatever its name, and for what is mounted, since that may be a name seen before. */
  counts: boolean;
}

interface FoundName extends LinkedFile {
  readonly place: Readonly<SearchedFolder>;
}

/** All names of one file that were found. */
interface Names {
  readonly links: bigint;
  readonly files: FoundName[];
}

class LinkSearch {
  readonly #view: TreeView;
  readonly #closed: Pick<ClosedPlaces, 'insist'>;
  readonly #names = new Map<string, Names>();
  readonly #breath = new Breath();
  readonly #mounts: ReadonlySet<string>;
  #count = 0;

  constructor(view: TreeView, closed: Pick<ClosedPlaces, 'insist'>, mounts: ReadonlySet<string>) {
    this.#view = view;
    this.#closed = closed;
    this.#mounts = mounts;
  }

  /** Files with more names than there are in the work tree. */
  async leadingOut(): Promise<LinkedFile[]> {
    const waiting = [{ folder: '', within: { counts: true } }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { folder, within } = next;
      const place: SearchedFolder = { counts: within.counts && !this.#mounts.has(folder) };
      const parts: string[] = [];
      // Most folders are too small for the pauses of a single one.
      const pause = this.#breath.after(10);
      if (pause !== null) await pause;
      await this.#eachIn(folder, ({ name, folder: isFolder, special }) => {
        if (name === '.git') return;
        if (belongsTo(name, '')) parts.push(name);
        const path = folder === '' ? name : `${folder}/${name}`;
        if (isFolder) waiting.push({ folder: path, within: place });
        else if (!special) this.#look(path, place);
      });
      if (isRepository(parts)) place.counts = false;
    }
    return [...this.#names.values()].flatMap(({ links, files }) =>
      links > files.filter(({ place }) => place.counts).length ? files : [],
    );
  }

  async #eachIn(folder: string, found: (entry: FolderEntry) => void): Promise<void> {
    const view = this.#view;
    try {
      this.#closed.insist(folder, () => accessTo(view, folder));
      await view.eachEntry(folder, found);
    } catch (error) {
      if (invisible(error) === 'absent' || hasCode(error, 'ENAMETOOLONG')) return;
      // Commands cannot enter what belongs to somebody else and is closed to us.
      const stat = statOf(view, folder);
      if (stat !== null && !isOwn(stat)) return;
      throw new LinkedOutside(
        `${quotedName(folder)} cannot be searched for hard links that lead out of the work tree. Make it readable, or move it out of the work tree.`,
      );
    }
  }

  #look(path: string, folder: SearchedFolder): void {
    const stat = statOf(this.#view, path);
    if (stat === null || !stat.isFile()) return;
    if (stat.nlink === 1n || !isChangeable(this.#view, path, stat)) return;
    this.#count += 1;
    if (this.#count > MAX_LINKED_FILES)
      throw new LinkedOutside(
        `More than ${formatNumber(MAX_LINKED_FILES)} files of the work tree are hard links, such as ${quotedName(path)}. ${ADVICE}`,
      );
    const id = `${stat.dev}.${stat.ino}`;
    const names = this.#names.get(id) ?? { links: stat.nlink, files: [] };
    const place = this.#mounts.has(path) ? { counts: false } : folder;
    names.files.push({ path, size: Number(stat.size), place });
    this.#names.set(id, names);
  }
}

/** Paths of the work tree at which something is mounted. */
function mountsBelow(root: string): ReadonlySet<string> {
  const places = readFileSync('/proc/self/mountinfo', 'latin1')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .map((place) =>
      place.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))),
    )
    .map((place) => decodeName(Buffer.from(place, 'latin1')));
  const start = `${root}/`;
  return new Set(places.filter((place) => place.startsWith(start)).map((place) => place.slice(start.length)));
}

function accessTo(view: TreeView, folder: string): { status: 'seen' | 'absent' | 'unreadable' } {
  try {
    accessSync(view.place(folder), constants.R_OK | constants.X_OK);
    return { status: 'seen' };
  } catch (error) {
    return { status: invisible(error) };
  }
}

function statOf(view: TreeView, path: string): BigIntStats | null {
  try {
    return lstatSync(view.place(path), { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    invisible(error);
    return null;
  }
}

function isOwn({ uid }: BigIntStats): boolean {
  const user = geteuid?.() ?? 0;
  return user === 0 || Number(uid) === user;
}

/** Whether commands, which run as this user, can change the file or its mode. */
function isChangeable(view: TreeView, path: string, stat: BigIntStats): boolean {
  if (isOwn(stat)) return true;
  try {
    accessSync(view.place(path), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function refuseTooLarge(
  root: string,
  linked: readonly LinkedFile[],
  { bytes, maxBytes }: { bytes: number; maxBytes: number },
): void {
  const { bavail, bsize } = statfsSync(root);
  const free = Math.max(0, bavail * bsize - MIN_FREE_BYTES);
  if (bytes <= maxBytes && bytes <= free) return;
  const most =
    bytes > maxBytes ? `--max-disk allows ${formatSize(maxBytes)}` : `${formatSize(free)} are free`;
  throw new LinkedOutside(
    `${describe(linked, linked.length, bytes)}. Commands could change those, and copying the files takes too much space: ${most}. ${ADVICE}`,
  );
}

const ADVICE =
  'Install without hard links (pnpm: package-import-method=copy; uv: UV_LINK_MODE=copy), or move the files out of the work tree.';

/**
 * False if it is no longer such a file. A program that changes the file meanwhile loses nothing: the copy only takes its place
 * if it is the same as before.
 */
async function copyInPlace(view: TreeView, path: string, name: string): Promise<boolean> {
  const folder = folderOf(path);
  const temporary = folder === '' ? name : `${folder}/${name}`;
  for (let copies = 0; copies < MAX_COPIES; copies += 1) {
    const before = statOf(view, path);
    if (before === null || !before.isFile() || before.nlink === 1n) return false;
    try {
      const to = Buffer.from(view.place(temporary));
      if (!(await copyEntry(view, path, to, timeLimit() ?? NEVER))) throw new CutShort();
      if (geteuid?.() === 0) chownSync(to, Number(before.uid), Number(before.gid));
      const now = statOf(view, path);
      if (now !== null && isSame(before, now)) {
        renameSync(view.place(temporary), view.place(path));
        return true;
      }
      unlinkSync(view.place(temporary));
    } catch (error) {
      discard(view, temporary);
      // Commands cannot write there either.
      if (hasCode(error, 'EROFS')) return false;
      if (!(error instanceof Error && 'code' in error)) throw error;
      throw new LinkedOutside(
        `${quotedName(path)} is a hard link to a file outside of the work tree, which commands could change, and cannot be copied: ${error.message} ${ADVICE}`,
      );
    }
  }
  throw new LinkedOutside(
    `${quotedName(path)} is a hard link to a file outside of the work tree, and changes while it is copied. Stop what changes it, and run again.`,
  );
}

const NEVER = new AbortController().signal;

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.mtimeNs === b.mtimeNs && a.size === b.size && a.mode === b.mode;
}

function discard(view: TreeView, temporary: string): void {
  try {
    unlinkSync(view.place(temporary));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

function copied(linked: readonly LinkedFile[], count: number, bytes: number): Warning {
  return warning(
    'WARN_HARD_LINKS_COPIED',
    `${describe(linked, count, bytes)}: they were replaced by copies, so that commands cannot change those.`,
  );
}

function describe([first]: readonly LinkedFile[], count: number, bytes: number): string {
  const are = count === 1 ? 'is a hard link to a file' : 'are hard links to files';
  return `${pluralize(count, 'file')} of the work tree (${formatSize(bytes)}), such as ${quotedName(first?.path ?? '')}, ${are} outside of it`;
}
