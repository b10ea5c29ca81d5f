/** Commits using only the REST API: blobs, trees, a commit and a ref. GitHub signs commits that a bot makes this way. */

import * as z from 'zod';
import { isWithin } from '../../../domain/changes/path.ts';
import { failed } from '../../../domain/failed.ts';
import { listed } from '../../../domain/text/words.ts';
import type { CommitOrder, Committed, Committer, NewFile } from '../../../ports/github.ts';
import { GitHubObjectId } from '../objects.ts';
import { GitHubRefused, getOrNull, getOrThrow, type OnGitHub } from '../request.ts';

const WithId = z.object({ sha: GitHubObjectId });
const Ref = z.object({ object: WithId });
const Commit = z.object({
  sha: GitHubObjectId,
  tree: WithId,
  verification: z.object({ verified: z.boolean(), reason: z.string() }),
});

/** Used as the id of the commit that a dry run does not make. */
export const PLANNED_COMMIT = '0'.repeat(40);

/** With `mustBeVerified` the branch is not moved to a commit that GitHub does not show as verified. */
export function apiCommitter(where: OnGitHub, { mustBeVerified }: { mustBeVerified: boolean }): Committer {
  return {
    async commit(order): Promise<Committed> {
      const tree = await makeTree(where, order);
      if (tree !== order.tree) return failed(`GitHub made the tree ${tree} instead of ${order.tree}`);
      const { message, parents, author, committer } = order;
      const people = { ...(author && { author }), ...(committer && { committer }) };
      const commit = await getOrThrow(where, {
        route: 'POST /repos/{owner}/{repo}/git/commits',
        parameters: { message, tree, parents, ...people },
        schema: Commit,
        isRepeatable: true,
        planned: {
          sha: PLANNED_COMMIT,
          tree: { sha: tree },
          verification: { verified: true, reason: 'valid' },
        },
      });
      if (commit.tree.sha !== tree)
        return {
          status: 'failed',
          message: `GitHub created the commit with tree ${commit.tree.sha} instead of ${tree}`,
        };
      const { verified, reason } = commit.verification;
      if (mustBeVerified && !verified) return failed(unverified(order, reason));
      return (await moveBranch(where, order, commit.sha))
        ? { status: 'made', sha: commit.sha, verified }
        : { status: 'moved' };
    },
  };
}

function unverified({ files }: CommitOrder, reason: string): string {
  const paths = files.map(({ path }) => path);
  return `--sign required: GitHub does not show the commit as verified (${reason}), so the branch was not moved. Use the token of a GitHub App or GITHUB_TOKEN, whose commits GitHub signs, without --author and --committer. Nothing was published of: ${listed(paths, 10, 'file')}`;
}

async function makeTree(where: OnGitHub, { tree, baseTree, files }: CommitOrder): Promise<string> {
  const gone = files.filter(({ state }) => state === null);
  const put = files.filter(({ state }) => state !== null);
  // If a file replaces a folder, or a folder a file, the old one has to be removed first.
  const swaps = put.some(({ path }) =>
    gone.some((old) => isWithin(path, old.path) || isWithin(old.path, path)),
  );
  if (!swaps) return postTree(where, baseTree, [...gone, ...put], tree);
  return postTree(where, await postTree(where, baseTree, gone, PLANNED_COMMIT), put, tree);
}

async function postTree(
  where: OnGitHub,
  base: string,
  files: readonly NewFile[],
  planned: string,
): Promise<string> {
  const entries: unknown[] = [];
  let room = MAX_TEXTS_BYTES;
  for (const file of files) {
    const entry = await entryOf(where, file, room);
    if ('content' in entry) room -= file.state?.bytes?.length ?? 0;
    entries.push(entry);
  }
  const { sha } = await getOrThrow(where, {
    route: 'POST /repos/{owner}/{repo}/git/trees',
    parameters: { base_tree: base, tree: entries },
    schema: WithId,
    isRepeatable: true,
    planned: { sha: planned },
  });
  return sha;
}

/** Maximum bytes of all texts sent along with one tree. GitHub answers 422 or 502 if a tree contains a few megabytes. */
const MAX_TEXTS_BYTES = 1024 * 1024;

/** Texts that fit are sent along with the tree, so that a patch of many files does not need a request for each. */
async function entryOf(where: OnGitHub, { path, state }: NewFile, room: number): Promise<object> {
  if (state === null) return { path, mode: '100644', type: 'blob', sha: null };
  const { mode, blob, bytes } = state;
  const place = { path, mode, type: mode === '160000' ? 'commit' : 'blob' };
  if (bytes === null) return { ...place, sha: blob };
  const text = bytes.length > room ? null : bytes.toString('utf8');
  if (text !== null && !text.includes('\0') && Buffer.from(text).equals(bytes))
    return { ...place, content: text };
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
  const planned = { object: { sha } };
  try {
    await getOrThrow(
      where,
      head === null
        ? {
            route: 'POST /repos/{owner}/{repo}/git/refs',
            parameters: { ref: `refs/heads/${branch}`, sha },
            schema: Ref,
            isRepeatable: true,
            planned,
          }
        : {
            route: 'PATCH /repos/{owner}/{repo}/git/refs/{ref}',
            parameters: { ref: `heads/${branch}`, sha, force: false },
            schema: Ref,
            isRepeatable: true,
            planned,
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

/** The commit a branch is at; null if there is no such branch. */
export async function findHead(where: OnGitHub, branch: string): Promise<string | null> {
  const route = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
  const ref = await getOrNull(where, { route, parameters: { ref: `heads/${branch}` }, schema: Ref });
  return ref?.object.sha ?? null;
}
