/** Determines whose a branch is, and how it relates to its base. */

import * as z from 'zod';
import { type CommitOrigin, originOfCommit } from '../../domain/github/publishing/commit-message.ts';
import { findCommit, GitHubObjectId } from './objects.ts';
import { getOrThrow, type OnGitHub } from './request.ts';

/**
 * `ahead` and `behind` count commits, `origin` is what the newest commit ahead says about itself; `foreign` names the first
 * commit that was not made by one of our runs.
 */
export type BranchState =
  | { whose: 'nobody' }
  | { whose: 'ours'; head: string; tree: string; ahead: number; behind: number; origin: CommitOrigin | null }
  | { whose: 'foreign'; sha: string; author: string };

const Comparison = z.object({
  ahead_by: z.int(),
  behind_by: z.int(),
  commits: z.array(
    z.object({
      sha: GitHubObjectId,
      commit: z.object({
        message: z.string(),
        tree: z.object({ sha: GitHubObjectId }),
        author: z.object({ name: z.string().optional() }).nullable(),
      }),
    }),
  ),
});

/** Runs of one plan do not make more commits than this. */
const MAX_COMMITS = 100;

/** What to find out about a branch before committing to it. */
export interface BranchQuestion {
  /** The repository to publish to. */
  readonly base: OnGitHub;
  readonly baseSha: string;
  /** The repository of the branch: the same, or a fork of it. */
  readonly fork: OnGitHub;
  /** The commit its branch is at. */
  readonly head: string;
}

/** A branch is ours if each of its commits since the base says so, and has the tree that it states. */
export async function judgeBranch(question: BranchQuestion): Promise<BranchState> {
  const { base, baseSha, fork, head } = question;
  const { ahead_by, behind_by, commits } = await getOrThrow(base, {
    route: 'GET /repos/{owner}/{repo}/compare/{basehead}',
    // Forks share their commits; OWNER:BRANCH could not distinguish two repositories of one owner.
    parameters: { basehead: `${baseSha}...${head}`, per_page: MAX_COMMITS },
    schema: Comparison,
  });
  const foreign = commits.find(({ commit }) => originOfCommit(commit.message)?.tree !== commit.tree.sha);
  if (foreign)
    return { whose: 'foreign', sha: foreign.sha, author: foreign.commit.author?.name ?? 'unknown' };
  const tip = await findCommit(fork, head);
  const last = commits.at(-1);
  if (ahead_by > MAX_COMMITS || (last?.sha ?? head) !== head || tip === null)
    return { whose: 'foreign', sha: head, author: `${ahead_by} commits` };
  const origin = last === undefined ? null : originOfCommit(last.commit.message);
  return { whose: 'ours', head, tree: tip.tree.sha, ahead: ahead_by, behind: behind_by, origin };
}
