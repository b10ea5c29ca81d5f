/** One review of a pull request per marker: written once, and from then on kept up to date, its comments too. */

import * as z from 'zod';
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
