/**
 * Title and body of a pull request: measured facts first, and the model's own statements marked as such. Also what a follow-up adds
 * to it, and its answers in review threads.
 */

import type { FollowUp } from '../domain/github/follow-up.ts';
import type { AskedIn } from '../domain/github/publishing/identity.ts';
import { code, escaped, pathCode } from '../domain/github/publishing/markdown.ts';
import { changeSubject, changeTitle, plainLine } from '../domain/github/publishing/plain-text.ts';
import { verificationOf } from '../domain/github/publishing/policy.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import { type PullRecord, recordLine } from '../domain/github/publishing/pull-text.ts';
import type { RunResult } from '../domain/run/result.ts';
import { bullets } from './bounded-list.ts';
import {
  attemptsLine,
  factsLine,
  folded,
  modelLine,
  ownWords,
  paragraphs,
  ROOM,
  sectionsOf,
  warningList,
  withoutMachinePaths,
} from './run-parts.ts';

/** GitHub's limit for a title. */
const MAX_TITLE = 256;

/** The contents of a pull request's body: what the publication has, what the operator set, and how the run ended. */
export interface PullRequestFacts extends Pick<Publication, 'merged' | 'flags'> {
  /** Contains no secrets. */
  readonly result: RunResult;
  /** Where the plan was requested; null if not on GitHub. */
  readonly askedIn: AskedIn | null;
  readonly base: NonNullable<Publication['base']>;
  /** Reasons for it to be a draft; empty if it is ready for review. */
  readonly drafts: readonly string[];
  /** Whether it is a draft: people may have marked it ready, or turned it into a draft. */
  readonly isDraft: boolean;
  /** The run ended before its work was done, so the pull request closes no issue. */
  readonly unfinished: boolean;
  /** Page of the workflow run; null outside a workflow. */
  readonly runUrl: string | null;
  /** It is made with the token of a workflow, for which GitHub starts no further workflows. */
  readonly isByWorkflow: boolean;
  /** `--report-url`, `--title` and so on; in a title, `{title}` stands for that of the change. */
  readonly settings: Readonly<
    Record<'reportUrl' | 'titlePrefix' | 'title' | 'bodyHeader' | 'bodyFooter', string | null>
  >;
  /** Lets a later run find the pull request for its plan. */
  readonly marker: string;
}

/** For runs that continue the pull request. */
function recordOf({ plan, paths }: RunResult): PullRecord {
  const rules = [plan, paths].map((given) => ({ allow: given?.allow ?? [], protect: given?.protect ?? [] }));
  const { source = { kind: 'message' as const }, sha256 = '0'.repeat(64) } = plan ?? {};
  return { version: 1, source, sha256, rules };
}

/** The same facts give the same text. */
export function pullRequestText(facts: PullRequestFacts): { title: string; body: string } {
  const { result, flags, marker, isByWorkflow, settings } = facts;
  const { account, verification, denied, review, secondLook, files } = sectionsOf(result, flags);
  const body = paragraphs([
    settings.bodyHeader ?? '',
    closingLine(facts),
    draftLine(facts),
    factsLine(result),
    account,
    verification,
    review,
    denied,
    secondLook,
    files,
    folded('How it was made', originOf(facts)),
    isByWorkflow ? NO_CHECKS : '',
    recordLine(recordOf(result)),
    settings.bodyFooter ?? '',
    marker,
  ]);
  return { title: titleOf(facts), body };
}

const NO_CHECKS =
  '<sub>No checks here? GitHub does not run workflows for a pull request opened with `GITHUB_TOKEN`: close and reopen it, or publish with a GitHub App token.</sub>';

function draftLine({ drafts, isDraft }: PullRequestFacts): string {
  if (drafts.length > 0)
    return `> [!WARNING]\n> ${isDraft ? 'Draft' : 'This should be a draft'}, since ${drafts.join(', and ')}.`;
  return isDraft ? '> [!NOTE]\n> Still a draft, although this run gives no reason for it.' : '';
}

function titleOf({ result, settings: { titlePrefix, title: wanted } }: PullRequestFacts): string {
  const prefix = titlePrefix === null ? '' : `${titlePrefix} `;
  const title = plainLine(changeTitle(result), MAX_TITLE - prefix.length) || 'Changes of a run';
  const words = wanted === null ? title : wanted.replaceAll('{title}', () => title).replace(/\s+/g, ' ');
  return `${prefix}${words}`.slice(0, MAX_TITLE).trim();
}

/** Unfinished work closes no issue, and a pull request is never closed. */
function closingLine({ askedIn, unfinished }: PullRequestFacts): string {
  const issue = askedIn && referenceTo(askedIn);
  if (askedIn === null || issue === null) return '';
  return `${unfinished || askedIn.isPullRequest ? 'Asked for in' : 'Fixes'} ${issue}`;
}

/** Null if the name is not one that GitHub would give. */
function referenceTo({ repository, number, isHere }: AskedIn): string | null {
  if (isHere) return `#${number}`;
  return /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(repository) ? `${repository}#${number}` : null;
}

