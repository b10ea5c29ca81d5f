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
import { byFolder, folderOf, quotedName } from '../../../domain/changes/path.ts';
import { CutShort, LinkedOutside } from '../../../domain/errors/thrown.ts';
import { repositoriesAround } from '../../../domain/review/git-folder.ts';
import { shellWord } from '../../../domain/shell-word.ts';
import { formatSize, pluralize } from '../../../domain/text/words.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import { hasCode, orNone } from '../../../files/failures.ts';
import { decodeName, decodeNames } from '../../../files/names.ts';
import { Breath, timeLimit } from '../../../files/time-limit.ts';
import { TreeView } from '../../../files/tree-view.ts';
import { PROGRAM_FOLDERS } from '../../../git/git.ts';
import { copyEntry } from '../work-tree-copy.ts';

/** Where to look, and what copies may take. */
export interface LinkedTree {
  readonly root: string;
  /** Maximum bytes of all copies. */
  readonly maxBytes: number;
}

/** The most bytes of names: about a million files. */
const MAX_NAMES_BYTES = 128 * 1024 * 1024;
/** Free disk space that the copies must leave. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/**
 * Call before commands run. Nothing is replaced before it is permitted. Throws `LinkedOutside` if a file cannot be copied, and
 * `CutShort` when time runs out.
 */
export async function copyLinkedOut(tree: LinkedTree, permitted?: Promise<void>): Promise<Warning[]> {
  const found = await findLinked(tree.root);
  if (found.length === 0) return [];
  await permitted;
  const view = new TreeView(tree.root);
  try {
    const linked = leadingOut(view, tree.root, linkedFiles(view, tree.root, found));
    const bytes = linked.reduce((sum, { stat }) => sum + Number(stat.size), 0);
    refuseTooLarge(tree, linked, bytes);
    const breath = new Breath();
    // One for all: asking for random bytes takes as long as copying a small file.
    const name = `.patchsmith-${randomBytes(8).toString('hex')}.tmp`;
    let count = 0;
    for (const { path, stat } of linked) {
      if (await copyInPlace(view, path, name)) count += 1;
      await breath.after(1, Number(stat.size));
    }
    const done = `${describe(linked, count, bytes)}: they were replaced by copies, so that commands cannot change those.`;
    return count === 0 ? [] : [warning('WARN_HARD_LINKS_COPIED', done)];
  } finally {
    view.close();
  }
}

/**
 * When each file of another place that commands can write to, and that has a name outside of it, was last changed, by its absolute
 * path: its ctime in ns. Throws like `copyLinkedOut`.
 */
export async function linkedOutOf(place: string): Promise<Map<string, bigint>> {
  const stat = lstatSync(place, { bigint: true });
  if (stat.isFile()) return new Map(stat.nlink > 1n ? [[place, stat.ctimeNs]] : []);
  const found = await findLinked(place);
  const view = new TreeView(place);
  try {
    const linked = leadingOut(view, place, linkedFiles(view, place, found));
    return new Map(linked.map(({ path, stat }) => [`${place}/${path}`, stat.ctimeNs]));
  } finally {
    view.close();
  }
}

interface LinkedFile {
  readonly path: string;
  readonly stat: BigIntStats;
}

/** Files with several names that commands, which run as this user, can change, or their mode. */
function linkedFiles(view: TreeView, root: string, paths: readonly string[]): LinkedFile[] {
  const found = paths.flatMap((path) => {
    const stat = view.stat(path);
    return stat === null ? [] : [{ path, stat }];
  });
  const closed = found.find(({ stat }) => stat.isDirectory());
  if (closed !== undefined)
    throw new LinkedOutside(
      `${quotedName(closed.path)} cannot be searched for hard links that lead out of the work tree, and commands could open it. Move it out of the work tree, or open it: chmod u+rx ${shellWord(`${root}/${closed.path}`)}`,
    );
  const user = geteuid?.() ?? 0;
  return found.filter(
    ({ path, stat }) =>
      stat.isFile() &&
      (user === 0 ||
        Number(stat.uid) === user ||
        orNone(() => accessSync(view.place(path), constants.W_OK)) !== null),
  );
}

