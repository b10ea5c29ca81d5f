/** The review threads of a pull request that wait for an answer. */

import {
  type ReviewThread,
  readThreads,
  type ThreadComment,
} from '../../adapters/github/follow-up/review-threads.ts';
import type { AskedThread } from '../../domain/github/follow-up.ts';
import { whyNotAccepted } from '../../domain/github/untrusted-text.ts';
import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { FollowUpAsk } from '../../domain/run/plan.ts';
import { contextPart, type IssueTask, MAINTAINERS, OWN_MARK } from '../trust/context.ts';
import { describeRefusal } from '../trust/trust.ts';
import type { Continued } from './find.ts';

/** The review threads to answer, for the record and for the model. */
export type ThreadsRead =
  | { status: 'ok'; threads: AskedThread[]; asks: FollowUpAsk[] }
  | { status: 'failed'; outcome: RunOutcome };

/** Maximum threads of one run, and characters of one comment in them. */
const MAX_THREADS = 20;
const MAX_COMMENT = 4_000;

/**
 * Threads that are not resolved and in which a maintainer wrote after our last answer, with the comments of maintainers.
 */
export async function openThreads(task: IssueTask, { repository, pull }: Continued): Promise<ThreadsRead> {
  const read = await readThreads(repository, pull.number);
  if (read.status === 'refused') {
    const why = describeRefusal(read.refusal, 'pull-requests: read');
    const reason = `The reviews of pull request #${pull.number} cannot be read: ${why}`;
    return { status: 'failed', outcome: usageError('ERR_GITHUB_UNREADABLE', reason) };
  }
  const open = read.data
    .filter(({ isResolved }) => !isResolved)
    .map((thread) => ({ thread, unread: unanswered(task, thread) }))
    .filter(({ unread }) => unread.length > 0)
    .slice(0, MAX_THREADS);
  const threads: AskedThread[] = [];
  const asks: FollowUpAsk[] = [];
  for (const { thread, unread } of open) {
    const { id, path, line, comments } = thread;
    const [first] = comments;
    if (first === undefined) continue;
    threads.push({ id, comment: first.id, path });
    const remarks = await Promise.all(
      unread.map((comment) => contextPart(textOf(comment, pull.number), MAX_COMMENT)),
    );
    const attributes = { path, ...(line === null ? {} : { line: String(line) }) };
    asks.push({ tag: 'review', attributes, text: '', remarks });
  }
  return { status: 'ok', threads, asks };
}

/** What maintainers wrote, if any of it came after our last answer. */
function unanswered(task: IssueTask, { comments }: ReviewThread): ThreadComment[] {
  const isOurs = (comment: ThreadComment) =>
    comment.body.includes(OWN_MARK) && (comment.author.type === 'Bot' || isAccepted(task, comment));
  const answered = comments.findLastIndex(isOurs);
  const accepted = comments.filter((comment) => !isOurs(comment) && isAccepted(task, comment));
  return accepted.some((comment) => comments.indexOf(comment) > answered) ? accepted : [];
}

function isAccepted({ settings, writers }: IssueTask, comment: ThreadComment): boolean {
  const rules = { trusted: MAINTAINERS, bots: settings.allowBots, writers };
  return whyNotAccepted(textOf(comment, 1), rules) === null;
}

function textOf({ id, author, association, body }: ThreadComment, number: number) {
  const source = { repository: '', number, commentId: id, url: '', author: author.login };
  return {
    source: { kind: 'comment' as const, ...source },
    author,
    association,
    title: '',
    body: body.replace(/^\s*\/[\w-]+[ \t:]*/, ''),
    at: null,
    comments: 0,
  };
}
