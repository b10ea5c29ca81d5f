/** Reviews of pull requests, and comments at lines of their diffs. */

import { type Answer, type Call, type Handler, page } from '../call.ts';
import { notFound, Refusal, unprocessable, validationFailed } from '../refusal.ts';
import type { Comment, Issue, Pull, Thread } from '../state/world.ts';
import { showPull, showUser } from '../views.ts';
import { pullOf } from './pulls.ts';
import { changedFiles } from './repositories.ts';
import { checkText } from './text.ts';

export const reviews: Readonly<Record<string, Handler>> = {
  'pulls/list-reviews': (call) =>
    page(
      call,
      (pullOf(call).pull?.reviews ?? []).map((one) => showReview(call, one)),
    ),
  'pulls/create-review': createReview,
  'pulls/update-review': updateReview,
  'pulls/list-review-comments': async (call) => page(call, await listComments(call)),
  'pulls/create-review-comment': createComment,
  'pulls/update-review-comment': updateComment,
  'pulls/delete-review-comment': deleteComment,
};

/** A comment as a request describes it. */
interface Asked {
  readonly path?: string;
  readonly body?: string;
  readonly line?: number;
  readonly side?: string;
  readonly start_line?: number;
}

async function createReview(call: Call): Promise<Answer> {
  const { pull } = pullOf(call);
  const { token, world, body } = call;
  if (token === null || pull === null) throw new Refusal(401, 'Requires authentication');
  if (body.event !== 'COMMENT') throw unprocessable('This server knows no other reviews.');
  const text = String(body.body ?? '');
  if (text.trim() === '') throw unprocessable('Unprocessable Entity: body is required');
  checkText('PullRequestReview', undefined, text);
  const commit = await headAsked(call);
  const asked = (body.comments ?? []) as Asked[];
  const threads: Thread[] = [];
  for (const one of asked) {
    const why = await whyNotThere(call, one);
    if (why !== null) throw unprocessable(`Unprocessable Entity: ${why}`);
    threads.push(newThread(call, one, commit));
  }
  pull.threads.push(...threads);
  const made = { id: world.nextId(), author: token.account, state: 'COMMENTED' as const, body: text, commit };
  pull.reviews.push(made);
  return { status: 200, body: showReview(call, made) };
}

async function createComment(call: Call): Promise<Answer> {
  const { pull } = pullOf(call);
  if (pull === null || call.token === null) throw new Refusal(401, 'Requires authentication');
  const commit = await headAsked(call);
  const why = await whyNotThere(call, call.body);
  if (why !== null)
    throw validationFailed({
      resource: 'PullRequestReviewComment',
      code: 'custom',
      field: 'line',
      message: why,
    });
  const thread = newThread(call, call.body, commit);
  pull.threads.push(thread);
  const [shown] = await showThread(call, thread);
  return { status: 201, body: shown };
}

/** Reviews are of the head; GitHub takes earlier commits too. */
async function headAsked(call: Call): Promise<string> {
  const { store } = call.repository();
  const issue = pullOf(call);
  await showPull(call.world, call.repository(), issue);
  const head = await store.ref(`refs/pull/${issue.number}/head`);
  const sha = String(call.body.commit_id ?? head);
  if (!(await store.holds('merge-base', '--is-ancestor', sha, head ?? '')))
    throw unprocessable('commit_id is not part of the pull request');
  return sha;
}

async function whyNotThere(
  call: Call,
  { path, line, side, start_line, body }: Asked,
): Promise<string | null> {
  const issue = pullOf(call);
  checkText('PullRequestReviewComment', undefined, body);
  if ((body ?? '').trim() === '') return 'Body cannot be blank';
  const files = await filesOf(call, issue);
  const file = files.find((one) => one.filename === path);
  if (file === undefined) return 'Path could not be resolved';
  const last = line ?? 0;
  const first = start_line ?? last;
  if (start_line !== undefined && start_line >= last) return 'Start line must precede the end line';
  const hunks = [...String(file.patch ?? '').matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)].map(
    ([, from, count = '1']) => [Number(from), Number(from) + Number(count) - 1] as const,
  );
  const isShown = side === 'RIGHT' && hunks.some(([from, to]) => first >= from && last <= to);
  return isShown ? null : 'Line could not be resolved';
}

