/** One commit by the REST API in place of a push: GitHub signs commits that a bot makes this way. */

import * as z from 'zod';
import { isWithin } from '../../domain/changes/path.ts';
import { listed } from '../../domain/text/words.ts';
import { readBlobs } from '../../git/store/blobs.ts';
import { type TreeDifference, treeDifferences, treeEntries } from '../../git/store/trees.ts';
import type { CommitOrder } from '../../ports/github.ts';
import { findHead } from './branch.ts';
import { type Clone, MAX_CONTENT_BYTES } from './clone.ts';
import { GitHubObjectId, GitHubRefused, getOrThrow, type OnGitHub } from './request.ts';

const WithId = z.object({ sha: GitHubObjectId });
const Ref = z.object({ object: WithId });
const Commit = z.object({
  sha: GitHubObjectId,
  tree: WithId,
  verification: z.object({ verified: z.boolean(), reason: z.string() }),
});

/** Used as an id that a dry run does not learn. */
const PLANNED = '0'.repeat(40);

/** `moved`: someone else moved the branch in the meantime, and nothing was overwritten. */
export type SignedCommit =
  | { status: 'made'; sha: string }
  | { status: 'moved' }
  | { status: 'failed'; message: string };

/** The branch is not moved to a commit that GitHub does not show as verified. The clone has the order's tree and parents. */
export async function makeSignedCommit(
  where: OnGitHub,
  clone: Clone,
  order: CommitOrder,
): Promise<SignedCommit> {
  const failed = (message: string): SignedCommit => ({ status: 'failed', message });
  const base = order.parents.at(-1) ?? '';
  const changes = await treeDifferences(clone.gitDir, base, order.tree);
  const odd = changes.filter(({ path }) => /\p{Cs}/u.test(path)).map(({ path }) => path);
  if (odd.length > 0)
    return failed(
      `--sign required: GitHub signs no commit with names that are not UTF-8: ${listed(odd, 10)}`,
    );
  const baseTree = (await clone.commit(base)).tree;
  const tree = await makeTree(where, clone, { baseTree, changes, order });
  if (tree !== order.tree) return failed(`GitHub made the tree ${tree} instead of ${order.tree}`);
  const { message, parents, author, committer } = order;
  const people = { ...(author && { author }), ...(committer && { committer }) };
  const commit = await getOrThrow(where, {
    route: 'POST /repos/{owner}/{repo}/git/commits',
    parameters: { message, tree, parents, ...people },
    schema: Commit,
    isRepeatable: true,
    planned: { sha: PLANNED, tree: { sha: tree }, verification: { verified: true, reason: 'valid' } },
  });
  const { verified, reason } = commit.verification;
  if (!verified || commit.tree.sha !== tree)
    return failed(
      `--sign required: GitHub does not show the commit as verified (${reason}), so the branch was not moved. Use the token of a GitHub App or GITHUB_TOKEN, whose commits GitHub signs, without --author and --committer`,
    );
  return (await moveBranch(where, order, commit.sha))
    ? { status: 'made', sha: commit.sha }
    : { status: 'moved' };
}

interface TreeToMake {
  readonly baseTree: string;
  readonly changes: readonly TreeDifference[];
  readonly order: CommitOrder;
}

async function makeTree(
  where: OnGitHub,
  clone: Clone,
  { baseTree, changes, order }: TreeToMake,
): Promise<string> {
  const there = new Set<string>();
  for (const parent of order.parents)
    for (const { id } of (await treeEntries(clone.gitDir, parent)) ?? []) there.add(id);
  const post = async (base: string, some: readonly TreeDifference[], planned: string) => {
    const tree: object[] = [];
    for (const change of some) tree.push(await entryOf(where, clone, { change, there }));
    const { sha } = await getOrThrow(where, {
      route: 'POST /repos/{owner}/{repo}/git/trees',
      parameters: { base_tree: base, tree },
      schema: WithId,
      isRepeatable: true,
      planned: { sha: planned },
    });
    return sha;
  };
  const gone = changes.filter(({ after }) => after === null);
  const put = changes.filter(({ after }) => after !== null);
  // If a file replaces a folder, or a folder a file, the old one has to be removed first.
  const swaps = put.some(({ path }) =>
    gone.some((old) => isWithin(path, old.path) || isWithin(old.path, path)),
  );
  if (!swaps) return post(baseTree, [...gone, ...put], order.tree);
  return post(await post(baseTree, gone, PLANNED), put, order.tree);
}

/** Each new content is a request of its own; GitHub has the others. */
async function entryOf(
  where: OnGitHub,
  { gitDir }: Clone,
  { change: { path, after }, there }: { change: TreeDifference; there: ReadonlySet<string> },
): Promise<object> {
  if (after === null) return { path, mode: '100644', type: 'blob', sha: null };
  const { mode, blob } = after;
  const place = { path, mode, type: mode === '160000' ? 'commit' : 'blob' };
  if (mode === '160000' || there.has(blob)) return { ...place, sha: blob };
  const bytes = (await readBlobs(gitDir, [blob], () => MAX_CONTENT_BYTES)).get(blob) ?? null;
  if (bytes === null) throw new Error(`The clone does not have the new content of ${path}.`);
  const { sha } = await getOrThrow(where, {
    route: 'POST /repos/{owner}/{repo}/git/blobs',
    parameters: { content: bytes.toString('base64'), encoding: 'base64' },
    schema: WithId,
    isRepeatable: true,
    planned: { sha: blob },
  });
  return { ...place, sha };
}

/**
 * False if the branch is no longer where it was. The server's rule that a branch only moves forward keeps two publications,
 * and people, from overwriting each other.
 */
async function moveBranch(where: OnGitHub, { branch, head }: CommitOrder, sha: string): Promise<boolean> {
  const shared = { schema: Ref, isRepeatable: true, planned: { object: { sha } } };
  try {
    await getOrThrow(
      where,
      head === null
        ? {
            ...shared,
            route: 'POST /repos/{owner}/{repo}/git/refs',
            parameters: { ref: `refs/heads/${branch}`, sha },
          }
        : {
            ...shared,
            route: 'PATCH /repos/{owner}/{repo}/git/refs/{ref}',
            parameters: { ref: `heads/${branch}`, sha, force: false },
          },
    );
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
