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
import { GitHubRefused, OnGitHub } from './request.ts';

/**
 * `admin`, `write`, `read` or `none`; other roles are mapped to these. `user` is the account that has the login today; null
 * if it no longer exists. Needs a token that may read the repository's metadata.
 */
export function askPermission(
  github: GitHub,
  repository: string,
  login: string,
): Promise<GitHubAnswer<{ permission: string; user: Account | null }>> {
  return new OnGitHub(github, repository).ask({
    route: 'GET /collaborators/{username}/permission',
    parameters: { username: login },
    schema: z.object({ permission: z.string(), user: GitHubUser.nullable() }),
  });
}

/** The account with a login, including bots. */
export function askAccount(github: GitHub, login: string): Promise<GitHubAnswer<Account>> {
  return github.ask({
    route: 'GET /users/{username}',
    parameters: { username: login },
    schema: GitHubUser,
  });
}

/** The current head of a pull request; null if its repository no longer exists. */
export async function askPullHead(
  github: GitHub,
  repository: string,
  number: number,
): Promise<GitHubAnswer<HeadCommit | null>> {
  const pull = await new OnGitHub(github, repository).ask({
    route: 'GET /pulls/{pull_number}',
    parameters: { pull_number: number },
    schema: z.object({ head: z.object({ sha: z.string(), repo: z.object({ id: z.int() }).nullable() }) }),
  });
  if (pull.status !== 'ok') return pull;
  const { sha, repo } = pull.data.head;
  return { status: 'ok', data: repo === null ? null : { commit: sha, repositoryId: repo.id } };
}

const TokenAccount = z.object({ login: z.string(), id: z.int() });

const Viewer = z.object({ viewer: z.object({ login: z.string(), databaseId: z.int() }) });

/**
 * The token's account. REST refuses app tokens, so GraphQL is asked for those; null if that does not tell either. Throws
 * `GitHubRefused` without an answer.
 */
export async function ownAccount(github: GitHub): Promise<z.infer<typeof TokenAccount> | null> {
  const me = await github.ask({ route: 'GET /user', schema: TokenAccount });
  if (me.status === 'ok') return me.data;
  const { status, message } = me.refusal;
  // Rate limits are 403 too, and say nothing about the token.
  if ((status !== 403 || /rate limit/i.test(message)) && status !== 404) throw new GitHubRefused(me.refusal);
  const query = 'query { viewer { login databaseId } }';
  const seen = await github.query({ query, variables: {}, schema: Viewer });
  if (seen.status !== 'ok') return null;
  const { login, databaseId } = seen.data.viewer;
  return { login: login.endsWith('[bot]') ? login : `${login}[bot]`, id: databaseId };
}

/** Reads the title and body of an issue or pull request. Both are untrusted. */
export async function fetchIssue(
  github: GitHub,
  { repository, number }: IssueReference,
): Promise<GitHubAnswer<UntrustedText>> {
  const issue = await new OnGitHub(github, repository).ask({
    route: 'GET /issues/{issue_number}',
    parameters: { issue_number: number },
    schema: GitHubIssue,
  });
  return issue.status === 'ok' ? { status: 'ok', data: textOfIssue(repository, issue.data) } : issue;
}

/** Works for a comment on a pull request too, but not for one on lines of its diff. `on` is what it was posted on. */
export async function fetchComment(
  github: GitHub,
  { repository, id }: CommentReference,
): Promise<GitHubAnswer<{ comment: UntrustedText; on: UntrustedText }>> {
  const comment = await new OnGitHub(github, repository).ask({
    route: 'GET /issues/comments/{comment_id}',
    parameters: { comment_id: id },
    schema: GitHubComment,
  });
  if (comment.status !== 'ok') return comment;
  const number = Number(/\/(?:issues|pull)\/(\d+)(?:#|$)/.exec(comment.data.html_url)?.[1] ?? 0);
  const issue = await fetchIssue(github, { repository, number });
  if (issue.status !== 'ok') return issue;
  const { title } = issue.data;
  const data = { comment: textOfComment({ repository, number, title }, comment.data), on: issue.data };
  return { status: 'ok', data };
}

/** The comments on an issue or pull request, oldest first. */
export async function fetchComments(
  github: GitHub,
  { repository, number }: IssueReference,
): Promise<GitHubAnswer<UntrustedText[]>> {
  const where = new OnGitHub(github, repository);
  const listed = await where.answers('/issues/{issue_number}/comments', GitHubComment, {
    issue_number: number,
  });
  if (listed.status !== 'ok') return listed;
  const on = { repository, number, title: '' };
  return { status: 'ok', data: listed.data.map((comment) => textOfComment(on, comment)) };
}
