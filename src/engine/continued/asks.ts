/** What asks for more work on a pull request: review threads that wait for an answer, and failed checks of its head. */

import { type FailedCheck, readFailedChecks } from '../../adapters/github/checks.ts';
import { answerOf } from '../../adapters/github/request.ts';
import { type ReviewThread, readThreads, type ThreadComment } from '../../adapters/github/reviews.ts';
import type { AskedThread } from '../../domain/github/follow-up.ts';
import { type UntrustedText, withoutCommand } from '../../domain/github/untrusted-text.ts';
import { type Stopped, stopped } from '../../domain/run/outcome.ts';
import type { FollowUpAsk } from '../../domain/run/plan.ts';
import { lastUnits } from '../../domain/text/shorten.ts';
import { formatNumber } from '../../domain/text/words.ts';
import { contextPart, type IssueTask, OWN_MARK, ofMaintainers } from '../trust/context.ts';
import { notAnswered } from '../trust/trust.ts';
import type { Continued } from './find.ts';

/** The review threads to answer, for the record and for the model. */
export type ThreadsRead = { status: 'ok'; threads: AskedThread[]; asks: FollowUpAsk[] } | Stopped;

/** Maximum threads of one run, and characters of one comment in them. */
const MAX_THREADS = 20;
const MAX_COMMENT = 4_000;

/**
 * Threads that are not resolved and in which a maintainer wrote after our last answer, with the comments of maintainers; and the
 * summary of the review that started the job.
 */
export async function openThreads(task: IssueTask, { repository, pull }: Continued): Promise<ThreadsRead> {
  const read = await answerOf(readThreads(repository, pull.number));
  if (read.status === 'refused') {
    const what = `The reviews of pull request #${pull.number} cannot be read`;
    return stopped(notAnswered(what, read.refusal, 'pull-requests: read'));
  }
  const unresolved = read.data.filter(({ isResolved }) => !isResolved);
  const place = { repository: `${repository.owner}/${repository.repo}`, number: pull.number };
  const texts = new Map<UntrustedText, ThreadComment>(
    unresolved.flatMap(({ comments }) => comments.map((one) => [textOf(one, place), one])),
  );
  const summary = task.trust.event?.review ?? null;
  const chosen = await ofMaintainers(task, [...(summary === null ? [] : [summary]), ...texts.keys()]);
  if (chosen.status === 'stopped') return chosen;
  const accepted = new Set(chosen.texts.map((text) => texts.get(text)));
  const open = unresolved
    .map((thread) => ({ thread, unread: unanswered(thread, (comment) => accepted.has(comment)) }))
    .filter(({ unread }) => unread.length > 0)
    .slice(0, MAX_THREADS);
  const threads: AskedThread[] = [];
  const asks: FollowUpAsk[] = [];
  const said = summary === null ? '' : withoutCommand(summary.body);
  if (summary !== null && said !== '' && chosen.texts.includes(summary)) {
    const remarks = [await contextPart({ ...summary, body: said }, MAX_COMMENT)];
    asks.push({ tag: 'review', attributes: {}, text: '', remarks });
  }
  for (const { thread, unread } of open) {
    const { id, path, line, comments } = thread;
    const [first] = comments;
    if (first === undefined) continue;
    threads.push({ id, comment: first.id, path });
    const remarks = await Promise.all(
      unread.map((comment) => contextPart(textOf(comment, place), MAX_COMMENT)),
    );
    const attributes = { path, ...(line === null ? {} : { line: String(line) }) };
    asks.push({ tag: 'review', attributes, text: '', remarks });
  }
  return { status: 'ok', threads, asks };
}

/** What maintainers wrote, if any of it came after our last answer. */
function unanswered(
  { comments }: ReviewThread,
  isAccepted: (comment: ThreadComment) => boolean,
): ThreadComment[] {
  const isOurs = (comment: ThreadComment) =>
    OWN_MARK.test(comment.body) && (comment.author.type === 'Bot' || isAccepted(comment));
  const answered = comments.findLastIndex(isOurs);
  const accepted = comments.filter((comment) => !isOurs(comment) && isAccepted(comment));
  return accepted.some((comment) => comments.indexOf(comment) > answered) ? accepted : [];
}

function textOf(
  { id, author, association, body }: ThreadComment,
  place: { readonly repository: string; readonly number: number },
): UntrustedText {
  const source = { ...place, commentId: id, url: '', author: author.login };
  return {
    source: { kind: 'comment' as const, ...source },
    author,
    association,
    title: '',
    body: withoutCommand(body),
    at: null,
    comments: 0,
  };
}

/** Maximum characters of a log that the model sees, from its end; and of what a check reports about itself. */
const MAX_LOG = 6_000;
const MAX_SUMMARY = 2_000;

/** What failed, or why that is unknown. */
export type ChecksRead = { status: 'ok'; asks: FollowUpAsk[] } | Stopped;

/** Checks that are still running do not count. */
export async function failedChecks({ repository, pull }: Continued): Promise<ChecksRead> {
  const read = await answerOf(readFailedChecks(repository, pull.head));
  if (read.status === 'refused') {
    const what = `The checks of pull request #${pull.number} cannot be read`;
    return stopped(notAnswered(what, read.refusal, 'checks: read'));
  }
  return { status: 'ok', asks: read.data.map(askOf) };
}

function askOf({ name, conclusion, summary, log }: FailedCheck): FollowUpAsk {
  const parts = [endOf(visible(summary), MAX_SUMMARY), endOf(visible(log), MAX_LOG)];
  return {
    tag: 'check',
    attributes: { name: visible(name), conclusion },
    text: parts.filter((part) => part !== '').join('\n\n') || '(no log)',
    remarks: [],
  };
}

/** Without the times that GitHub puts before each line, colours, and what cannot be seen. */
function visible(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/^\uFEFF?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?/gm, '')
    .replace(/\x1b\[[0-9;]*[A-Za-z]/g, '')
    .replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim();
}

function endOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const shown = lastUnits(text, most);
  return `(${formatNumber(text.length - shown.length)} characters left out)\n${shown}`;
}
