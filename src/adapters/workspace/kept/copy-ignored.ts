/** Ignored files of a checkout in a copy of a run's base: commands need them (`node_modules`), and no run stores them. */

import { closeSync } from 'node:fs';
import { isGitDirName, type RepoPath } from '../../../domain/changes/path.ts';
import { ioFailure } from '../../../files/failures.ts';
import { decodeNames, encodeNames, encodePath } from '../../../files/names.ts';
import { enterParent } from '../../../files/nofollow.ts';
import { TreeView, viewing } from '../../../files/tree-view.ts';
import { copyEntry } from '../copy-entry.ts';
import { copyFolder } from '../work-tree-copy.ts';
import { gitIn } from './base-copy.ts';

/** What to copy, and where to. */
export interface IgnoredCopy {
  /** Root of the checkout, without links. */
  readonly from: string;
  /** Root of a copy that `copyBase` made, in which no command has run yet. */
  readonly copy: string;
  /** The same below both roots. */
  readonly path: RepoPath;
  readonly signal: AbortSignal;
}

/**
 * Copies one ignored file or folder. Links are copied as links and never followed; git dirs, pipes, sockets and devices are
 * left out. Null on success, and when the signal ended it early; otherwise why not, as the end of a sentence.
 */
export async function copyIgnored({ from, copy, path, signal }: IgnoredCopy): Promise<string | null> {
  const tracked = await gitIn(copy, `${copy}/.git`)(['--literal-pathspecs', 'ls-files', '-z', '--', path]);
  if (tracked.stdout.length > 0) return 'is tracked in the base of the run';
  const view = new TreeView(from);
  try {
    const look = view.lookAt(path);
    if (look.status !== 'seen') return `is not in ${from}, or behind a link`;
    const { kind } = look.stat;
    if (kind === 'link') return 'is a link; links are not followed';
    if (kind === 'special') return 'is neither a folder nor a plain file';
    const place = enterParent(copy, path, 'make');
    if (place.status !== 'ok') return `has no place in the base of the run: ${place.message}`;
    closeSync(place.folder);
    const isFolder = kind === 'folder';
    const { ignored, problem } = await ignoredAmong(copy, [{ path, isFolder }]);
    if (ignored.length === 0) return `is not ignored in the base of the run${problem}`;
    if (isFolder) {
      const copied = await copyFolder({ from, to: copy, signal }, path, () => true);
      return copied.status === 'failed' ? `cannot be copied: ${copied.message}` : null;
    }
    await copyEntry(view, path, encodePath(copy, path), signal);
    return null;
  } catch (error) {
    return `cannot be copied: ${ioFailure(error, path, 'read').message}`;
  } finally {
    view.close();
  }
}

/** The entries at the top of a checkout that the copy lacks and that its base ignores, sorted. */
export async function ignoredAndMissing(from: string, copy: string): Promise<string[]> {
  const there = entriesAtTop(from);
  const known = new Set(entriesAtTop(copy).map(({ path }) => path));
  const missing = there.filter(({ path }) => !known.has(path) && !isGitDirName(path));
  return (await ignoredAmong(copy, missing)).ignored.sort();
}

interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
}

function entriesAtTop(root: string): Entry[] {
  const listing = viewing(root, (view) => view.listFolder(''));
  const entries = listing.status === 'seen' ? listing.entries : [];
  return entries.map(({ name, folder }) => ({ path: name, isFolder: folder }));
}

/** According to the rules of the copy, where none of the entries exists yet. `problem` ends a sentence; empty if git had none. */
async function ignoredAmong(
  copy: string,
  entries: readonly Entry[],
): Promise<{ ignored: string[]; problem: string }> {
  // The leading `./` prevents a colon at the start of a name from being read as pathspec magic.
  const names = entries.map(({ path, isFolder }) => `./${path}${isFolder ? '/' : ''}`);
  const { exitCode, stdout, stderr } = await gitIn(copy, `${copy}/.git`)(
    ['check-ignore', '--stdin', '-z'],
    encodeNames(names),
  );
  const said = new Set(decodeNames(stdout));
  const ignored = entries.filter((_, at) => said.has(names[at] ?? '')).map(({ path }) => path);
  return { ignored, problem: exitCode > 1 ? ` (${stderr})` : '' };
}
