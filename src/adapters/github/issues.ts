/** One comment per plan on an issue, updated in place, and the label that says how far the work on the issue has come. */

import * as z from 'zod';
import { type RunCost, withCosts } from '../../domain/github/publishing/costs.ts';
import type { Publication } from '../../domain/github/publishing/publication.ts';
import type { GitHub } from '../../ports/github.ts';
import { ownAccount } from './access.ts';
import { findElseMake, findOrMake, type OnGitHub } from './request.ts';

const Comment = z.object({
  id: z.int(),
  html_url: z.string(),
  body: z.string().nullish(),
  user: z.object({ login: z.string(), type: z.string() }).nullish(),
});
type Comment = z.infer<typeof Comment>;

type CommentMade = NonNullable<Publication['comment']>;

/** A comment that is created once and edited from then on. */
export interface StickyComment {
  readonly issue: number;
  /** Appended to the comment to recognise it. */
  readonly marker: string;
  readonly body: string;
  /** The run that it reports, for the costs that it keeps. */
  readonly spent?: RunCost | null;
}

/** The text of our comment with this marker; empty without such a comment. */
export async function commentThere(where: OnGitHub, at: Omit<StickyComment, 'body'>): Promise<string> {
  const [oldest] = await listOurs(where, at, await ownTexts(where.github, at.marker));
  return oldest?.body ?? '';
}

/** If several are ours, the oldest is kept. Comments by others are not touched, whatever they contain. */
export async function putComment(where: OnGitHub, given: StickyComment): Promise<CommentMade> {
  const isOurs = await ownTexts(where.github, given.marker);
  const [oldest] = await listOurs(where, given, isOurs);
  const { marker, spent = null } = given;
  const comment = { ...given, body: withCosts(given.body, { before: oldest?.body ?? '', marker, spent }) };
  if (oldest) return updated(where, oldest, comment);
  // If it is unknown whether the comment was created, this is checked before retrying.
  const { thing: made } = await findOrMake(
    () =>
      where.write(
        'POST /issues/{issue_number}/comments',
        { issue_number: comment.issue, body: comment.body },
        { schema: Comment, planned: { id: 0, html_url: '', body: comment.body, user: null } },
      ),
    async () => (await listOurs(where, comment, isOurs))[0] ?? null,
  );
  // Another publication may have done the same at the same time.
  const account = made.user?.login;
  const [first, ...more] = (await listOurs(where, comment, isOurs)).filter(
    ({ user }) => account !== undefined && user?.login === account,
  );
  // The other publication may have removed them already.
  for (const { id } of more) await where.remove('/issues/comments/{comment_id}', { comment_id: id });
  if (first === undefined || first.id === made.id) return { url: made.html_url, operation: 'created' };
  return { ...(await updated(where, first, comment)), operation: 'updated' };
}

/** The same as an issue: an open one of ours is updated, and otherwise one is opened. */
export async function putIssue(
  where: OnGitHub,
  { title, marker, body }: { readonly title: string } & Omit<StickyComment, 'issue'>,
): Promise<CommentMade> {
  const isOurs = await ownTexts(where.github, marker);
  const entry = Comment.extend({ number: z.int(), pull_request: z.unknown().optional() });
  const planned = { id: 0, html_url: '', number: 0 };
  const { thing: issue, isNew } = await findElseMake(
    async () => {
      const open = await where.list('/issues', entry, { state: 'open' });
      return open.find((one) => one.pull_request === undefined && isOurs(one)) ?? null;
    },
    () => where.write('POST /issues', { title, body }, { schema: entry, planned }),
  );
  if (!isNew) await where.write('PATCH /issues/{issue_number}', { issue_number: issue.number, body });
  return { url: issue.html_url, operation: isNew ? 'created' : 'updated' };
}

/** Whether a text was made by the token's own account; if that is unknown, any bot's counts. */
export async function ownTexts(
  github: GitHub,
  marker: string,
): Promise<(text: Pick<Comment, 'user' | 'body'>) => boolean> {
  const me = await ownAccount(github);
  return ({ user, body }) =>
    body?.trimEnd().endsWith(marker) === true &&
    (me === null ? user?.type === 'Bot' : user?.login === me.login);
}

async function listOurs(
  where: OnGitHub,
  { issue }: Pick<StickyComment, 'issue'>,
  isOurs: (comment: Comment) => boolean,
): Promise<Comment[]> {
  const all = await where.list('/issues/{issue_number}/comments', Comment, { issue_number: issue });
  return all.filter(isOurs).sort((a, b) => a.id - b.id);
}

async function updated(where: OnGitHub, old: Comment, { body }: StickyComment): Promise<CommentMade> {
  const isNew = await renew(where, 'PATCH /issues/comments/{comment_id}', { comment_id: old.id }, old, body);
  return { url: old.html_url, operation: isNew ? 'updated' : 'none' };
}

/** Writes the body unless it is there already. */
export async function renew(
  where: OnGitHub,
  route: string,
  parameters: object,
  there: Partial<Pick<Comment, 'body'>>,
  body: string,
): Promise<boolean> {
  // GitHub returns texts with the line endings of web forms.
  if (there.body?.replaceAll('\r\n', '\n') === body) return false;
  await where.write(route, { ...parameters, body });
  return true;
}

/** How far the work has come. */
export type WorkState = 'running' | 'done' | 'failed';

/**
 * `trigger` is the label that starts a run, NAME. Sets `NAME:<state>` and takes away the trigger and the labels of other states, so that setting the trigger starts a run
 * again. Throws `GitHubRefused`.
 */
export async function setStateLabel(
  where: OnGitHub,
  { issue, trigger }: { readonly issue: number; readonly trigger: string },
  state: WorkState,
): Promise<void> {
  const entry = z.object({ name: z.string() });
  const labels = await where.list('/issues/{issue_number}/labels', entry, { issue_number: issue });
  const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  const wanted = `${trigger}:${state}`;
  // Set first, so that there is a state at any time.
  if (!labels.some(({ name }) => isSame(name, wanted))) await addLabels(where, issue, [wanted]);
  const others = [trigger, `${trigger}:running`, `${trigger}:done`, `${trigger}:failed`];
  for (const { name } of labels)
    if (others.some((other) => isSame(name, other)) && !isSame(name, wanted))
      // People may have taken it away in the meantime.
      await where.remove('/issues/{issue_number}/labels/{name}', { issue_number: issue, name });
}

/** Adds labels to an issue or a pull request; asks nothing for none. */
export async function addLabels(where: OnGitHub, issue: number, labels: readonly string[]): Promise<void> {
  const route = 'POST /issues/{issue_number}/labels';
  if (labels.length > 0) await where.write(route, { issue_number: issue, labels }, { isRepeatable: true });
}
