/** Merges two commits' trees without a work tree, whatever their history, and without anyone's merge drivers. */

import { type Failed, failed } from '../../domain/failed.ts';
import { type Conflict, SIDES } from '../../domain/github/conflict.ts';
import { decodeName } from '../../files/names.ts';
import { askIn, type GitAnswer, type GitCall, OWN_IDENTITY } from '../git.ts';

/** Trees or commits that the repository has. */
export interface TreesToMerge {
  /** What both sides began from. */
  readonly before: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Files with conflicts have both sides in `tree`, and what they began from, between git's markers. */
export type MergedTrees =
  | { readonly status: 'merged'; readonly tree: string; readonly conflicts: readonly Conflict[] }
  | Failed;

/**
 * The same trees give the same result, in any repository that has them and with the same version of git. `gitDir` is one of
 * our own, whose configuration names no driver; `network` lets git ask for contents that it lacks. Needs git 2.38.
 */
export async function mergeTrees(
  gitDir: string,
  sides: TreesToMerge,
  network: Pick<GitCall, 'env' | 'signal'> = {},
): Promise<MergedTrees> {
  const git = (args: readonly string[]): Promise<GitAnswer> =>
    askIn(gitDir, args, { ...network, env: { ...network.env, ...OWN_IDENTITY } });
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
  await run(['update-ref', `refs/heads/${SIDES.ours}`, await commit(sides.ours, [before])]);
  await run(['update-ref', `refs/heads/${SIDES.theirs}`, await commit(sides.theirs, [before])]);
  const bad = answers.find(({ exitCode }) => exitCode !== 0);
  if (bad !== undefined) return failed(bad.stderr);
  const merge = ['merge-tree', '--write-tree', '-z', '--no-messages', SIDES.ours, SIDES.theirs];
  const answer = await git(['-c', 'merge.conflictStyle=diff3', ...merge]);
  if (answer.exitCode !== 0 && answer.exitCode !== 1) return failed(answer.stderr);
  const [tree = '', ...entries] = answer.stdout.toString('latin1').split('\0');
  return { status: 'merged', tree, conflicts: conflictsIn(entries) };
}

/** The tree of a merge without conflicts; null otherwise. */
export function cleanTree(merged: MergedTrees): string | null {
  return merged.status === 'merged' && merged.conflicts.length === 0 ? merged.tree : null;
}

/** `mode id stage TAB path`, one for each side that has the path. */
function conflictsIn(entries: readonly string[]): Conflict[] {
  const found = new Map<string, Conflict>();
  for (const entry of entries) {
    const [, mode = '', blob = '', stage = '', name = ''] =
      /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(entry) ?? [];
    if (stage === '') continue;
    const path = decodeName(Buffer.from(name, 'latin1'));
    const known = found.get(path) ?? { path, before: null, ours: null, theirs: null };
    found.set(path, { ...known, [STAGES[Number(stage) - 1] ?? '']: { mode, blob } });
  }
  return [...found.values()];
}

const STAGES = ['before', 'ours', 'theirs'] as const;
