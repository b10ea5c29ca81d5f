/** Where a checkout is, where its parts are, and which files are its own. */

import { lstat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { hasCode } from '../files/failures.ts';
import { isInWorkTree, pathWithin, realpathExisting, realpathOrNull } from '../files/path-within.ts';
import { largerThan, type RegularFileRead, readBytes } from '../files/regular-file.ts';
import { timeoutSignal } from '../files/time-limit.ts';
import type { Revision } from '../ports/workspace.ts';
import { askGit, findGit } from './git.ts';
import type { ObjectFormat } from './store/object-store.ts';

/** A checkout: its work tree and where its repository stores what. All paths are absolute and real. */
export interface Checkout {
  /** Root of the work tree. */
  readonly root: string;
  /** Contains HEAD and index: the linked worktree's own, if it is one. */
  readonly gitDir: string;
  /** Contains refs, objects and configuration. */
  readonly commonDir: string;
  readonly objects: string;
  /** The folder the search started from, relative to `root`; empty for the root itself. */
  readonly prefix: string;
  readonly objectFormat: ObjectFormat;
  readonly head: CheckedOutHead;
  /** The tree of the head's commit; null where that is not known. */
  readonly headTree: string | null;
}

/** `commit` is null before the first commit, `branchRef` (`refs/heads/main`) when HEAD is detached. */
export interface CheckedOutHead {
  readonly commit: string | null;
  readonly branchRef: string | null;
}

/**
 * The nearest folder at or above `start` that contains a `.git` of any kind, as a real path; null if there is none. This alone
 * says where a checkout is: the settings of a repository do not.
 */
export async function repositoryRoot(start: string): Promise<string | null> {
  for (let folder = await realpathExisting(resolve(start)); ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Where a folder lies in its checkout, relative to the root; empty for the root itself, and outside of a checkout. */
export async function standingIn(folder: string): Promise<string> {
  const root = await repositoryRoot(folder);
  return root === null ? '' : relative(root, await realpathExisting(resolve(folder)));
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    // A folder without search permission cannot be examined; git gives up on it too.
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return false;
    throw error;
  }
}

/**
 * All bytes of the file at an absolute path. From a folder of a checkout, any checkout, links are followed only to other files
 * of its work tree; elsewhere the machine is the user's own.
 */
export async function readNamedFile(
  path: string,
  options: { readonly maxBytes: number; readonly pipes?: boolean },
): Promise<RegularFileRead> {
  const target = await realpathOrNull(path);
  let isOurs = true;
  for (let folder = path; folder !== dirname(folder); ) {
    folder = dirname(folder);
    const root = await repositoryRoot(folder);
    if (root === null) continue;
    isOurs = false;
    const plain = join(await realpathExisting(folder), relative(folder, path));
    if (target !== null && target !== plain && !isInWorkTree(root, target)) {
      const why = `links to ${target}, which is not in the work tree ${root}: name that file itself`;
      return { status: 'failed', missing: false, why };
    }
  }
  if (isOurs) return readBytes(path, options);
  // If it leads nowhere, reading says why.
  return readBytes(target ?? path, { ...options, follow: false });
}

/**
 * The same where rules come from a commit: a file of the work tree `root` is read from `revision`, unless that is null. Other files
 * are read as they are.
 */
export async function readRuleFile(
  path: string,
  options: Parameters<typeof readNamedFile>[1] & {
    readonly root: string | null;
    readonly revision?: Revision | null;
  },
): Promise<RegularFileRead> {
  const { root, revision = null, maxBytes } = options;
  const inside = revision === null || root === null ? null : await pathWithin(root, path);
  return revision === null || inside === null
    ? readNamedFile(path, options)
    : readCommitted(revision, inside, maxBytes);
}

/** All bytes of a file of a commit; fails above `maxBytes`. */
export async function readCommitted(
  revision: Revision,
  path: string,
  maxBytes: number,
): Promise<RegularFileRead> {
  const bytes = await revision.read(path);
  const why = `is not a file in ${revision.commit}, the commit whose rules apply`;
  if (bytes === null) return { status: 'failed', missing: true, why };
  return bytes.length > maxBytes ? largerThan(maxBytes) : { status: 'ok', bytes: Buffer.from(bytes) };
}

/** Reading an index takes milliseconds; anything slower is not an index. */
const MAX_GIT_MS = 10_000;

/**
 * Relative to `folder`, and only those below it, each followed by NUL. Null where git is missing, fails or is too slow, or no
 * repository is found. It may belong to others, and say of its work tree what it likes: git runs nothing from it here.
 */
export async function trackedPaths(
  folder: string,
  pathspecs: readonly string[] = [],
): Promise<Buffer | null> {
  const root = await repositoryRoot(folder);
  if (root === null || findGit() === null) return null;
  const signal = timeoutSignal(MAX_GIT_MS);
  const selected = pathspecs.length === 0 ? [] : ['--', ...pathspecs];
  try {
    const places = [`--git-dir=${root}/.git`, `--work-tree=${root}`];
    const args = [...places, 'ls-files', '-z', ...selected];
    const { exitCode, stdout } = await askGit({ cwd: folder, args, signal });
    return exitCode === 0 ? stdout : null;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
