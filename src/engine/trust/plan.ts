/** The plan of a run that has to check its surroundings first: on GitHub Actions, or requested by an issue or a comment. */

import { createHash } from 'node:crypto';
import { fetchComment, fetchIssue } from '../../adapters/github/access.ts';
import { readPlan } from '../../adapters/plan/plan-file.ts';
import { commentReference, issueReference } from '../../domain/github/reference.ts';
import { describeHidden, type UntrustedText, withoutCommand } from '../../domain/github/untrusted-text.ts';
import { policyViolation, refused, type Stopped, stopped } from '../../domain/run/outcome.ts';
import { type OutsideContext, type Plan, titleOf } from '../../domain/run/plan.ts';
import { sentence } from '../../domain/text/words.ts';
import type { Session } from '../session.ts';
import { type AskedText, type IssueTask, readContext, repositoryOf, sameName, whyNoneOf } from './context.ts';
import { KnownWriters, passGate } from './gate.ts';
import { notAnswered, type Trust } from './trust.ts';

/** The plan, or why there is none. */
export type TrustedPlan = { status: 'ok'; plan: Plan } | Stopped;

/** Applies the gate before anything of the plan is read. `root` is the root of the work tree. */
export async function readTrustedPlan(session: Session, trust: Trust, root: string): Promise<TrustedPlan> {
  const { settings, stdin, cwd } = session.input;
  const gate = await passGate(session);
  if (gate.status === 'stopped') return gate;
  const { plan, message, planFromIssue, planFromComment } = settings;
  const { revision } = trust;
  const signal = session.interrupt;
  const { places } = trust.credentials;
  const isOutside = planFromIssue !== null || planFromComment !== null;
  const isNamed = plan !== null || message !== null || isOutside;
  const { continued } = trust;
  const writers = new KnownWriters(
    gate.writers,
    trust.token === null ? null : () => trust.openGitHub(signal),
  );
  /** The current request, with the plan that continues. */
  const goingOn = async (given: Plan | null): Promise<TrustedPlan> => {
    if (places.length > 0)
      session.warn(
        'WARN_CREDENTIALS_STORED',
        `Credentials are stored in git's configuration: ${places.join(', ')}. The sandbox hides them; set persist-credentials: false for actions/checkout.`,
      );
    if (continued === null)
      return given === null ? refused('ERR_NO_TASK', 'There is no plan.') : { status: 'ok', plan: given };
    const { continuedPlan } = await import('../continued/plan.ts');
    const task = { settings, trust, writers, signal, continued, session, root, given };
    return continuedPlan(task);
  };
  if (continued !== null && !isNamed) return goingOn(null);
  const read =
    isOutside && plan === null ? null : await readPlan({ plan, message, stdin, cwd, root, revision, signal });
  if (read?.status === 'failed') return refused('ERR_PLAN_UNREADABLE', read.message);
  if (read !== null && !isOutside) return goingOn(read.plan);
  const made = await readIssuePlan({ settings, trust, writers, signal }, read === null ? null : read.plan);
  if (made.status === 'stopped') return made;
  if (made.hidden !== null) session.warn('WARN_HIDDEN_TEXT', made.hidden);
  return goingOn(made.plan);
}

/** `hidden` says what people cannot see of the text; null for nothing. */
type IssuePlan = { status: 'ok'; plan: Plan; hidden: string | null } | Stopped;

/**
 * `file` is a plan given in addition: its rules and instructions apply, and the text is added to it. If the event is about this
 * very issue or comment, the event's text is used, because the person who triggered it has read that one and not a later version.
 */
async function readIssuePlan(task: IssueTask, file: Plan | null): Promise<IssuePlan> {
  const { settings } = task;
  const asked = await textFor(task);
  if ('status' in asked) return asked;
  const { text: found } = asked;
  const judged = await whyNoneOf(task, settings.trustAuthors, [found]);
  if (judged.status === 'stopped') return judged;
  const [why = null] = judged.why;
  if (why !== null) return stopped(policyViolation('ERR_AUTHOR_NOT_TRUSTED', why));
  const read = await readContext(task, asked);
  return read.status === 'stopped' ? read : planOf(found, file, read.context);
}

async function planOf(
  given: UntrustedText,
  file: Plan | null,
  context: OutsideContext | undefined,
): Promise<IssuePlan> {
  const { visibleLine, visibleMarkdown } = await import('../../adapters/plan/visible-markdown.ts');
  const { source, body } = given;
  const { kind, author } = source;
  const what = kind === 'issue' ? `issue ${source.number}` : `comment ${source.commentId}`;
  const seen = visibleMarkdown(body);
  if (seen.status === 'failed')
    return refused(
      'ERR_PLAN_INVISIBLE',
      `${sentence(`The text of ${what} ${seen.why}`)} Write the plan into a file.`,
    );
  const title = visibleLine(given.title);
  const text = kind === 'issue' ? `${title}\n\n${seen.text}`.trim() : withoutCommand(seen.text);
  if (text === '') {
    const fix =
      kind === 'issue'
        ? 'Describe the change in it.'
        : 'Describe the change after the command, or use --plan-from-issue.';
    return refused('ERR_PLAN_INVISIBLE', `There is no visible text in ${what}. ${fix}`);
  }
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
      outside: { kind, author, text, ...(context === undefined ? {} : { context }) },
      sha256,
    },
    hidden: describeHidden(seen.hidden, what),
  };
}

async function textFor(task: IssueTask): Promise<AskedText | Stopped> {
  const { settings, trust, signal } = task;
  const around = { repository: repositoryOf(task), serverUrl: settings.githubServerUrl };
  const texts = trust.event?.texts ?? [];
  if (settings.planFromIssue !== null) {
    const reference = issueReference(settings.planFromIssue, around);
    if (typeof reference === 'string')
      return refused('ERR_REFERENCE_INVALID', `--plan-from-issue: ${reference}.`);
    const known = texts.find(
      ({ source }) =>
        source.kind === 'issue' &&
        source.number === reference.number &&
        sameName(source.repository, reference.repository),
    );
    if (known !== undefined) return { text: known, on: null };
    const read = await fetchIssue(await trust.openGitHub(signal), reference);
    return read.status === 'ok'
      ? { text: read.data, on: null }
      : stopped(notAnswered('The issue cannot be read', read.refusal, 'issues: read'));
  }
  const reference = commentReference(settings.planFromComment ?? '', around);
  if (typeof reference === 'string')
    return refused('ERR_REFERENCE_INVALID', `--plan-from-comment: ${reference}.`);
  const known = texts.find(
    ({ source }) =>
      source.kind === 'comment' &&
      source.commentId === reference.id &&
      sameName(source.repository, reference.repository),
  );
  // An event about a comment has what it was posted on, too.
  const on = texts.find(({ source }) => source.kind === 'issue');
  if (known !== undefined && on !== undefined) return { text: known, on };
  const read = await fetchComment(await trust.openGitHub(signal), reference);
  return read.status === 'ok'
    ? { text: known ?? read.data.comment, on: read.data.on }
    : stopped(notAnswered('The comment cannot be read', read.refusal, 'issues: read'));
}
