/** The issue on which people follow their request: `--issue`, which the workflow sets, its comment and its label. */

import * as z from 'zod';
import {
  commentThere,
  putComment,
  putIssue,
  setStateLabel,
  type WorkState,
} from '../../../adapters/github/issues.ts';
import { answerOf } from '../../../adapters/github/request.ts';
import type { Settings } from '../../../config/schema.ts';
import type { Problem } from '../../../domain/errors/problem.ts';
import { costOfRun } from '../../../domain/github/publishing/costs.ts';
import { askedIn, issuePlanId, markerOf } from '../../../domain/github/publishing/identity.ts';
import { changeTitle, plainLine } from '../../../domain/github/publishing/plain-text.ts';
import {
  conclude,
  Publication,
  type PublicationSoFar,
} from '../../../domain/github/publishing/publication.ts';
import { issueReference } from '../../../domain/github/reference.ts';
import { noChange, type RunOutcome, refusedFor, usageError } from '../../../domain/run/outcome.ts';
import { RunResult } from '../../../domain/run/result.ts';
import { redactedStrings } from '../../../domain/secrets/redact.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { refusedResult } from '../../../engine/finish/empty-result.ts';
import { sha256Of } from '../../../files/hash.ts';
import type { HostContext } from '../../../host/context.ts';
import { commentText, type ShortComment, shortComment } from '../../../texts/issue-comment.ts';
import { readSettings } from '../../inputs.ts';
import type { IssueOfWork, PublishJob } from '../job.ts';
import { obstacleIn, openPlace, type PublishPlace, stop } from '../place.ts';
import { readRun } from '../read-run.ts';
import { refusalSentence } from '../refusals.ts';
import { forReaders } from './input-words.ts';

/** Reads the issue of `--issue`; null when none was named. */
export async function readIssueOfWork({
  upstream,
  repository,
  settings: { issue, githubServerUrl: serverUrl },
}: PublishPlace): Promise<IssueOfWork | null> {
  if (issue === null) return null;
  const wrong = (reason: string) => stop(usageError('ERR_OTHER_ISSUE', `--issue: ${reason}`));
  const named = issueReference(issue, { repository, serverUrl });
  if (typeof named === 'string') return wrong(`${named}.`);
  const { number } = named;
  if (named.repository.toLowerCase() !== repository.toLowerCase())
    wrong(
      `${named.repository}#${number} is not an issue of ${repository}, the repository that is published to.`,
    );
  const schema = z.object({ html_url: z.string(), pull_request: z.unknown().optional() });
  const found = await upstream.find('/issues/{issue_number}', schema, { issue_number: number });
  if (found === null)
    return wrong(
      `there is no issue ${number} in ${repository}, or the token may not read it (issues: read).`,
    );
  const { html_url: url, pull_request: pull } = found;
  const askedIn = { repository, number, url, isPullRequest: pull !== undefined, isHere: true };
  return { askedIn, issueMarker: markerOf(issuePlanId(url, sha256Of)) };
}

/** Sets the label of `--trigger-label`; what GitHub refuses of that is a warning. */
export async function labelIssue(
  { askedIn, settings, upstream, signal, publication }: PublishPlace & Pick<PublishJob, 'askedIn'>,
  state: WorkState,
): Promise<void> {
  const { triggerLabel: trigger } = settings;
  if (trigger === null || askedIn === null || !askedIn.isHere || signal.aborted) return;
  const set = await answerOf(setStateLabel(upstream, { issue: askedIn.number, trigger }, state));
  if (set.status === 'refused' && !signal.aborted)
    publication.warnings.push(warning('WARN_LABEL_NOT_SET', refusalSentence(set.refusal)));
}

/** Puts a comment of few words on an issue or a pull request, unless none is wanted. */
export async function sayShortly(place: PublishPlace, issue: number, words: ShortComment): Promise<void> {
  const { settings, upstream, publication, sayMade, signal } = place;
  if (settings.comment === 'never' || signal.aborted) return;
  await orWarn(place, async () => {
    const { marker } = words;
    publication.comment = await putComment(upstream, { issue, marker, body: shortComment(words) });
    sayMade(`comment on #${issue} ${publication.comment.operation}`);
  });
}

/** What keeps a comment from being made is a warning, and does not hide what the comment was to say. */
async function orWarn(place: PublishPlace, work: () => Promise<unknown>): Promise<void> {
  const unheard = await obstacleIn(place, work);
  if (unheard !== null) place.publication.warnings.push(warning('WARN_NO_COMMENT', unheard.reason));
}

/** The part of a publication that the comment needs. */
type CommentJob = PublishPlace &
  Pick<PublishJob, 'askedIn' | 'issueMarker' | 'result'> &
  Partial<Pick<PublishJob, 'made'>>;

/** The same, where the end is known already. */
export function commentOrWarn(job: CommentJob, end: RunOutcome): Promise<void> {
  return orWarn(job, () => commentOnIssue(job, end));
}

/**
 * Reports how the publication ended; does nothing if no comment is wanted or the plan did not come from an issue of this
 * repository, unless that has to give the patch (`--fallback issue`).
 */
