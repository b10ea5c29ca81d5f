/** Merges two commits' trees without a work tree, whatever their history, and without anyone's merge drivers. */

import { type Failed, failed } from '../../domain/failed.ts';
import { decodeName } from '../../files/names.ts';
import { askGit, type GitAnswer } from '../git.ts';

/** Trees or commits that the repository has. */
export interface TreesToMerge {
  /** What both sides began from. */
  readonly before: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Files with conflicts have both sides in `tree`, between git's markers; `conflicts` names them. */
export type MergedTrees =
  | { readonly status: 'merged'; readonly tree: string; readonly conflicts: readonly string[] }
  | Failed;

/** Names in the markers of a conflict. */
const OURS = 'pull-request';
const THEIRS = 'base';

/**
 * The same trees give the same result, in any repository that has them and with the same version of git. `gitDir` is one of
 * our own, whose configuration names no driver; `env` is added to git's. Needs git 2.38.
 */
export async function mergeTrees(
  gitDir: string,
  sides: TreesToMerge,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<MergedTrees> {
  const git = (args: readonly string[]): Promise<GitAnswer> =>
    askGit({ cwd: gitDir, args: [`--git-dir=${gitDir}`, ...args], env: { ...env, ...ENV } });
  const answers: GitAnswer[] = [];
  const run = async (args: readonly string[]): Promise<string> => {
    const answer = await git(args);
    answers.push(answer);
    return answer.stdout.toString('latin1').trim();
  };
  const commit = async (side: string, parents: readonly string[]) =>
    run(['commit-tree', `${side}^{tree}`, '-m', 'x', ...parents.flatMap((parent) => ['-p', parent])]);
  // Commits of our own have just these three in their history, however much of the real one is here.
  const before = await commit(sides.before, []);
  await run(['update-ref', `refs/heads/${OURS}`, await commit(sides.ours, [before])]);
  await run(['update-ref', `refs/heads/${THEIRS}`, await commit(sides.theirs, [before])]);
  const bad = answers.find(({ exitCode }) => exitCode !== 0);
  if (bad !== undefined) return failed(bad.stderr);
  const merge = ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', OURS, THEIRS];
  const answer = await git(merge);
  if (answer.exitCode !== 0 && answer.exitCode !== 1) return failed(answer.stderr);
  const [tree = '', ...names] = decodeName(answer.stdout).split('\0');
  return { status: 'merged', tree, conflicts: names.filter((name) => name !== '') };
}

const ENV = {
  GIT_AUTHOR_NAME: 'patchsmith',
  GIT_AUTHOR_EMAIL: 'patchsmith@localhost',
  GIT_AUTHOR_DATE: '2000-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'patchsmith',
  GIT_COMMITTER_EMAIL: 'patchsmith@localhost',
  GIT_COMMITTER_DATE: '2000-01-01T00:00:00Z',
};
