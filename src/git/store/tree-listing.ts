/** Lists a tree of a repository, every path below it, and compares two. */

import type { FileMode, FileState } from '../../domain/changes/change.ts';
import { decodeName } from '../../files/names.ts';
import { askGit, runGit } from '../git.ts';
import { sizesOf } from './blobs.ts';
import type { TreeEdit } from './trees.ts';

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
  const sizes = await sizesOf(
    shadowDir,
    entries.map(({ id }) => id),
  );
  return new Map(entries.map(({ path, mode, id }) => [path, { mode, blob: id, size: sizes.get(id) ?? 0 }]));
}

/** All paths of a tree: files, links and submodules. Throws if the repository does not contain it. */
export async function pathsOfTree(shadowDir: string, tree: string): Promise<string[]> {
  const listed = await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, 'ls-tree', '-r', '-z', '--full-tree', '--name-only', tree],
  });
  return decodeName(listed).split('\0').slice(0, -1);
}

/** One path in two trees; null where a tree has none. */
export interface TreeDifference {
  readonly path: string;
  readonly before: TreeEdit['state'];
  readonly after: TreeEdit['state'];
}

/** `from` and `to` are trees or commits that the repository has. Renames are a deletion and an addition. */
export async function treeDifferences(gitDir: string, from: string, to: string): Promise<TreeDifference[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--ignore-submodules=none'];
  const listed = await runGit({ cwd: gitDir, args: [`--git-dir=${gitDir}`, ...args, from, to] });
  return [...listed.toString('latin1').matchAll(DIFFERENCE)].map(
    ([, fromMode = '', toMode = '', before = '', after = '', path = '']) => ({
      path: decodeName(Buffer.from(path, 'latin1')),
      before: stateOf(fromMode, before),
      after: stateOf(toMode, after),
    }),
  );
}

function stateOf(mode: string, blob: string): TreeEdit['state'] {
  return mode === '000000' ? null : ({ mode, blob } as TreeEdit['state']);
}

/** `mode type id TAB path NUL` */
const ENTRY = /(\d{6}) [a-z]+ ([0-9a-f]+)\t([^\0]+)\0/gy;

/** `:mode mode id id status NUL path NUL` */
const DIFFERENCE = /:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*\0([^\0]+)\0/g;
