/** Lists a tree of a repository: every path below it. */

import type { FileMode, FileState } from '../../domain/changes/change.ts';
import { decodeName } from '../../files/names.ts';
import { askGit, runGit } from '../git.ts';

/** A path of a tree that is no folder. */
export interface ListedPath {
  readonly path: string;
  readonly mode: FileMode;
  /** Id of the blob, or of a submodule's commit. */
  readonly id: string;
}

/** `tree` may be a commit. Null if the repository does not contain it, or one of its folders. */
export async function treeEntries(gitDir: string, tree: string): Promise<ListedPath[] | null> {
  const listed = await askGit({
    cwd: gitDir,
    args: [`--git-dir=${gitDir}`, 'ls-tree', '-r', '-z', '--full-tree', tree],
  });
  if (listed.exitCode !== 0) return null;
  return [...listed.stdout.toString('latin1').matchAll(ENTRY)].map(([, mode, id = '', path = '']) => ({
    path: decodeName(Buffer.from(path, 'latin1')),
    mode: mode as FileMode,
    id,
  }));
}

/**
 * Null if the repository does not contain the tree. Sizes are of the stored contents, which may differ from those in the
 * work tree; 0 for a submodule and for a content that is in no store, as in a partial clone.
 */
export async function listTree(shadowDir: string, tree: string): Promise<Map<string, FileState> | null> {
  const entries = await treeEntries(shadowDir, tree);
  if (entries === null) return null;
  const sizes = await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'cat-file', '--batch-check=%(objectsize)'],
    input: Buffer.from(entries.map(({ id }) => `${id}\n`).join('')),
  });
  const lines = sizes.toString('latin1').split('\n');
  const states = new Map<string, FileState>();
  for (const [at, { path, mode, id }] of entries.entries()) {
    // A missing object is answered with its name and one word.
    const size = mode === '160000' ? 0 : Number(/^\d+$/.exec(lines[at] ?? '')?.[0] ?? 0);
    states.set(path, { mode, blob: id, size });
  }
  return states;
}

/** All paths of a tree: files, links and submodules. Throws if the repository does not contain it. */
export async function pathsOfTree(shadowDir: string, tree: string): Promise<string[]> {
  const listed = await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'ls-tree', '-r', '-z', '--full-tree', '--name-only', tree],
  });
  return decodeName(listed).split('\0').slice(0, -1);
}

/** `mode type id TAB path NUL` */
const ENTRY = /(\d{6}) [a-z]+ ([0-9a-f]+)\t([^\0]+)\0/gy;
