/** The plan of a run requested by an issue or a comment. */

import { createHash } from 'node:crypto';
import { fetchComment, fetchIssue } from '../../adapters/github/untrusted-texts.ts';
import type { Settings } from '../../config/resolve.ts';
import { commentReference, issueReference } from '../../domain/github/reference.ts';
import {
  describeHidden,
  type UntrustedText,
  whyNotAccepted,
  withoutCommand,
} from '../../domain/github/untrusted-text.ts';
import { policyViolation, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { type Plan, titleOf } from '../../domain/run/plan.ts';
import type { GitHub } from '../../ports.ts';
import { describeRefusal, type Trust } from './trust.ts';

type OutsidePlan = { status: 'ok'; plan: Plan; notes: string[] } | { status: 'failed'; outcome: RunOutcome };

/** What such a plan is made from and judged by. */
export interface IssueTask {
  readonly settings: Settings;
  readonly trust: Trust;
  /** Ids of people known to have write access. */
  readonly writers: ReadonlySet<number>;
  readonly signal: AbortSignal;
}

/**
 * `file` is a plan given in addition: its rules and instructions apply, and the text is added to it. If the event is about
 * this very issue or comment, the event's text is used: that is what whoever triggered it has read, not a later version.
 */
export async function readIssuePlan(task: IssueTask, file: Plan | null): Promise<OutsidePlan> {
  const { settings, writers } = task;
  const found = await textFor(task);
  if ('name' in found) return { status: 'failed', outcome: found };
  const repository = repositoryOf(task);
  const isOwn = repository === null || sameName(found.source.repository, repository);
  const known = isOwn ? found : { ...found, association: 'none' };
  const rules = { trusted: settings.trustAuthors, bots: settings.allowBots, writers };
  const why = whyNotAccepted(known, rules);
  if (why !== null) return { status: 'failed', outcome: policyViolation(why) };
  return planOf(found, file);
}

async function planOf(given: UntrustedText, file: Plan | null): Promise<OutsidePlan> {
  const { visibleLine, visibleMarkdown: visibleText } = await import(
    '../../adapters/plan/visible-markdown.ts'
  );
  const { source, body } = given;
  const { kind, author } = source;
  const what = kind === 'issue' ? `issue ${source.number}` : `comment ${source.commentId}`;
  const seen = visibleText(body);
  if (seen.status === 'failed') return failed(`The text of ${what} ${seen.why}. Write the plan into a file.`);
  const title = visibleLine(given.title);
  const text = kind === 'issue' ? `${title}\n\n${seen.text}`.trim() : withoutCommand(seen.text);
  if (text === '') {
    const mend =
      kind === 'issue'
        ? 'Describe the change in it.'
        : 'Describe the change after the command, or use --plan-from-issue.';
    return failed(`There is no visible text in ${what}. ${mend}`);
  }
  const hidden = describeHidden(seen.hidden, what);
  const sha256 = createHash('sha256')
    .update(`${file?.sha256 ?? ''}\n${text}`)
    .digest('hex');
  const rules = file ?? { task: '', verify: [], verifyBaseline: false, setup: [], allow: [], protect: [] };
  return {
    status: 'ok',
    plan: {
      ...rules,
      title: titleOf(kind === 'issue' ? title || text : text),
      source,
      outside: { kind, author, text },
      sha256,
    },
    notes: hidden === null ? [] : [hidden],
  };
}

/** An outcome says why there is none. */
async function textFor(task: IssueTask): Promise<UntrustedText | RunOutcome> {
  const { settings, trust, signal } = task;
  const around = { repository: repositoryOf(task), serverUrl: settings.githubServerUrl };
  const texts = trust.event?.texts ?? [];
  if (settings.planFromIssue !== null) {
    const reference = issueReference(settings.planFromIssue, around);
    if (typeof reference === 'string') return usageError(`--plan-from-issue: ${reference}.`);
    const told = texts.find(
      ({ source }) =>
        source.kind === 'issue' &&
        source.number === reference.number &&
        sameName(source.repository, reference.repository),
    );
    return (
      told ?? fetched(await trust.openGitHub(signal), (github) => fetchIssue(github, reference), 'issue')
    );
  }
  const reference = commentReference(settings.planFromComment ?? '', around);
  if (typeof reference === 'string') return usageError(`--plan-from-comment: ${reference}.`);
  const told = texts.find(
    ({ source }) =>
      source.kind === 'comment' &&
      source.commentId === reference.id &&
      sameName(source.repository, reference.repository),
  );
  return (
    told ?? fetched(await trust.openGitHub(signal), (github) => fetchComment(github, reference), 'comment')
  );
}

async function fetched(
  github: GitHub,
  fetch: (github: GitHub) => ReturnType<typeof fetchIssue>,
  what: string,
): Promise<UntrustedText | RunOutcome> {
  const answer = await fetch(github);
  if (answer.status === 'ok') return answer.data;
  return usageError(`The ${what} cannot be read: ${describeRefusal(answer.refusal, 'issues: read')}`);
}

function repositoryOf({ settings, trust }: IssueTask): string | null {
  return trust.event?.repository ?? settings.repository;
}

/** Repository names are case-insensitive. */
function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function failed(message: string): OutsidePlan {
  return { status: 'failed', outcome: usageError(message) };
}
