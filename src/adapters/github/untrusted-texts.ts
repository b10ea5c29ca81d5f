/** Fetches issues and comments. Read-only; public ones need no token. */

import type { CommentReference, IssueReference } from '../../domain/github/reference.ts';
import {
  GitHubComment,
  GitHubIssue,
  textOfComment,
  textOfIssue,
  type UntrustedText,
} from '../../domain/github/untrusted-text.ts';
import type { GitHub, GitHubAnswer } from '../../ports/github.ts';
import { ownerAndName } from './request.ts';

/** Reads the title and body of an issue or pull request. Both are untrusted. */
export async function fetchIssue(
  github: GitHub,
  { repository, number }: IssueReference,
): Promise<GitHubAnswer<UntrustedText>> {
  const issue = await github.ask({
    route: 'GET /repos/{owner}/{repo}/issues/{issue_number}',
    parameters: { ...ownerAndName(repository), issue_number: number },
    schema: GitHubIssue,
  });
  return issue.status === 'ok' ? { status: 'ok', data: textOfIssue(repository, issue.data) } : issue;
}

/** Works for a comment on a pull request too, but not for one on lines of its diff. `on` is what it was posted on. */
export async function fetchComment(
  github: GitHub,
  { repository, id }: CommentReference,
): Promise<GitHubAnswer<{ comment: UntrustedText; on: UntrustedText }>> {
  const comment = await github.ask({
    route: 'GET /repos/{owner}/{repo}/issues/comments/{comment_id}',
    parameters: { ...ownerAndName(repository), comment_id: id },
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
  const listed = await github.list({
    route: 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
    parameters: { ...ownerAndName(repository), issue_number: number },
    entry: GitHubComment,
  });
  if (listed.status !== 'ok') return listed;
  const on = { repository, number, title: '' };
  return { status: 'ok', data: listed.data.map((comment) => textOfComment(on, comment)) };
}
