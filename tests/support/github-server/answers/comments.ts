/** Comments of issues and pull requests. */

import { type Answer, type Call, type Handler, page } from '../call.ts';
import { notFound, Refusal } from '../refusal.ts';
import { type Comment, type Issue, mayPush, roleOf } from '../state/world.ts';
import { showComment } from '../views.ts';
import { issueOf } from './issues.ts';
import { checkText } from './text.ts';

export const comments: Readonly<Record<string, Handler>> = {
  'issues/list-comments': (call) => {
    const issue = issueOf(call);
    const since = call.query.get('since');
    const found = issue.comments.filter((one) => since === null || one.updatedAt >= since);
    return page(
      call,
      found.map((comment) => showComment(call.world, call.repository(), issue, comment)),
    );
  },
  'issues/list-comments-for-repo': (call) => {
    const since = call.query.get('since') ?? '';
    const repository = call.repository();
    const found = [...repository.issues.values()].flatMap((issue) =>
      issue.comments.flatMap((one) =>
        one.updatedAt >= since ? [showComment(call.world, repository, issue, one)] : [],
      ),
    );
    return page(call, found);
  },
  'issues/get-comment': (call) => {
    const { issue, comment } = commentOf(call);
    return { status: 200, body: showComment(call.world, call.repository(), issue, comment) };
  },
  'issues/create-comment': create,
  'issues/update-comment': update,
  'issues/delete-comment': remove,
};

function commentOf(call: Call): { issue: Issue; comment: Comment } {
  for (const issue of call.repository().issues.values()) {
    const comment = issue.comments.find(({ id }) => id === Number(call.params.comment_id));
    if (comment !== undefined) return { issue, comment };
  }
  throw notFound();
}

function create(call: Call): Answer {
  const issue = issueOf(call);
  const { token, world } = call;
  if (token === null) throw new Refusal(401, 'Requires authentication');
  if (issue.locked && !mayPush(roleOf(call.repository(), token.account)))
    throw new Refusal(403, 'Unable to create comment because issue is locked.');
  checkText('IssueComment', undefined, call.body.body);
  const now = world.now();
  const comment: Comment = {
    id: world.nextId(),
    body: String(call.body.body),
    author: token.account,
    byApp: token.kind === 'installation',
    association: null,
    createdAt: now,
    updatedAt: now,
  };
  issue.comments.push(comment);
  const body = showComment(world, call.repository(), issue, comment);
  return { status: 201, body, headers: { location: String(body.url) } };
}

function update(call: Call): Answer {
  const { issue, comment } = commentOf(call);
  checkAuthor(call, comment);
  checkText('IssueComment', undefined, call.body.body);
  comment.body = String(call.body.body);
  comment.updatedAt = call.world.now();
  return { status: 200, body: showComment(call.world, call.repository(), issue, comment) };
}

function remove(call: Call): Answer {
  const { issue, comment } = commentOf(call);
  checkAuthor(call, comment);
  issue.comments.splice(issue.comments.indexOf(comment), 1);
  return { status: 204 };
}

/** Whoever may push may also edit what others wrote. */
function checkAuthor(call: Call, comment: Comment): void {
  const { token } = call;
  if (token === null) throw new Refusal(401, 'Requires authentication');
  const may =
    token.account.id === comment.author.id ||
    token.kind === 'installation' ||
    mayPush(roleOf(call.repository(), token.account));
  if (!may) throw new Refusal(403, 'Must have admin rights to Repository.');
}