export async function commentOnIssue(job: CommentJob, end: RunOutcome): Promise<void> {
  const { askedIn, settings, upstream, publication, issueMarker: marker, patchFile, sayMade } = job;
  if (settings.comment === 'never' || job.signal.aborted) return;
  if (isToldElsewhere(job, end)) return;
  const patch = end.errorCode === 'ERR_GITHUB_REFUSED' ? (job.made?.patch ?? null) : null;
  if ((askedIn === null || !askedIn.isHere) && patch === null) {
    if (settings.comment === 'always')
      publication.warnings.push(
        warning(
          'WARN_NO_COMMENT',
          'No comment was posted because the plan did not come from an issue of this repository.',
        ),
      );
    return;
  }
  // The patch's path on this machine is of no use to readers of the issue; that it is among the artifacts is said below.
  const reason =
    patchFile === null
      ? end.reason
      : end.reason
          .replace(` The patch is kept in ${patchFile}.`, '')
          .replaceAll(patchFile, 'the artifacts of the run');
  const body = commentText({ ...publication, ...forReaders(job, { ...end, reason }), patch, marker });
  const isHere = askedIn?.isHere === true;
  publication.comment = isHere
    ? await putComment(upstream, { issue: askedIn.number, marker, body, spent: costOfRun(job.result) })
    : await putIssue(upstream, { title: plainLine(`Patch: ${changeTitle(job.result)}`, 256), marker, body });
  sayMade(
    `${isHere ? `comment on #${askedIn.number}` : 'issue with the patch'} ${publication.comment.operation}`,
  );
}

/**
 * Review threads get their own replies, and fixed checks need no comment. If an issue is named, the comment there that work has
 * begun is waiting for its outcome.
 */
function isToldElsewhere({ result: { followUp, plan }, settings }: CommentJob, end: RunOutcome): boolean {
  if (followUp === null || settings.issue !== null || settings.comment === 'always') return false;
  return end.exitCode === 0 && end.name === 'done' && plan?.source.kind !== 'comment';
}

/** What such a step was given. */
export interface WrongInputs {
  readonly flags: Readonly<Record<string, unknown>>;
  /** The run directory; null if there is no run yet. */
  readonly run: string | null;
  readonly problems: readonly Problem[];
}

/**
 * Comments on the issue that the inputs name, else on the run's origin, and sets the label. Null if neither is known, or if the
 * token or the repository is missing.
 */
export async function explainWrongInputs(
  context: HostContext,
  { flags, run, problems }: WrongInputs,
): Promise<Publication | null> {
  const settings = settingsToTell(context, flags);
  const token = context.env.GITHUB_TOKEN || context.env.GH_TOKEN;
  if (settings === null || settings.repository === null || !token) return null;
  const { repository } = settings;
  // A step has inputs where a command line has flags.
  const words = problems.map(({ message }) => context.redact(message).replace(/^--(?=[a-z])/, ''));
  const end = { ...refusedFor(problems), reason: words.join('; ') };
  const made = run === null ? null : await resultOf(run, context);
  const issue = settings.issue ?? issueOf(made, repository);
  if (issue === null) return null;
  const say = (line: string) => void context.stderr.write(`${oneLine(context.redact(line), 2_000)}\n`);
  const nothing = { ...refusedResult(end, context.version), runId: run === null ? 'none yet' : '' };
  const place = await openPlace({ ...context, settings: { ...settings, issue }, repository, token, say });
  const result = RunResult.parse(redactedStrings(made ?? nothing, context.redact));
  const publication = await explainedOnIssue(place, { end, result });
  for (const warning of publication.warnings) say(`warning: ${warning}`);
  return Publication.parse(redactedStrings(publication, context.redact));
}

/** What is needed to comment there. Invalid inputs are left out. */
const TO_TELL = 'repository issue trigger-label comment dry-run github-api-url github-server-url'.split(' ');

function settingsToTell(context: HostContext, flags: WrongInputs['flags']): Settings | null {
  const env = Object.fromEntries(
    Object.entries(context.env).filter(([name]) => !name.startsWith('PATCHSMITH_')),
  );
  const read = (given: WrongInputs['flags']) => readSettings({ ...context, env }, given, []);
  const right = TO_TELL.filter(
    (name) => flags[name] !== undefined && read({ [name]: flags[name] }).status === 'ok',
  );
  const all = read(Object.fromEntries(right.map((name) => [name, flags[name]])));
  return all.status === 'ok' ? all.settings : null;
}

async function resultOf(run: string, { cwd, env }: HostContext): Promise<RunResult | null> {
  const read = await readRun(run, { cwd, env });
  return read.status === 'ok' ? read.run.result : null;
}

/** The pull request that the run continues, or the issue of its plan. */
function issueOf(result: RunResult | null, repository: string): string | null {
  if (result === null) return null;
  if (result.followUp !== null) return String(result.followUp.pullRequest);
  const asked = result.plan && askedIn(result.plan, repository);
  return asked?.isHere === true ? String(asked.number) : null;
}

/**
 * Concludes the publication as the run ended; what keeps the comment from being made is a warning, and does not hide the end.
 * `result` contains no secrets.
 */
export async function explainedOnIssue(
  place: PublishPlace,
  given: { readonly end: RunOutcome; readonly result: RunResult },
): Promise<PublicationSoFar> {
  const { settings, publication } = place;
  let { end } = given;
  if (settings.issue === null) return conclude(publication, end);
  await orWarn(place, async () => {
    const issue = await readIssueOfWork(place);
    if (issue === null) return;
    const { askedIn, issueMarker: marker } = issue;
    const job = { ...place, ...issue, result: given.result };
    const there =
      given.result.runId === '' && (await commentThere(job.upstream, { issue: askedIn.number, marker }));
    if (there && numberOf(there) > numberOf(job.runUrl ?? '')) {
      end = noChange('No run began in this workflow run: a newer one works on the issue.');
      return;
    }
    await commentOnIssue(job, end);
    await labelIssue(job, end.exitCode === 0 ? 'done' : 'failed');
  });
  return conclude(publication, end);
}

/** The number of the workflow run that a text links to: later ones are higher. A newer run cancels one that waits for its turn. */
function numberOf(text: string): number {
  return Number(/\/actions\/runs\/(\d+)/.exec(text)?.[1] ?? 0);
}
