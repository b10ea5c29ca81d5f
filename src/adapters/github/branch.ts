/** Determines whose a branch is, and how it relates to its base. */

import * as z from 'zod';
import { type CommitOrigin, originOfCommit } from '../../domain/github/publishing/commit-message.ts';
import { GitHubObjectId, type OnGitHub } from './request.ts';

const WithId = z.object({ sha: GitHubObjectId });
/** A ref in GitHub's answers. */
export const Ref = z.object({ object: WithId });
const ComparedCommit = z.object({
  sha: GitHubObjectId,
  commit: z.object({
    message: z.string(),
    tree: WithId,
    author: z.object({ name: z.string().optional() }).nullable(),
  }),
  parents: z.array(WithId),
});
type ComparedCommit = z.infer<typeof ComparedCommit>;

const BranchComparison = z.object({
  ahead_by: z.int(),
  behind_by: z.int(),
  merge_base_commit: WithId,
  commits: z.array(ComparedCommit),
});

/** The tree of a merge without conflicts of these two commits; null if there are conflicts, or it cannot be found out. */
export type CleanMerge = (ours: string, theirs: string) => Promise<string | null>;

/** Runs of one plan do not make more commits than this. */
const MAX_COMMITS = 100;

/**
 * The commits of a branch since its base. `foreign` is the first that is neither ours, by what it says of itself, nor a merge of the
 * base; `origins` is what ours say, oldest first.
 */
export interface CommitsSince {
  /** Numbers of commits. */
  readonly ahead: number;
  readonly behind: number;
  /** Of the newest of them; null if there are none. */
  readonly tree: string | null;
  /** The newest commit of the base that the branch contains. */
  readonly mergeBase: string;
  readonly origins: readonly CommitOrigin[];
  readonly foreign: { readonly sha: string; readonly author: string } | null;
}

/** Looks at each commit of a branch since its base. More than 100 are not looked at, and count as foreign. */
export async function commitsSince(
  base: OnGitHub,
  { baseSha, head, cleanMerge }: { baseSha: string; head: string; cleanMerge: CleanMerge },
): Promise<CommitsSince> {
  const { ahead_by, behind_by, merge_base_commit, commits } = await compare(base, baseSha, head);
  const known = new Set(commits.map(({ sha }) => sha));
  const origins: CommitOrigin[] = [];
  let foreign: CommitsSince['foreign'] = null;
  for (const one of commits) {
    const origin = originOfCommit(one.commit.message);
    if (origin !== null && origin.tree === one.commit.tree.sha) origins.push(origin);
    else if (foreign === null && !(await isMergeOfBase(one, known, cleanMerge)))
      foreign = { sha: one.sha, author: one.commit.author?.name ?? 'unknown' };
  }
  const isWhole = ahead_by <= MAX_COMMITS && (commits.at(-1)?.sha ?? head) === head;
  if (!isWhole) foreign ??= { sha: head, author: `${ahead_by} commits` };
  const mergeBase = merge_base_commit.sha;
  const tree = commits.at(-1)?.commit.tree.sha ?? null;
  return { ahead: ahead_by, behind: behind_by, tree, mergeBase, origins, foreign };
}

/** The commit a branch is at; null if there is no such branch. */
export async function findHead(where: OnGitHub, branch: string): Promise<string | null> {
  return (await where.find('/git/ref/{ref}', Ref, { ref: `heads/${branch}` }))?.object.sha ?? null;
}

/** The newest common ancestor of both commits. */
export async function mergeBaseOf(base: OnGitHub, one: string, other: string): Promise<string> {
  return (await compare(base, one, other)).merge_base_commit.sha;
}

function compare(base: OnGitHub, from: string, to: string): Promise<z.infer<typeof BranchComparison>> {
  // Forks share their commits; OWNER:BRANCH could not distinguish two repositories of one owner.
  const basehead = `${from}...${to}`;
  return base.get('/compare/{basehead}', BranchComparison, { basehead, per_page: MAX_COMMITS });
}

/**
 * Whether a commit is what the button "Update branch" creates: a merge of a commit of the base, with nothing else in it. A commit
 * that is not among those since the base is in the base.
 */
async function isMergeOfBase(
  { parents: [ours, theirs, ...more], commit }: ComparedCommit,
  known: ReadonlySet<string>,
  cleanMerge: CleanMerge,
): Promise<boolean> {
  if (ours === undefined || theirs === undefined || more.length > 0) return false;
  if (known.has(theirs.sha) || !known.has(ours.sha)) return false;
  return (await cleanMerge(ours.sha, theirs.sha)) === commit.tree.sha;
}
