/** Whose a branch is, and how it stands to its base. */

import * as z from 'zod';
import { type CommitOrigin, originOfCommit } from '../../domain/github/publishing/commit-message.ts';
import { findCommit, GitHubObjectId } from './objects.ts';
import { getOrThrow, type OnGitHub } from './request.ts';

/**
 * `ahead` and `behind` count commits, `origin` is what the newest that is ahead says of itself; `foreign` names the first
 * commit that no run of ours has made.
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

/** More commits than this are more than runs of one plan make. */
const MAX_COMMITS = 100;

/** What to know of a branch before committing to it. */
export interface BranchQuestion {
  /** The repository that is published to. */
  readonly base: OnGitHub;
  readonly baseSha: string;
  /** The repository of the branch: the same, or a fork of it. */
  readonly fork: OnGitHub;
  /** Where its branch is. */
  readonly head: string;
}

/** A branch is ours when each of its commits since the base says that it is, and has the tree that it says. */
export async function judgeBranch(question: BranchQuestion): Promise<BranchState> {
  const { base, baseSha, fork, head } = question;
  const { ahead_by, behind_by, commits } = await getOrThrow(base, {
    route: 'GET /repos/{owner}/{repo}/compare/{basehead}',
    // Forks share their commits; OWNER:BRANCH would not tell two repositories of one owner apart.
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
