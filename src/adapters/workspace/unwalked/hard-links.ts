/**
 * Replaces files of the work tree that also have a name outside of it by copies. pnpm, Bun and uv link what they install to
 * a store that all projects of the user share: a command that edits such a file in place would change all of them, and with
 * the old time put back, no package manager would notice. A name in a `.git` counts as outside, since commands reach no git
 * dir; a file with all its names elsewhere in the work tree stays as it is.
 */

import { execFile } from 'node:child_process';
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
import { shellWord } from '../../../domain/shell-word.ts';
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
import { PROGRAM_FOLDERS } from '../../../git/git.ts';
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
export async function copyLinkedOut(tree: LinkedTree): Promise<Warning[]> {
  const view = new TreeView(tree.root);
  try {
    const linked = await leadingOut(view, tree);
    const bytes = linked.reduce((sum, { size }) => sum + size, 0);
    refuseTooLarge(tree, linked, bytes);
    const breath = new Breath();
    // One for all: asking for random bytes takes as long as copying a small file.
    const name = `.patchsmith-${randomBytes(8).toString('hex')}.tmp`;
    let count = 0;
    for (const { path, size } of linked) {
      if (await copyInPlace(view, path, name)) count += 1;
      await breath.after(1, size);
    }
    const done = `${describe(linked, count, bytes)}: they were replaced by copies, so that commands cannot change those.`;
    return count === 0 ? [] : [warning('WARN_HARD_LINKS_COPIED', done)];
  } finally {
    view.close();
  }
}

/** Most trees have no hard link, which `find` tells in an eighth of the time of a search. False where it cannot tell. */
export function hasNoLinks(root: string): Promise<boolean> {
  const questions = [
    '.',
    '-name',
    '.git',
    '-prune',
    '-o',
    '!',
    '-type',
    'd',
    '-links',
    '+1',
    '-print',
    '-quit',
  ];
  const options = { cwd: root, env: { PATH: PROGRAM_FOLDERS.join(':') }, maxBuffer: 64 * 1024 };
  return new Promise((resolve) => {
    const signal = timeLimit();
    execFile('find', questions, { ...options, ...(signal && { signal }) }, (error, stdout, stderr) =>
      resolve(error === null && stdout === '' && stderr === ''),
    );
  });
}

interface LinkedFile {
  readonly path: string;
  readonly size: number;
}

/**
 * Files with more names than there are in the work tree. No name counts in a git dir, whatever that is called, or in what is
 * mounted, since that may be a name seen before.
 */
async function leadingOut(view: TreeView, { root, closed }: LinkedTree): Promise<LinkedFile[]> {
  const mounts = mountsBelow(root);
  // By inode; `missing` is the number of its names that were not found where they count.
  const found = new Map<string, { missing: bigint; readonly files: LinkedFile[] }>();
  const breath = new Breath();
  let count = 0;
  const waiting = [{ folder: '', isOutside: false }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { folder } = next;
    const parts: string[] = [];
    const folders: string[] = [];
    const here: { missing: bigint }[] = [];
    // Most folders are too small for the pauses of a single one.
    await breath.after(10);
    await eachIn(view, folder, { root, closed }, ({ name, folder: isFolder, special }) => {
      if (name === '.git') return;
      if (belongsTo(name, '')) parts.push(name);
      const path = folder === '' ? name : `${folder}/${name}`;
      if (isFolder) folders.push(path);
      const stat = isFolder || special ? null : linkedStatOf(view, path);
      if (stat === null) return;
      count += 1;
      if (count > MAX_LINKED_FILES)
        throw new LinkedOutside(
          `More than ${formatNumber(MAX_LINKED_FILES)} files of the work tree are hard links, such as ${quotedName(path)}. ${ADVICE}`,
        );
      const id = `${stat.dev}.${stat.ino}`;
      const names = found.get(id) ?? { missing: stat.nlink, files: [] };
      found.set(id, names);
      names.files.push({ path, size: Number(stat.size) });
      if (!mounts.has(path)) here.push(names);
    });
    const isOutside = next.isOutside || mounts.has(folder) || isRepository(parts);
    for (const path of folders) waiting.push({ folder: path, isOutside });
    if (!isOutside) for (const names of here) names.missing -= 1n;
  }
  return [...found.values()].flatMap(({ missing, files }) => (missing > 0n ? files : []));
}

async function eachIn(
  view: TreeView,
  folder: string,
  { root, closed }: Omit<LinkedTree, 'maxBytes'>,
  found: (entry: FolderEntry) => void,
): Promise<void> {
  const mode = constants.R_OK | constants.X_OK;
  try {
    closed.insist(folder, () => ({ status: isAccessible(view, folder, mode) ? 'seen' : 'unreadable' }));
    await view.eachEntry(folder, found);
  } catch (error) {
    if (invisible(error) === 'absent' || hasCode(error, 'ENAMETOOLONG')) return;
    // Commands cannot enter what belongs to somebody else and is closed to us.
    const stat = statOf(view, folder);
    if (stat !== null && !isOwn(stat)) return;
    throw new LinkedOutside(
      `${quotedName(folder)} cannot be searched for hard links that lead out of the work tree, and commands could open it. Move it out of the work tree, or open it: chmod u+rx ${shellWord(`${root}/${folder}`)}`,
    );
  }
}

/** Of a file with several names that commands, which run as this user, can change, or its mode; else null. */
function linkedStatOf(view: TreeView, path: string): BigIntStats | null {
  const stat = statOf(view, path);
  if (!stat?.isFile() || stat.nlink === 1n) return null;
  return isOwn(stat) || isAccessible(view, path, constants.W_OK) ? stat : null;
}

/** Paths of the work tree at which something is mounted. */
function mountsBelow(root: string): ReadonlySet<string> {
  const start = `${root}/`;
  const lines = decodeName(readFileSync('/proc/self/mountinfo')).split('\n');
  const places = lines.map((line) => (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, fromOctal));
  return new Set(places.filter((place) => place.startsWith(start)).map((place) => place.slice(start.length)));
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

const fromOctal = (_: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 8));

function isAccessible(view: TreeView, path: string, mode: number): boolean {
  try {
    accessSync(view.place(path), mode);
    return true;
  } catch {
    return false;
  }
}

function refuseTooLarge({ root, maxBytes }: LinkedTree, linked: readonly LinkedFile[], bytes: number): void {
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
      if (!(await copyEntry(view, path, to, timeLimit() ?? new AbortController().signal)))
        throw new CutShort();
      if (geteuid?.() === 0) chownSync(to, Number(before.uid), Number(before.gid));
      const now = statOf(view, path);
      if (now !== null && isSame(before, now)) {
        renameSync(view.place(temporary), view.place(path));
        return true;
      }
      discard(view, temporary);
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

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.mtimeNs === b.mtimeNs && a.size === b.size && a.mode === b.mode;
}

function discard(view: TreeView, temporary: string): void {
  try {
    unlinkSync(view.place(temporary));
  } catch {
    // It is not there, or what is wrong with the place is reported anyway.
  }
}

function describe([first]: readonly LinkedFile[], count: number, bytes: number): string {
  const are = count === 1 ? 'is a hard link to a file' : 'are hard links to files';
  return `${pluralize(count, 'file')} of the work tree (${formatSize(bytes)}), such as ${quotedName(first?.path ?? '')}, ${are} outside of it`;
}
