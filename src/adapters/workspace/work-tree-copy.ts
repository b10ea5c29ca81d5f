/**
 * Copies files of a work tree, including ignored ones and uncommitted work, but not its history: the copy has an empty folder
 * instead of the git dir.
 *
 * Links are copied as links and never followed. If the file system supports it, files share their blocks with the original.
 */

import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isGitDirName } from '../../domain/changes/path.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { ioFailure } from '../../files/failures.ts';
import { decodeName, decodeNames, encodeNames, encodePath } from '../../files/names.ts';
import { openRegularIn } from '../../files/opened-file.ts';
import { type FolderEntry, TreeView, viewing } from '../../files/tree-view.ts';
import { runGit } from '../../git/git.ts';
import { type UserEnvironment, userGitEnvironment } from '../../git/user-settings.ts';
import { gitIn } from './kept/base-copy.ts';

/** What to copy, and where to. */
export interface TreeCopy {
  /** Root of the work tree, without links. */
  readonly from: string;
  /** Absolute path of the other root. */
  readonly to: string;
  readonly signal: AbortSignal;
}

/** `left` are the folders of other repositories. */
export type CopiedTree = { status: 'ok'; left: string[] } | { status: 'interrupted' } | Failed;

/** The whole work tree. `to` must not exist; folders of other repositories are empty there. */
export async function copyWorkTree(copy: TreeCopy): Promise<CopiedTree> {
  mkdirSync(`${copy.to}/.git`, { mode: 0o700, recursive: true });
  return copyFolder(copy, '', (listing) => !listing.some(({ name }) => isGitDirName(name)));
}

/**
 * Copies the ignored folders at the top of a checkout that the copy of a run's base lacks, and returns their names: commands need
 * them (`node_modules`), and no run stores them. `to` is the copy, whose rules decide. A folder that cannot be copied whole is left
 * out of the names, and so is one that the signal interrupted.
 */
export async function copyIgnored(copy: TreeCopy): Promise<string[]> {
  // Whatever has the name: git asks about nothing behind a link.
  const known = new Set(atTop(copy.to).map(({ name }) => name));
  const missing = atTop(copy.from).flatMap(({ name, folder }) =>
    folder && !known.has(name) && !isGitDirName(name) ? [name] : [],
  );
  // The leading `./` prevents a colon at the start of a name from being read as pathspec magic.
  const names = encodeNames(missing.map((name) => `./${name}/`));
  const asked = await gitIn(copy.to, `${copy.to}/.git`)(['check-ignore', '--stdin', '-z'], names);
  const copied: string[] = [];
  for (const said of decodeNames(asked.stdout).sort()) {
    const name = said.slice('./'.length, -1);
    const { status } = await copyFolder(copy, name, () => true);
    if (status === 'ok') copied.push(name);
  }
  return copied;
}

function atTop(root: string): readonly FolderEntry[] {
  const listing = viewing(root, (view) => view.listFolder(''));
  return listing.status === 'seen' ? listing.entries : [];
}

/** A folder, the same below both roots, without git dirs, pipes, sockets and devices. `isWanted` says which folders below are filled. */
async function copyFolder(
  { from, to, signal }: TreeCopy,
  top: string,
  isWanted: (entries: readonly FolderEntry[]) => boolean,
): Promise<CopiedTree> {
  const view = new TreeView(from);
  const left: string[] = [];
  let at = top;
  try {
    if (top !== '') mkdirSync(encodePath(to, top), { mode: 0o755 });
    const folders = [top];
    let entries = 0;
    for (const folder of folders) {
      at = folder;
      const listing = view.listFolder(folder);
      if (listing.status !== 'seen') return failed(`${from}/${folder} cannot be read.`);
      const isFilled = folder === top || isWanted(listing.entries);
      if (!isFilled) left.push(folder);
      for (const { name, folder: isFolder, special } of isFilled ? listing.entries : []) {
        if (special || isGitDirName(name)) continue;
        at = folder === '' ? name : `${folder}/${name}`;
        if (isFolder) {
          mkdirSync(encodePath(to, at), { mode: 0o755 });
          folders.push(at);
        } else if (!(await copyEntry(view, at, encodePath(to, at), signal))) return { status: 'interrupted' };
        entries += 1;
        if (entries % 50 === 0) await setImmediate();
        if (signal.aborted) return { status: 'interrupted' };
      }
    }
    return { status: 'ok', left };
  } catch (error) {
    return failed(ioFailure(error, at, 'read').message.replace('cannot be read', 'cannot be copied'));
  } finally {
    view.close();
  }
}

