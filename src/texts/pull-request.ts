/** Title and body of a pull request: what was measured first, what the model says of itself marked as that. */

import template from '../../prompts/pull-request.md';
import type { AskedIn } from '../domain/github/publishing/identity.ts';
import { code, pathCode, quoted } from '../domain/github/publishing/markdown.ts';
import { plainLine } from '../domain/github/publishing/plain-text.ts';
import { prose } from '../domain/github/publishing/prose.ts';
import type { Flag } from '../domain/review/flag.ts';
import type { RunResult } from '../domain/run/result.ts';
import { render } from '../domain/text/template.ts';
import { bullets } from './bounded-list.ts';
import {
  deniedList,
  factsLine,
  failedOutput,
  filesTable,
  flagList,
  modelLine,
  verifyTable,
  warningList,
} from './run-parts.ts';

/** GitHub's limit for a title. */
const MAX_TITLE = 256;

/**
 * Characters of the parts that grow with the run. Together with what does not grow they stay below the 65,536 that GitHub
 * takes for a body.
 */
const ROOM = {
  account: 8_000,
  verify: 6_000,
  output: 14_000,
  flags: 6_000,
  denied: 4_000,
  files: 16_000,
  merged: 3_000,
  warnings: 4_000,
};

/** What the body of a pull request says. */
export interface PullRequestFacts {
  /** Without secrets. */
  readonly result: RunResult;
  /** Where the plan was asked for; null when that was not on GitHub. */
  readonly askedIn: AskedIn | null;
  /** Branch and commit that the patch was rebuilt on. */
  readonly base: { readonly branch: string; readonly sha: string };
  /** Files that were merged with changes that the base has had since. */
  readonly merged: readonly string[];
  /** As found in the patch itself. */
  readonly flags: readonly Flag[];
  /** Why it should be a draft; empty when it is ready for review. */
  readonly drafts: readonly string[];
  /** Whether it is one: people may have made it ready, or a draft. */
  readonly isDraft: boolean;
  /** The run ended before its work was done, so that no issue is closed by it. */
  readonly unfinished: boolean;
  /** Page of the workflow run; null outside of one. */
  readonly runUrl: string | null;
  /** What the operator wants in front of the title. */
  readonly titlePrefix: string | null;
  /** How a later run finds the pull request of its plan. */
  readonly marker: string;
}

/** The same facts give the same text. */
export function pullRequestText(facts: PullRequestFacts): { title: string; body: string } {
  const { result, flags, marker } = facts;
  const account = prose(result.summary, ROOM.account);
  const lookTwice = flagList(flags, ROOM.flags);
  const denied = deniedList(result, ROOM.denied);
  const body = render(template, {
    closes: paragraph(closingLine(facts)),
    draft: paragraph(draftLine(facts)),
    facts: factsLine(result),
    account: paragraph(account === '' ? '' : `In the model's own words:\n\n${quoted(account)}`),
    verification: `${paragraph(verifyTable(result, ROOM.verify))}${paragraph(failedOutput(result, ROOM.output))}`,
    denied: paragraph(denied === '' ? '' : `**Denied to the run**\n\n${denied}`),
    second_look: paragraph(lookTwice === '' ? '' : `**Worth a second look**\n\n${lookTwice}`),
    files: filesTable(result, ROOM.files),
    origin: originOf(facts),
    marker,
  });
  return { title: titleOf(facts), body };
}

function draftLine({ drafts, isDraft }: PullRequestFacts): string {
  if (drafts.length > 0)
    return `> [!WARNING]\n> ${isDraft ? 'Draft' : 'This should be a draft'}, since ${drafts.join(', and ')}.`;
  return isDraft ? '> [!NOTE]\n> Still a draft, although this run gives no reason for it.' : '';
}

function titleOf({ result, titlePrefix }: PullRequestFacts): string {
  const prefix = titlePrefix === null ? '' : `${titlePrefix} `;
  const title = plainLine(result.plan?.title ?? '', MAX_TITLE - prefix.length) || 'Changes of a run';
  return `${prefix}${title}`.slice(0, MAX_TITLE);
}

/** Work that is not done closes nothing, and nothing closes a pull request. */
function closingLine({ askedIn, unfinished }: PullRequestFacts): string {
  const issue = askedIn && referenceTo(askedIn);
  if (askedIn === null || issue === null) return '';
  return `${unfinished || askedIn.isPullRequest ? 'Asked for in' : 'Fixes'} ${issue}`;
}

/** Null when the name is none that GitHub would give. */
function referenceTo({ repository, number, isHere }: AskedIn): string | null {
  if (isHere) return `#${number}`;
  return /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(repository) ? `${repository}#${number}` : null;
}

function originOf(facts: PullRequestFacts): string {
  const { result, runUrl } = facts;
  const { patch, sandbox } = result;
  const warnings = warningList(result.warnings, ROOM.warnings);
  const lines = [
    `Plan: ${planLine(facts)}`,
    `Model: ${modelLine(result)}`,
    `Base: ${baseLine(facts)}`,
    `Commands ran ${sandbox === null || sandbox === 'none' ? 'without a sandbox' : `in a sandbox (${sandbox})`}`,
    ...(patch === null ? [] : [`Patch: sha256 ${code(patch.sha256)}`]),
    `Run: ${code(result.runId)}${runUrl === null ? '' : `, [log and artifacts](${runUrl})`}, patchsmith ${code(result.patchsmith, 50)}`,
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

/** Where the patch was proven, and what has happened to the base since. */
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

function paragraph(text: string): string {
  return text === '' ? '' : `${text}\n\n`;
}