/** Files with several names and, if we are not root, folders of this user that are closed. Those of others are closed to commands, too. */
async function findLinked(root: string): Promise<string[]> {
  const user = geteuid?.() ?? 0;
  const closed = ['-type', 'd', '-user', String(user), '!', '-perm', '-500', '-print0', '-prune', '-o'];
  const linked = ['-type', 'f', '-links', '+1', '-print0'];
  const args = ['.', '-name', '.git', '-prune', '-o', ...(user === 0 ? [] : closed), ...linked];
  const signal = timeLimit();
  const options = {
    cwd: root,
    env: { PATH: PROGRAM_FOLDERS.join(':') },
    encoding: 'buffer' as const,
    maxBuffer: MAX_NAMES_BYTES,
    ...(signal && { signal }),
  };
  return new Promise((resolve, reject) => {
    execFile('find', args, options, (error, stdout) => {
      if (signal?.aborted) reject(new CutShort());
      // An exit code says that some folder cannot be read.
      else if (error !== null && typeof error.code !== 'number') {
        const why = error.code === 'ENOENT' ? 'find is not installed' : error.message;
        reject(new LinkedOutside(`The work tree cannot be searched for hard links: ${why}. ${ADVICE}`));
      } else resolve(decodeNames(stdout).map((path) => (path === '.' ? '' : path.slice('./'.length))));
    });
  });
}

/**
 * Those with more names than there are in the work tree. No name counts in a git dir, whatever that is called, or in what is
 * mounted, since that may be a name seen before.
 */
function leadingOut(view: TreeView, root: string, linked: readonly LinkedFile[]): LinkedFile[] {
  const paths = linked.map(({ path }) => path);
  const isThere = (path: string) => view.lookAt(path).status === 'seen';
  const repositories = repositoriesAround(paths, (folder) =>
    ['HEAD', 'objects', 'refs', 'commondir'].filter((name) =>
      isThere(folder === '' ? name : `${folder}/${name}`),
    ),
  );
  const outside = new Set([...repositories, ...mountsBelow(root)]);
  const idOf = ({ stat }: LinkedFile) => `${stat.dev}.${stat.ino}`;
  const names = new Map<string, bigint>();
  const isOutside = byFolder<boolean>((folder, around) => around === true || outside.has(folder));
  for (const one of linked)
    if (!isOutside(one.path) && !outside.has(one.path))
      names.set(idOf(one), (names.get(idOf(one)) ?? 0n) + 1n);
  return linked.filter((one) => (names.get(idOf(one)) ?? 0n) < one.stat.nlink);
}

/** Paths of the work tree at which something is mounted. */
function mountsBelow(root: string): string[] {
  const start = `${root}/`;
  const lines = decodeName(readFileSync('/proc/self/mountinfo')).split('\n');
  const places = lines.map((line) => (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, fromOctal));
  return places.filter((place) => place.startsWith(start)).map((place) => place.slice(start.length));
}

const fromOctal = (_: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 8));

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
  const before = view.stat(path);
  if (before === null || !before.isFile() || before.nlink === 1n) return false;
  try {
    const to = Buffer.from(view.place(temporary));
    if (!(await copyEntry(view, path, to, timeLimit() ?? new AbortController().signal))) throw new CutShort();
    if (geteuid?.() === 0) chownSync(to, Number(before.uid), Number(before.gid));
    const now = view.stat(path);
    if (now === null || !isSame(before, now))
      throw new LinkedOutside(
        `${quotedName(path)} is a hard link to a file outside of the work tree, and changes while it is copied. Stop what changes it, and run again.`,
      );
    renameSync(view.place(temporary), view.place(path));
    return true;
  } catch (error) {
    // It is not there, or what is wrong with the place is reported anyway.
    orNone(() => unlinkSync(view.place(temporary)));
    // Commands cannot write there either.
    if (hasCode(error, 'EROFS')) return false;
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new LinkedOutside(
      `${quotedName(path)} is a hard link to a file outside of the work tree, which commands could change, and cannot be copied: ${error.message} ${ADVICE}`,
    );
  }
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.mtimeNs === b.mtimeNs && a.size === b.size && a.mode === b.mode;
}

function describe([first]: readonly LinkedFile[], count: number, bytes: number): string {
  const are = count === 1 ? 'is a hard link to a file' : 'are hard links to files';
  return `${pluralize(count, 'file')} of the work tree (${formatSize(bytes)}), such as ${quotedName(first?.path ?? '')}, ${are} outside of it`;
}