/** Files below these folders that the repository at `root` itself tracks. */
export async function trackedBelow(
  root: string,
  folders: readonly string[],
  env: UserEnvironment,
): Promise<string[]> {
  const args = ['--literal-pathspecs', 'ls-files', '--stage', '-z', '--', ...folders];
  const listed = decodeName(await runGit({ cwd: root, args, env: userGitEnvironment(env) }));
  // A submodule is a separate entry.
  const files = listed.split('\0').filter((entry) => entry !== '' && !entry.startsWith('160000 '));
  return files.map((entry) => entry.slice(entry.indexOf('\t') + 1));
}

/** Larger files are copied in pieces, and the signal is checked between them. */
const AT_ONCE_BYTES = 8 * 1024 * 1024;

/**
 * Copies a file, or a link as a link, to a path that does not exist yet; false if the signal stopped it early. A file keeps the
 * time of its last change, which build tools go by, and its holes, but no set-uid and set-gid bits; where the file system can, it
 * shares its blocks with the original. Throws the errors of the file system, and if the entry has become something other than a
 * file or a link.
 */
export async function copyEntry(
  view: TreeView,
  path: string,
  to: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  // Most entries are files, and Node takes long to report that one is no link.
  const opening = openRegularIn(view, path);
  if (opening.status !== 'open') {
    const link = view.readLink(path);
    if (link.status === 'seen') {
      symlinkSync(link.target, to);
      return true;
    }
    throw Object.assign(new Error(`${path} is not a regular file`), {
      code: opening.status === 'absent' ? 'EINVAL' : 'EACCES',
    });
  }
  const { descriptor } = opening.file;
  try {
    const stats = fstatSync(descriptor);
    const isWhole = await copyContent(descriptor, stats, { to, signal });
    utimesSync(to, stats.atime, stats.mtime);
    return isWhole;
  } finally {
    closeSync(descriptor);
  }
}

async function copyContent(
  descriptor: number,
  { size, mode }: Stats,
  { to, signal }: { to: Buffer; signal: AbortSignal },
): Promise<boolean> {
  const source = `/proc/self/fd/${descriptor}`;
  const { COPYFILE_EXCL, COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = constants;
  // Node gives a copy the mode of the original, which may not be set-uid for its new owner for any moment.
  if ((mode & SET_IDS) === 0) {
    if (size <= AT_ONCE_BYTES) {
      copyFileSync(source, to, COPYFILE_EXCL | COPYFILE_FICLONE);
      return true;
    }
    try {
      copyFileSync(source, to, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error) || error.code === 'EEXIST') throw error;
    }
  }
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const file = openSync(to, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  try {
    const isWhole = await copyPieces(descriptor, file, signal);
    fchmodSync(file, mode & 0o777);
    return isWhole;
  } finally {
    closeSync(file);
  }
}

/** The set-uid and set-gid bits of a mode. */
const SET_IDS = 0o6000;
const PIECE_BYTES = 1024 * 1024;
const ZEROS = Buffer.alloc(PIECE_BYTES);

/** Skips holes, so that a sparse file takes no space, whatever its nominal size. */
async function copyPieces(from: number, to: number, signal: AbortSignal): Promise<boolean> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let at = 0;
  for (;;) {
    const length = readSync(from, piece, 0, PIECE_BYTES, at);
    if (length === 0) break;
    const read = piece.subarray(0, length);
    if (!read.equals(ZEROS.subarray(0, length)))
      for (let done = 0; done < length; ) done += writeSync(to, read, done, length - done, at + done);
    at += length;
    await setImmediate();
    if (signal.aborted) return false;
  }
  ftruncateSync(to, at);
  return true;
}
