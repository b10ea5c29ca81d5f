/** Reads review threads of a pull request with GraphQL, the only API that has them, and answers them. */

import * as z from 'zod';
import type { Account } from '../../../domain/github/untrusted-text.ts';
import type { OnGitHub } from '../request.ts';

/** GraphQL gives bots their names without `[bot]`, and no account for one that was deleted. */
const Actor = z
  .object({ __typename: z.string(), login: z.string(), databaseId: z.int().nullish() })
  .nullable()
  .transform((actor): Account => {
    if (actor === null) return { login: 'ghost', id: 10_137, type: 'User' };
    const { __typename: type, login, databaseId } = actor;
    return { login: type === 'Bot' ? `${login}[bot]` : login, id: databaseId ?? 0, type };
  });

const ThreadComment = z
  .object({ databaseId: z.int(), body: z.string(), authorAssociation: z.string(), author: Actor })
  .transform(({ databaseId: id, authorAssociation: association, ...rest }) => ({ id, association, ...rest }));
/** A comment of a thread. */
export type ThreadComment = z.infer<typeof ThreadComment>;

const ReviewThread = z.object({
  /** In GraphQL. */
  id: z.string(),
  isResolved: z.boolean(),
  path: z.string(),
  /** Last line that it is about; null if the file no longer has it. */
  line: z.int().nullable(),
  comments: z.object({ nodes: z.array(ThreadComment) }).transform(({ nodes }) => nodes),
});
/** Comments on lines of a file, oldest first. */
export type ReviewThread = z.infer<typeof ReviewThread>;

const Threads = z.object({
  repository: z.object({
    pullRequest: z.object({
      reviewThreads: z.object({
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
        nodes: z.array(ReviewThread),
      }),
    }),
  }),
});

/** Threads, 100 a page and at most 3 pages, each with its last 50 comments. */
const QUERY =
  'query ($owner: String!, $repo: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $repo) { pullRequest(number: $number) { reviewThreads(first: 100, after: $after) { pageInfo { hasNextPage endCursor } nodes { id isResolved path line comments(last: 50) { nodes { databaseId body authorAssociation author { __typename login ... on User { databaseId } ... on Bot { databaseId } } } } } } } } }';

const MAX_PAGES = 3;

/** The threads of a pull request, in GitHub's order. */
export async function readThreads(
  { github, owner, repo }: OnGitHub,
  number: number,
): Promise<ReviewThread[]> {
  const threads: ReviewThread[] = [];
  let after: string | null = null;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const variables: Record<string, unknown> = { owner, repo, number, after };
    const answer: z.infer<typeof Threads> = await github.query({ query: QUERY, variables, schema: Threads });
    const { nodes, pageInfo } = answer.repository.pullRequest.reviewThreads;
    threads.push(...nodes);
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage || after === null) break;
  }
  return threads;
}

/** Adds a reply to the thread that begins with this comment. */
export async function replyTo(
  where: OnGitHub,
  { pull, comment, body }: { pull: number; comment: number; body: string },
): Promise<void> {
  const parameters = { pull_number: pull, comment_id: comment, body };
  await where.write('POST /pulls/{pull_number}/comments/{comment_id}/replies', parameters);
}

const RESOLVE =
  'mutation ($id: ID!) { resolveReviewThread(input: { threadId: $id }) { thread { isResolved } } }';

/** Marks a thread as resolved. Throws `GitHubRefused` when GitHub refuses, as for a token without `contents: write`. */
export async function resolveThread({ github }: OnGitHub, id: string): Promise<void> {
  const schema = z.object({ resolveReviewThread: z.object({}) });
  const planned = { resolveReviewThread: {} };
  await github.query({ query: RESOLVE, variables: { id }, schema, planned });
}
