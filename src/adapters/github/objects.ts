/** Commits, folders and contents of a repository on GitHub. Received data is checked against the requested id. */

import { createHash } from 'node:crypto';
import * as z from 'zod';
import { getOrNull, getOrThrow, type OnGitHub } from './request.ts';

/** The id of a git object on GitHub, which only supports SHA-1. */
export const GitHubObjectId = z.string().regex(/^[0-9a-f]{40}$/);

const Commit = z.object({
  sha: GitHubObjectId,
  message: z.string(),
  tree: z.object({ sha: GitHubObjectId }),
  parents: z.array(z.object({ sha: GitHubObjectId })),
});

/** A commit as GitHub's API describes it. */
export type GitHubCommit = z.infer<typeof Commit>;

/** Null when the repository does not have it. */
export function findCommit(where: OnGitHub, sha: string): Promise<GitHubCommit | null> {
  const route = 'GET /repos/{owner}/{repo}/git/commits/{commit_sha}';
  return getOrNull(where, { route, parameters: { commit_sha: sha }, schema: Commit });
}

/** One entry of a tree as GitHub's API describes it. */
const TreeEntry = z.object({
  path: z.string(),
  mode: z.enum(['100644', '100755', '120000', '160000', '040000', '100664']),
  sha: GitHubObjectId,
});
export type TreeEntry = z.infer<typeof TreeEntry>;

/**
 * The entries of one folder. Throws if names or entries were lost in the answer, so that the folder cannot be written again.
 */
export async function readFolder(where: OnGitHub, sha: string): Promise<TreeEntry[]> {
  const { tree, truncated } = await getOrThrow(where, {
    route: 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}',
    parameters: { tree_sha: sha },
    schema: z.object({ tree: z.array(TreeEntry), truncated: z.boolean() }),
  });
  if (truncated || folderId(tree) !== sha) throw new UnreadableFolder(sha);
  return tree;
}

/** The links below a tree, as far as GitHub lists it: the first 100,000 entries. */
export async function readLinks(where: OnGitHub, sha: string): Promise<TreeEntry[]> {
  const { tree } = await getOrThrow(where, {
    route: 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}',
    parameters: { tree_sha: sha, recursive: '1' },
    schema: z.object({ tree: z.array(TreeEntry) }),
  });
  return tree.filter(({ mode }) => mode === '120000');
}

/** A folder with more entries than the API returns, or with names that are not UTF-8. */
export class UnreadableFolder extends Error {
  constructor(sha: string) {
    super(`GitHub's API does not list the whole folder with tree ${sha}`);
  }
}

/** Git's id of a folder with these entries. */
export function folderId(entries: readonly TreeEntry[]): string {
  const parts = [...entries].sort(byGitOrder).flatMap(({ mode, path, sha }) => [
    // Git writes the mode of a folder without its leading zero.
    Buffer.from(`${mode.replace(/^0/, '')} ${path}\0`),
    Buffer.from(sha, 'hex'),
  ]);
  return objectId('tree', Buffer.concat(parts));
}

/** Git sorts by bytes, and a folder as if its name ended with a slash. */
function byGitOrder(a: TreeEntry, b: TreeEntry): number {
  const key = ({ path, mode }: TreeEntry) => Buffer.from(mode === '040000' ? `${path}/` : path);
  return Buffer.compare(key(a), key(b));
}

/** Contents worth merging as text are small; GitHub returns up to 100 MB. */
const MAX_BLOB_BYTES = 32 * 1024 * 1024;

/** `missing` when the repository does not have it, `too large` above 32 MiB. */
export async function findBlob(where: OnGitHub, sha: string): Promise<Buffer | 'missing' | 'too large'> {
  const blob = await getOrNull(where, {
    route: 'GET /repos/{owner}/{repo}/git/blobs/{file_sha}',
    parameters: { file_sha: sha },
    schema: z.object({
      content: z.string(),
      encoding: z.enum(['base64', 'utf-8']),
      size: z.int().nullable(),
    }),
  });
  if (blob === null) return 'missing';
  if ((blob.size ?? 0) > MAX_BLOB_BYTES) return 'too large';
  const bytes = Buffer.from(blob.content, blob.encoding === 'base64' ? 'base64' : 'utf8');
  return objectId('blob', bytes) === sha ? bytes : 'missing';
}

function objectId(type: 'blob' | 'tree', bytes: Uint8Array): string {
  return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
}
