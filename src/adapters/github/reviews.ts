/**
 * Reviews of a pull request: one of our own per marker, written once and kept up to date, its comments too; and the threads that
 * people began, which only GraphQL has.
 */

import * as z from 'zod';
import type { Account } from '../../domain/github/untrusted-text.ts';
import { ownTexts, renew } from './issues.ts';
import { findElseMake, type OnGitHub } from './request.ts';

const Author = z.object({ login: z.string(), type: z.string() }).nullish();
const Review = z.object({ id: z.int(), html_url: z.string(), body: z.string().nullish(), user: Author });
const LineComment = z.object({
  id: z.int(),
  path: z.string(),
  body: z.string(),
  user: Author,
  /** Null when the lines have changed since. */
  line: z.int().nullish(),
  start_line: z.int().nullish(),
  in_reply_to_id: z.int().optional(),
});

/** A comment at lines that the diff shows; `start` is the first of several. */
export interface CommentAtLines {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly body: string;
}

/** What a review should say. Every text ends with `marker`. */
export interface ReviewWanted {
  readonly pull: number;
  readonly head: string;
  readonly marker: string;
  readonly body: string;
  readonly comments: readonly CommentAtLines[];
  /** It says that there is nothing to say. */
  readonly isEmpty: boolean;
}

/** The pull request itself, and the lines of its diff by path. */
export function readPull(where: OnGitHub, pull: number) {
  const schema = z.object({ number: z.int(), state: z.string(), head: z.object({ sha: z.string() }) });
  return where.find(PULL, schema, { pull_number: pull });
}

/** Each file with its diff, where GitHub shows one. */
export function diffOf(where: OnGitHub, pull: number) {
  const entry = z.object({ filename: z.string(), patch: z.string().optional() });
  return where.list(`${PULL}/files`, entry, { pull_number: pull });
}

/**
 * Comments that no longer apply are removed, unless people have answered them. Null if `isEmpty` and there is no review to
 * bring up to date.
 */
export async function putReview(
  where: OnGitHub,
  { pull, head, marker, body, comments, isEmpty }: ReviewWanted,
): Promise<{ url: string; operation: 'created' | 'updated' } | null> {
  const isOurs = await ownTexts(where.github, marker);
  const parameters = { pull_number: pull };
  const find = async () => (await where.list(`${PULL}/reviews`, Review, parameters)).find(isOurs) ?? null;
  if (isEmpty && (await find()) === null) return null;
  const { thing: there, isNew } = await findElseMake(find, () =>
    where.write(
      `POST ${PULL}/reviews`,
      { ...parameters, commit_id: head, event: 'COMMENT', body, comments: comments.map(asked) },
      { schema: Review, planned: { id: 0, html_url: '' } },
    ),
  );
  if (isNew) return { url: there.html_url, operation: 'created' };
  const all = await where.list(`${PULL}/comments`, LineComment, parameters);
  const answered = new Set(all.map(({ in_reply_to_id }) => in_reply_to_id));
  const old = all.filter((one) => one.in_reply_to_id === undefined && isOurs(one));
  for (const comment of comments) {
    const at = old.findIndex((one) => isAt(one, comment));
    const [same] = at === -1 ? [] : old.splice(at, 1);
    if (same === undefined)
      await where.write(`POST ${PULL}/comments`, { ...parameters, commit_id: head, ...asked(comment) });
    else await renew(where, `PATCH ${COMMENT}`, { comment_id: same.id }, same, comment.body);
  }
  for (const { id } of old) if (!answered.has(id)) await where.remove(COMMENT, { comment_id: id });
  await renew(where, `PUT ${PULL}/reviews/{review_id}`, { ...parameters, review_id: there.id }, there, body);
  return { url: there.html_url, operation: 'updated' };
}

const PULL = '/pulls/{pull_number}';
const COMMENT = '/pulls/comments/{comment_id}';

function asked({ path, start, end, body }: CommentAtLines) {
  const first = start < end ? { start_line: start, start_side: 'RIGHT' } : {};
  return { path, body, line: end, side: 'RIGHT', ...first };
}

function isAt(there: z.infer<typeof LineComment>, { path, start, end }: CommentAtLines): boolean {
  return there.path === path && there.line === end && (there.start_line ?? end) === start;
}

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
