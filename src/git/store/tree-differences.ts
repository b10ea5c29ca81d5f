/** What differs between two trees of a repository, path by path. */

import { decodeName } from '../../files/names.ts';
import { runGit } from '../git.ts';
import type { TreeEdit } from './trees.ts';

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
  return [...listed.toString('latin1').matchAll(ENTRY)].map(
    ([, fromMode = '', toMode = '', before = '', after = '', path = '']) => ({
      path: decodeName(Buffer.from(path, 'latin1')),
      before: stateOf(fromMode, before),
      after: stateOf(toMode, after),
    }),
  );
}

function stateOf(mode: string, blob: string): TreeEdit['state'] {
  return mode === NO_MODE ? null : ({ mode, blob } as TreeEdit['state']);
}

/** Bytes of the objects that are there, in this store or one that it reads from. */
export async function sizesOf(gitDir: string, ids: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  if (ids.length === 0) return sizes;
  const listed = await runGit({
    cwd: gitDir,
    args: [`--git-dir=${gitDir}`, 'cat-file', '--batch-check=%(objectname) %(objectsize)'],
    input: Buffer.from(ids.map((id) => `${id}\n`).join('')),
  });
  for (const [, id = '', size] of listed.toString('latin1').matchAll(/^([0-9a-f]+) (\d+)$/gm))
    sizes.set(id, Number(size));
  return sizes;
}

const NO_MODE = '000000';

/** `:mode mode id id status NUL path NUL` */
const ENTRY = /:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*\0([^\0]+)\0/g;
