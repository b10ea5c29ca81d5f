/** The discussion around a request, as its context: bounded, cleaned, and not trusted. */

import { setImmediate } from 'node:timers/promises';
import { fetchComments } from '../../adapters/github/access.ts';
import type { Settings } from '../../config/schema.ts';
import { type UntrustedText, whyNotAccepted } from '../../domain/github/untrusted-text.ts';
import { refused, type Stopped, stopped } from '../../domain/run/outcome.ts';
import type { ContextPart, OutsideContext } from '../../domain/run/plan.ts';
import { firstUnits } from '../../domain/text/shorten.ts';
import { formatNumber } from '../../domain/text/words.ts';
import type { KnownWriters } from './gate.ts';
import { describeRefusal, type Trust } from './trust.ts';

/** Most characters of one comment, of the text it was posted on, and of all comments together; and most comments. */
export const CONTEXT_BOUNDS = { comment: 4_000, body: 16_000, discussion: 16_000, comments: 30 };

/** What a plan from an issue or a comment is made from and judged by. */
export interface IssueTask {
  readonly settings: Settings;
  readonly trust: Trust;
  readonly writers: KnownWriters;
  readonly signal: AbortSignal;
}

/** The repository that this job belongs to, OWNER/NAME. */
export function repositoryOf({ settings, trust }: Pick<IssueTask, 'settings' | 'trust'>): string | null {
  return trust.event?.repository ?? settings.repository;
}

/** Repository names are case-insensitive. */
export function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Why each of these texts may not ask for work; null for one that may. Asks GitHub what their authors may do here. */
export async function whyNoneOf(
  task: IssueTask,
  trusted: readonly string[],
  texts: readonly UntrustedText[],
): Promise<{ status: 'ok'; why: (string | null)[] } | Stopped> {
  const { settings, writers } = task;
  const repository = repositoryOf(task);
  const isOwn = ({ source }: UntrustedText) => repository === null || sameName(source.repository, repository);
  const judged = (text: UntrustedText) => {
    const bots = settings.allowBots;
    if (isOwn(text)) return whyNotAccepted(text, { trusted, bots, writers });
    // What its author is in another repository means nothing here.
    return whyNotAccepted({ ...text, association: 'none' }, { trusted, bots, writers: null });
  };
  const [first] = texts;
  const asked = texts.filter((text) => isOwn(text) && judged(text) !== null).map(({ author }) => author);
  const outcome = await writers.learn(repository ?? first?.source.repository ?? '', asked);
  return outcome === null ? { status: 'ok', why: texts.map(judged) } : stopped(outcome);
}

/** The request, and the issue or pull request it was posted on; null if it is an issue itself. */
export interface AskedText {
  readonly text: UntrustedText;
  readonly on: UntrustedText | null;
}

/** The context, or why it cannot be read. Undefined if there is none. */
export async function readContext(
  task: IssueTask,
  { text, on }: AskedText,
): Promise<{ status: 'ok'; context: OutsideContext | undefined } | Stopped> {
  const { settings, trust, signal } = task;
  const issue = on ?? text;
  // The text of a continued pull request was written by patchsmith.
  const isOwn = on !== null && trust.continued?.pull.number === on.source.number;
  const first = on === null ? [] : [await contextPart(isOwn ? { ...on, body: '' } : on, CONTEXT_BOUNDS.body)];
  const { repository, number } = text.source;
  if (settings.issueComments === 'none' || issue.comments === 0)
    return { status: 'ok', context: first.length === 0 ? undefined : { parts: first, leftOut: 0 } };
  const read = await fetchComments(await trust.openGitHub(signal), { repository, number });
  if (read.status === 'refused') {
    const why = describeRefusal(read.refusal, 'issues: read');
    return refused(
      'ERR_GITHUB_UNREADABLE',
      `The discussion of #${number} cannot be read: ${why} Without it: --issue-comments none.`,
    );
  }
  const asked = text.source.kind === 'comment' ? text.source.commentId : null;
  const others = read.data.filter(
    ({ source, body }) => !(source.kind === 'comment' && source.commentId === asked) && !OWN_MARK.test(body),
  );
  // The author of the request has not read anything that was posted or edited later.
  const earlier = others.filter(({ at }) => at === null || text.at === null || at <= text.at);
  const all = { status: 'ok', texts: earlier } as const;
  const chosen = settings.issueComments === 'all' ? all : await ofMaintainers(task, earlier);
  if (chosen.status === 'stopped') return chosen;
  const wanted = chosen.texts;
  const parts: ContextPart[] = [];
  let room = CONTEXT_BOUNDS.discussion;
  for (const comment of wanted.slice(-CONTEXT_BOUNDS.comments).reverse()) {
    const part = await contextPart(comment, CONTEXT_BOUNDS.comment);
    room -= part.text.length;
    // Each may take seconds to read.
    await setImmediate();
    if (room < 0 || signal.aborted) break;
    parts.unshift(part);
  }
  const leftOut = others.length - parts.length;
  return { status: 'ok', context: { parts: [...first, ...parts], leftOut } };
}

/** In every comment of our own, where a line begins: a quotation begins with another sign. */
export const OWN_MARK = /^<!-- patchsmith:/m;

/** The texts of people with write access. The authors of the newest are asked for first, those that GitHub calls members before. */
export async function ofMaintainers(
  task: IssueTask,
  texts: readonly UntrustedText[],
): Promise<{ status: 'ok'; texts: UntrustedText[] } | Stopped> {
  const newest = texts.toReversed();
  const isKnown = ({ association }: UntrustedText) => /^(?:MEMBER|COLLABORATOR)$/.test(association);
  const ordered = [...newest.filter(isKnown), ...newest.filter((text) => !isKnown(text))];
  const judged = await whyNoneOf(task, MAINTAINERS, ordered);
  if (judged.status === 'stopped') return judged;
  const kept = new Set(ordered.filter((_, at) => judged.why[at] === null));
  return { status: 'ok', texts: texts.filter((text) => kept.has(text)) };
}

/** GitHub's `OWNER` has write access: of the repository, or of the organisation that owns it. */
const MAINTAINERS = ['owner'];

/** One text as context: what people see of it, at most so many characters. */
export async function contextPart(
  { source, author, title, body }: UntrustedText,
  most: number,
): Promise<ContextPart> {
  const { visibleLine, visibleMarkdown } = await import('../../adapters/plan/visible-markdown.ts');
  const seen = visibleMarkdown(body);
  const text = seen.status === 'ok' ? cut(seen.text, most) : `(left out: it ${seen.why})`;
  if (source.kind === 'comment') return { kind: 'remark', author: author.login, title: null, text };
  const kind = /\/pull\/\d+$/.test(source.url) ? 'pull_request' : 'issue';
  return { kind, author: author.login, title: visibleLine(title), text };
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const shown = firstUnits(text, most);
  return `${shown}\n(${formatNumber(text.length - shown.length)} characters left out)`;
}