async function filesOf(call: Call, { number, pull }: Issue) {
  const repository = call.repository();
  const head = `refs/pull/${number}/head`;
  const base = await repository.store.text(['merge-base', pull?.base ?? '', head]);
  return changedFiles(repository, base, head);
}

function newThread({ world, token }: Call, { path, line, start_line, body }: Asked, commit: string): Thread {
  const now = world.now();
  if (token === null) throw new Refusal(401, 'Requires authentication');
  const comment: Comment = {
    id: world.nextId(),
    body: String(body),
    author: token.account,
    byApp: token.kind === 'installation',
    association: null,
    createdAt: now,
    updatedAt: now,
  };
  const startLine = start_line ?? null;
  const place = { path: String(path), line: line ?? null, startLine, commit };
  return { id: world.nextId(), ...place, resolvedBy: null, comments: [comment] };
}

async function listComments(call: Call) {
  const all = await Promise.all((pullOf(call).pull?.threads ?? []).map((thread) => showThread(call, thread)));
  return all.flat();
}

/** Its lines are unknown once the file has another content. */
async function showThread(call: Call, { path, line, startLine, commit, comments }: Thread) {
  const repository = call.repository();
  const { store } = repository;
  const { world, params } = call;
  const blobAt = (revision: string) => store.text(['ls-tree', revision, '--', path]);
  const head = `refs/pull/${params.pull_number}/head`;
  const isOutdated = commit !== undefined && (await blobAt(commit)) !== (await blobAt(head));
  const [first] = comments;
  return comments.map(({ id, body, author, createdAt, updatedAt }) => ({
    id,
    body,
    path,
    line: isOutdated ? null : line,
    start_line: isOutdated ? null : (startLine ?? null),
    ...(id === first?.id ? {} : { in_reply_to_id: first?.id }),
    user: showUser(world, author),
    html_url: `${world.serverUrl}/${repository.fullName}/pull/${params.pull_number}#discussion_r${id}`,
    created_at: createdAt,
    updated_at: updatedAt,
  }));
}

function showReview(call: Call, { id, author, state, body = '', commit }: Pull['reviews'][number]) {
  const { world, params } = call;
  const page = `${world.serverUrl}/${call.repository().fullName}/pull/${params.pull_number}`;
  return {
    id,
    user: showUser(world, author),
    state,
    body,
    commit_id: commit ?? null,
    html_url: `${page}#pullrequestreview-${id}`,
    submitted_at: world.now(),
  };
}

function updateReview(call: Call): Answer {
  const review = pullOf(call).pull?.reviews.find(({ id }) => id === Number(call.params.review_id));
  if (review === undefined) throw notFound();
  if (review.author.id !== call.token?.account.id)
    throw new Refusal(403, 'Resource not accessible by integration');
  checkText('PullRequestReview', undefined, call.body.body);
  review.body = String(call.body.body);
  return { status: 200, body: showReview(call, review) };
}

function commentOf(call: Call): { thread: Thread; comment: Comment; number: number; pull: Pull } {
  for (const { pull, number } of call.repository().issues.values())
    for (const thread of pull?.threads ?? []) {
      const comment = thread.comments.find(({ id }) => id === Number(call.params.comment_id));
      if (comment !== undefined && pull !== null) return { thread, comment, number, pull };
    }
  throw notFound();
}

async function updateComment(call: Call): Promise<Answer> {
  const { comment, thread, number } = commentOf(call);
  checkText('PullRequestReviewComment', undefined, call.body.body);
  comment.body = String(call.body.body);
  const shown = await showThread(
    { ...call, params: { ...call.params, pull_number: String(number) } },
    thread,
  );
  return { status: 200, body: shown.find(({ id }) => id === comment.id) };
}

function deleteComment(call: Call): Answer {
  const { comment, thread, pull } = commentOf(call);
  thread.comments.splice(thread.comments.indexOf(comment), 1);
  if (thread.comments.length === 0) pull.threads.splice(pull.threads.indexOf(thread), 1);
  return { status: 204 };
}