function originOf(facts: PullRequestFacts): string {
  const { result, runUrl, settings } = facts;
  const { reportUrl } = settings;
  const { patch, sandbox } = result;
  const links = [
    ...(reportUrl === null ? [] : [`, [report](<${reportUrl}>)`]),
    ...(runUrl === null ? [] : [`, [log and artifacts](${runUrl})`]),
  ].join('');
  const warnings = warningList(result.warnings.map(withoutMachinePaths), ROOM.warnings);
  const attempts = attemptsLine(result);
  const lines = [
    `Plan: ${planLine(facts)}`,
    `Model: ${modelLine(result)}`,
    ...(attempts === '' ? [] : [`Attempt: ${attempts}`]),
    `Base: ${baseLine(facts)}`,
    `Commands ran ${sandbox === null || sandbox === 'none' ? 'without a sandbox' : `in a sandbox (${sandbox})`}`,
    ...(patch === null ? [] : [`Patch: sha256 ${code(patch.sha256)}`]),
    `Run: ${code(result.runId)}${links}, patchsmith ${code(result.patchsmith, 50)}`,
  ];
  return [
    ...lines.map((line) => `- ${line}`),
    ...(warnings === '' ? [] : ['', 'Warnings of the run:', '', warnings]),
  ].join('\n');
}

function planLine({ result, askedIn }: PullRequestFacts): string {
  const { plan } = result;
  if (plan === null) return 'unknown';
  const sha256 = `sha256 ${code(plan.sha256.slice(0, 12))}`;
  switch (plan.source.kind) {
    case 'file':
      return `${pathCode(plan.source.path)}, ${sha256}`;
    case 'stdin':
    case 'message':
      return `given to the run as text, ${sha256}`;
    case 'issue':
    case 'comment': {
      const kind = plan.source.kind === 'comment' ? 'a comment on ' : '';
      const issue = (askedIn && referenceTo(askedIn)) ?? 'an issue';
      return `${kind}${issue}, written by ${code(plan.source.author, 60)}, ${sha256}`;
    }
  }
}

/** The base that the patch was proven on, and its changes since. */
function baseLine({ result, base, merged }: PullRequestFacts): string {
  const branch = code(base.branch);
  if (result.baseSha === base.sha)
    return `${branch} at ${code(short(base.sha))}${result.baseDirty === true ? ', with uncommitted changes' : ''}`;
  const began = result.baseSha === null ? 'no commit' : code(short(result.baseSha));
  const moved = `${branch} at ${code(short(base.sha))}; the run began at ${began}, and later commits were not verified`;
  if (merged.length === 0) return moved;
  const paths = bullets(merged, pathCode, { maxLength: ROOM.merged, maxLines: 50, noun: 'file' });
  return `${moved}. Merged with it, without conflicts:\n${paths.replace(/^/gm, '  ')}`;
}

function short(sha: string): string {
  return sha.slice(0, 12);
}

/** Most follow-ups that the text lists; older lines make room. */
const MAX_LINES = 20;

const BEGIN = '<!-- patchsmith-follow-ups -->';
const END = '<!-- /patchsmith-follow-ups -->';

/** The text with a line for this follow-up, after those of earlier ones, before the record. The same facts give the same text. */
export function withFollowUp(
  body: string,
  { result, followUp, sha }: { result: RunResult; followUp: FollowUp; sha: string },
): string {
  const text = body.replaceAll('\r\n', '\n');
  const line = `- ${code(sha.slice(0, 12))} ${WHY[followUp.trigger]}: ${escaped(changeSubject(result), 120)} (${VERIFIED[verificationOf(result)]})`;
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  if (begin !== -1 && end !== -1) {
    const lines = text
      .slice(begin + BEGIN.length, end)
      .split('\n')
      .filter((one) => one.startsWith('- '));
    if (lines.some((one) => one.startsWith(`- ${code(sha.slice(0, 12))} `))) return text;
    return `${text.slice(0, begin)}${section([...lines, line].slice(-MAX_LINES))}${text.slice(end + END.length)}`;
  }
  const at = text.indexOf('<!-- patchsmith-record: ');
  return at === -1 ? text : `${text.slice(0, at)}${section([line])}\n\n${text.slice(at)}`;
}

function section(lines: readonly string[]): string {
  return `${BEGIN}\n**Follow-ups**\n\n${lines.join('\n')}\n\n${END}`;
}

const WHY = {
  request: 'as asked for',
  check: 'for a failed check',
  conflict: 'for a conflict with the base',
} as const;

const VERIFIED = {
  passed: 'verification passed',
  failed: 'verification failed',
  preexisting: 'verification fails as before the work',
  otherwise: 'verified with other contents',
  none: 'not verified',
} as const;

/** The answer in a review thread. */
export function threadAnswer({
  result,
  sha,
  isChanged,
  mark,
}: {
  result: RunResult;
  sha: string;
  /** The commit changes the file that the thread is about. */
  isChanged: boolean;
  /** Lets a second publication find it. */
  mark: string;
}): string {
  const what = isChanged ? `Changed in ${sha}` : `This file is not changed by ${sha}`;
  const account = ownWords(result, 1_500, "In the model's own words, of all that it did:");
  return paragraphs([`${what}; ${VERIFIED[verificationOf(result)]}.`, account, mark]);
}
