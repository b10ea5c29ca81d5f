/** Reads review threads of a pull request with GraphQL, the only API that has them, and answers them. */

import * as z from 'zod';
import type { Account } from '../../../domain/github/untrusted-text.ts';
import type { GitHubAnswer } from '../../../ports/github.ts';
import { dataOf, type OnGitHub } from '../request.ts';

/** A comment of a thread. */
export interface ThreadComment {
  readonly id: number;
  readonly author: Account;
  /** GitHub's `author_association`. */
  readonly association: string;
  readonly body: string;
}

/** Comments on lines of a file, oldest first. */
export interface ReviewThread {
  /** In GraphQL. */
  readonly id: string;
  readonly isResolved: boolean;
  readonly path: string;
  /** Last line that it is about; null if the file no longer has it. */
  readonly line: number | null;
  readonly comments: readonly ThreadComment[];
}

const Actor = z.object({ __typename: z.string(), login: z.string(), databaseId: z.int().nullish() });

const Comment = z.object({
  databaseId: z.int(),
  body: z.string(),
  authorAssociation: z.string(),
  author: Actor.nullable(),
});

const Thread = z.object({
  id: z.string(),
  isResolved: z.boolean(),
  path: z.string(),
  line: z.int().nullable(),
  comments: z.object({ nodes: z.array(Comment) }),
});

const Threads = z.object({
  repository: z.object({
    pullRequest: z.object({
      reviewThreads: z.object({
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
        nodes: z.array(Thread),
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
): Promise<GitHubAnswer<ReviewThread[]>> {
  const threads: ReviewThread[] = [];
  let after: string | null = null;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const variables: Record<string, unknown> = { owner, repo, number, after };
    const answer: GitHubAnswer<z.infer<typeof Threads>> = await github.query({
      query: QUERY,
      variables,
      schema: Threads,
    });
    if (answer.status !== 'ok') return answer;
    const { nodes, pageInfo } = answer.data.repository.pullRequest.reviewThreads;
    threads.push(...nodes.map(threadOf));
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage || after === null) break;
  }
  return { status: 'ok', data: threads };
}

function threadOf({ comments, ...thread }: z.infer<typeof Thread>): ReviewThread {
  return {
    ...thread,
    comments: comments.nodes.map(({ databaseId, body, authorAssociation, author }) => ({
      id: databaseId,
      body,
      association: authorAssociation,
      author: accountOf(author),
    })),
  };
}

/** GraphQL gives bots their names without `[bot]`. */
function accountOf(actor: z.infer<typeof Actor> | null): Account {
  if (actor === null) return { login: 'ghost', id: 10_137, type: 'User' };
  const { __typename: type, login, databaseId } = actor;
  return { login: type === 'Bot' ? `${login}[bot]` : login, id: databaseId ?? 0, type };
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
  dataOf(await github.query({ query: RESOLVE, variables: { id }, schema, planned }));
}
