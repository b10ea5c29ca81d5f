/** Finds out whose a token is, what accounts may do, whose code a pull request contains, and what issues and comments say. */

import * as z from 'zod';
import type { HeadCommit } from '../../domain/github/event.ts';
import type { CommentReference, IssueReference } from '../../domain/github/reference.ts';
import {
  type Account,
  GitHubComment,
  GitHubIssue,
  GitHubUser,
  textOfComment,
  textOfIssue,
  type UntrustedText,
} from '../../domain/github/untrusted-text.ts';
import type { GitHub, GitHubAnswer } from '../../ports/github.ts';
import { answerOf, GitHubRefused, OnGitHub } from './request.ts';

/**
 * `admin`, `write`, `read` or `none`; other roles are mapped to these. `user` is the account that has the login today; null
 * if it no longer exists. Needs a token that may read the repository's metadata.
 */
export function askPermission(
  github: GitHub,
  repository: string,
  login: string,
): Promise<GitHubAnswer<{ permission: string; user: Account | null }>> {
  const schema = z.object({ permission: z.string(), user: GitHubUser.nullable() });
  const path = '/collaborators/{username}/permission';
  return answerOf(new OnGitHub(github, repository).get(path, schema, { username: login }));
}

/** The account with a login, including bots. */
export function askAccount(github: GitHub, login: string): Promise<GitHubAnswer<Account>> {
  const parameters = { username: login };
  return answerOf(github.ask({ route: 'GET /users/{username}', parameters, schema: GitHubUser }));
}

/** The current head of a pull request; null if its repository no longer exists. */
export function askPullHead(
  github: GitHub,
  repository: string,
  number: number,
): Promise<GitHubAnswer<HeadCommit | null>> {
  const schema = PullHead.transform(({ head: { sha, repo } }) =>
    repo === null ? null : { commit: sha, repositoryId: repo.id },
  );
  const where = new OnGitHub(github, repository);
  return answerOf(where.get('/pulls/{pull_number}', schema, { pull_number: number }));
}

const PullHead = z.object({
  head: z.object({ sha: z.string(), repo: z.object({ id: z.int() }).nullable() }),
});

const TokenAccount = z.object({ login: z.string(), id: z.int() });

const Viewer = z.object({ viewer: z.object({ login: z.string(), databaseId: z.int() }) });

/**
 * The token's account. REST refuses app tokens, so GraphQL is asked for those; null if that does not tell either. Throws
 * `GitHubRefused` without an answer.
 */
export async function ownAccount(github: GitHub): Promise<z.infer<typeof TokenAccount> | null> {
  const me = await answerOf(github.ask({ route: 'GET /user', schema: TokenAccount }));
  if (me.status === 'ok') return me.data;
  const { status, message } = me.refusal;
  // Rate limits are 403 too, and say nothing about the token.
  if ((status !== 403 || /rate limit/i.test(message)) && status !== 404) throw new GitHubRefused(me.refusal);
  const query = 'query { viewer { login databaseId } }';
  const seen = await answerOf(github.query({ query, variables: {}, schema: Viewer }));
  if (seen.status !== 'ok') return null;
  const { login, databaseId } = seen.data.viewer;
  return { login: login.endsWith('[bot]') ? login : `${login}[bot]`, id: databaseId };
}

/** Reads the title and body of an issue or pull request. Both are untrusted. */
export function fetchIssue(
  github: GitHub,
  { repository, number }: IssueReference,
): Promise<GitHubAnswer<UntrustedText>> {
  const schema = GitHubIssue.transform((issue) => textOfIssue(repository, issue));
  const where = new OnGitHub(github, repository);
  return answerOf(where.get('/issues/{issue_number}', schema, { issue_number: number }));
}

/** Works for a comment on a pull request too, but not for one on lines of its diff. `on` is what it was posted on. */
export async function fetchComment(
  github: GitHub,
  { repository, id }: CommentReference,
): Promise<GitHubAnswer<{ comment: UntrustedText; on: UntrustedText }>> {
  const where = new OnGitHub(github, repository);
  const path = '/issues/comments/{comment_id}';
  const comment = await answerOf(where.get(path, GitHubComment, { comment_id: id }));
  if (comment.status !== 'ok') return comment;
  const number = Number(/\/(?:issues|pull)\/(\d+)(?:#|$)/.exec(comment.data.html_url)?.[1] ?? 0);
  const issue = await fetchIssue(github, { repository, number });
  if (issue.status !== 'ok') return issue;
  const { title } = issue.data;
  const data = { comment: textOfComment({ repository, number, title }, comment.data), on: issue.data };
  return { status: 'ok', data };
}

/** The comments on an issue or pull request, oldest first. */
export function fetchComments(
  github: GitHub,
  { repository, number }: IssueReference,
): Promise<GitHubAnswer<UntrustedText[]>> {
  const on = { repository, number, title: '' };
  const entry = GitHubComment.transform((comment) => textOfComment(on, comment));
  const where = new OnGitHub(github, repository);
  return answerOf(where.list('/issues/{issue_number}/comments', entry, { issue_number: number }));
}
