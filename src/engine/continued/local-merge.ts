/** Merges commits of this checkout with git, in a separate repository that reads the checkout's objects. */

import { join } from 'node:path';
import type { CleanMerge } from '../../adapters/github/branch.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import type { Environment } from '../../domain/environment.ts';
import { firstUnits } from '../../domain/text/shorten.ts';
import { formatNumber } from '../../domain/text/words.ts';
import { makeTemporaryFolder } from '../../files/replace-file.ts';
import { askIn } from '../../git/git.ts';
import { makeRepository } from '../../git/store/bare-repository.ts';
import { cleanTree, type MergedTrees, mergeTrees } from '../../git/store/merge-trees.ts';

/** A repository of our own beside a checkout. */
export interface BesideCheckout {
  /** The newest common ancestor; null if there is none in this checkout. */
  mergeBase(one: string, other: string): Promise<string | null>;
  merge(before: string, ours: string, theirs: string): Promise<MergedTrees>;
  readonly cleanMerge: CleanMerge;
  /** The difference between two commits as a patch, at most `maxLength` characters of it. */
  diff(from: string, to: string, maxLength: number): Promise<string>;
  /** Git's folder of it. */
  readonly gitDir: string;
}

/** Work with such a repository, which is removed afterwards; `root` is that of the checkout, whose configuration is not read. */
export async function besideCheckout<T>(
  root: string,
  env: Environment,
  work: (beside: BesideCheckout) => Promise<T>,
): Promise<T> {
  const folder = makeTemporaryFolder(env);
  try {
    return await work(await openBeside(root, folder.path, env));
  } finally {
    folder.remove();
  }
}

async function openBeside(root: string, folder: string, env: Environment): Promise<BesideCheckout> {
  const found = await findCheckout(root, env);
  if (found.status === 'failed') throw new Error(found.message);
  const alternate = found.checkout.objects;
  const gitDir = join(folder, 'beside.git');
  const core = { bare: true, logAllRefUpdates: false };
  makeRepository({ gitDir, objectFormat: 'sha1', alternate, head: 'ref: refs/heads/none', core });
  const git = (args: readonly string[]) => askIn(gitDir, args);
  const mergeBase = async (one: string, other: string) => {
    const { exitCode, stdout } = await git(['merge-base', one, other]);
    return exitCode === 0 ? stdout.toString('latin1').trim() : null;
  };
  const merge = (before: string, ours: string, theirs: string) =>
    mergeTrees(gitDir, { before, ours, theirs });
  return {
    gitDir,
    mergeBase,
    merge,
    async cleanMerge(ours, theirs) {
      const before = await mergeBase(ours, theirs);
      return before === null ? null : cleanTree(await merge(before, ours, theirs));
    },
    async diff(from, to, maxLength) {
      const { exitCode, stdout, stderr } = await git([...DIFF, from, to]);
      if (exitCode !== 0) return `(git cannot tell: ${stderr})`;
      const text = stdout.toString('utf8');
      if (text.length <= maxLength) return text;
      const shown = firstUnits(text, maxLength);
      return `${shown}\n(${formatNumber(text.length - shown.length)} more characters; read the files)`;
    },
  };
}

const DIFF = 'diff-tree -r -p -M --no-ext-diff --no-textconv --no-color --no-commit-id'.split(' ');
