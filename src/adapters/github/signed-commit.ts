/** One commit by the REST API: GitHub signs commits that a bot makes this way. Its contents are pushed by git before. */

import * as z from 'zod';
import type { Person } from '../../ports/github.ts';
import { findHead } from './branch.ts';
import type { Clone } from './clone.ts';
import { GitHubObjectId, GitHubRefused, type OnGitHub } from './request.ts';

const Commit = z.object({
  sha: GitHubObjectId,
  verification: z.object({ verified: z.boolean(), reason: z.string() }),
});

/** Used as an id that a dry run does not learn. */
const PLANNED = '0'.repeat(40);

/** The commit to make. */
interface CommitOrder {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** Null: the token's account, which lets GitHub sign the commit of an app. */
  readonly author: Person | null;
  readonly committer: Person | null;
  /** Name of the branch, and the commit it is at; null when it does not exist yet. */
  readonly branch: string;
  readonly head: string | null;
}

/** `moved`: someone else moved the branch in the meantime, and nothing was overwritten. */
export type SignedCommit =
  | { status: 'made'; sha: string }
  | { status: 'moved' }
  | { status: 'failed'; message: string };

/**
 * The branch is not moved to a commit that GitHub does not show as verified. The clone has the order's tree and parents.
 */
export async function makeSignedCommit(
  where: OnGitHub,
  clone: Clone,
  order: CommitOrder,
): Promise<SignedCommit> {
  // The same contents make the same commit, so that it can be pushed again after a crash.
  const unsigned = await clone.makeCommit({ ...order, ...CARRIER });
  const ref = `refs/patchsmith/unsigned/${unsigned}`;
  await clone.push(unsigned, ref);
  try {
    const { message, tree, parents, author, committer } = order;
    const people = { ...(author && { author }), ...(committer && { committer }) };
    const { sha, verification } = await where.write(
      'POST /git/commits',
      { message, tree, parents, ...people },
      {
        schema: Commit,
        isRepeatable: true,
        planned: { sha: PLANNED, verification: { verified: true, reason: 'valid' } },
      },
    );
    if (!verification.verified)
      return {
        status: 'failed',
        message: `--sign required: GitHub does not show the commit as verified (${verification.reason}), so the branch was not moved. Use the token of a GitHub App or GITHUB_TOKEN, whose commits GitHub signs, without --author and --committer`,
      };
    return (await moveBranch(where, order, sha)) ? { status: 'made', sha } : { status: 'moved' };
  } finally {
    await clone.remove(unsigned, ref);
  }
}

const NOBODY = { name: 'patchsmith', email: 'patchsmith@localhost' };
const CARRIER = {
  author: NOBODY,
  committer: NOBODY,
  date: '@0 +0000',
  message: 'Contents of a commit that GitHub is to sign\n',
};

/**
 * False if the branch is no longer where it was. The server's rule that a branch only moves forward keeps two publications,
 * and people, from overwriting each other.
 */
async function moveBranch(where: OnGitHub, { branch, head }: CommitOrder, sha: string): Promise<boolean> {
  const ref = `heads/${branch}`;
  try {
    if (head === null)
      await where.write('POST /git/refs', { ref: `refs/${ref}`, sha }, { isRepeatable: true });
    else await where.write('PATCH /git/refs/{ref}', { ref, sha, force: false });
    return true;
  } catch (error) {
    if (!(error instanceof GitHubRefused) || ![409, 422].includes(error.refusal.status ?? 0)) throw error;
    const now = await findHead(where, branch);
    // A request whose answer got lost has moved it.
    if (now === sha) return true;
    if (now === head) throw error;
    return false;
  }
}
