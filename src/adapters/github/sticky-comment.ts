/** One comment per plan on an issue, updated in place. */

import * as z from 'zod';
import type { GitHub } from '../../ports/github.ts';
import { GitHubRefused, getOrNull, getOrThrow, type OnGitHub, paginate } from './request.ts';

const Comment = z.object({
  id: z.int(),
  html_url: z.string(),
  body: z.string().nullish(),
  user: z.object({ login: z.string(), type: z.string() }).nullish(),
});
type Comment = z.infer<typeof Comment>;

/** A comment that is created once and edited from then on. */
export interface StickyComment {
  readonly issue: number;
  /** Appended to the comment to recognise it. */
  readonly marker: string;
  readonly body: string;
}

/** The address of the comment, and whether it was created or updated. */
export interface CommentMade {
  readonly url: string;
  readonly operation: 'created' | 'updated' | 'none';
}

/** The text of our comment with this marker; empty without such a comment. */
export async function commentThere(where: OnGitHub, at: Omit<StickyComment, 'body'>): Promise<string> {
  const [oldest] = await listOurs(where, at, await ownComments(where.github, at.marker));
  return oldest?.body ?? '';
}

/** If several are ours, the oldest is kept. Comments by others are not touched, whatever they contain. */
export async function putComment(where: OnGitHub, comment: StickyComment): Promise<CommentMade> {
  const isOurs = await ownComments(where.github, comment.marker);
  const [oldest] = await listOurs(where, comment, isOurs);
  if (oldest) return updated(where, oldest, comment);
  const made = await create(where, comment, isOurs);
  // Another publication may have done the same at the same time.
  const account = made.user?.login;
  const [first, ...more] = (await listOurs(where, comment, isOurs)).filter(
    ({ user }) => account !== undefined && user?.login === account,
  );
  // The other publication may have removed them already.
  for (const { id } of more)
    await getOrNull(where, {
      route: 'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}',
      parameters: { comment_id: id },
      schema: z.unknown(),
      isRepeatable: true,
      planned: '',
    });
  if (first === undefined || first.id === made.id) return { url: made.html_url, operation: 'created' };
  return { ...(await updated(where, first, comment)), operation: 'updated' };
}

/** Whether a comment was made by the token's own account; if that is unknown, any bot's counts. */
async function ownComments(github: GitHub, marker: string): Promise<(comment: Comment) => boolean> {
  const me = await ownAccount(github);
  return ({ user, body }) =>
    body?.trimEnd().endsWith(marker) === true &&
    (me === null ? user?.type === 'Bot' : user?.login === me.login);
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

async function listOurs(
  where: OnGitHub,
  { issue }: Pick<StickyComment, 'issue'>,
  isOurs: (comment: Comment) => boolean,
): Promise<Comment[]> {
  const all = await paginate(where, {
    route: 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
    parameters: { issue_number: issue },
    entry: Comment,
  });
  return all.filter(isOurs).sort((a, b) => a.id - b.id);
}

/** If it is unknown whether the comment was created, this is checked before retrying. */
async function create(
  where: OnGitHub,
  comment: StickyComment,
  isOurs: (comment: Comment) => boolean,
): Promise<Comment> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await getOrThrow(where, {
        route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
        parameters: { issue_number: comment.issue, body: comment.body },
        schema: Comment,
        planned: { id: 0, html_url: '', body: comment.body, user: null },
      });
    } catch (error) {
      if (!(error instanceof GitHubRefused)) throw error;
      const { status } = error.refusal;
      if ((status !== null && status < 500) || tries === 3) throw error;
      const [made] = await listOurs(where, comment, isOurs);
      if (made) return made;
    }
  }
}

async function updated(where: OnGitHub, old: Comment, { body }: StickyComment): Promise<CommentMade> {
  // GitHub returns texts with the line endings of web forms.
  if (old.body?.replaceAll('\r\n', '\n') === body) return { url: old.html_url, operation: 'none' };
  const { html_url } = await getOrThrow(where, {
    route: 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
    parameters: { comment_id: old.id, body },
    schema: Comment,
    isRepeatable: true,
    planned: old,
  });
  return { url: html_url, operation: 'updated' };
}
