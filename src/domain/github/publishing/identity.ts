/** Which branch, pull request and comment belong to a plan: the same for every run of it. */

import { nameOf } from '../../changes/path.ts';
import type { PlanSource } from '../../run/plan.ts';
import type { RunResult } from '../../run/result.ts';
import { withoutTail } from '../../text/shorten.ts';

/** The plan as in `result.json`. */
export type RunPlan = NonNullable<RunResult['plan']>;

/** What tells a plan from others. */
type PlanSaid = Pick<RunPlan, 'source' | 'sha256'>;

/**
 * What makes two runs belong to the same plan. An issue and the comments on it are one plan; a file of the repository stays
 * the same plan when edited; any other plan is identified by its text, since two of them may come from the same temporary
 * file.
 */
export function planIdentity({ source, sha256 }: PlanSaid, repository: string): string {
  switch (source.kind) {
    case 'issue':
    case 'comment':
      return withoutFragment(source.url);
    case 'file':
      return isInside(source.path) ? `${repository.toLowerCase()}:${source.path}` : sha256;
    case 'stdin':
    case 'message':
      return sha256;
  }
}

/** Eight hex digits; `sha256` returns hex. */
export function planId(plan: PlanSaid, repository: string, sha256: (text: string) => string): string {
  return sha256(planIdentity(plan, repository)).slice(0, 8);
}

/** `issue 7` or `comment 1234`: what asked for the work, within a plan's identity; null where the plan's text itself did. */
export function requestOf({ source }: RunPlan): string | null {
  if (source.kind === 'comment') return `comment ${source.commentId}`;
  return source.kind === 'issue' ? `issue ${source.number}` : null;
}

/** The id of a plan that came from the issue, or a comment on the issue, at this address. */
export function issuePlanId(url: string, sha256: (text: string) => string): string {
  return sha256(withoutFragment(url)).slice(0, 8);
}

/** `patchsmith/issue-7-1a2b3c4d`: lower-case ASCII whatever the plan is called, at most 60 characters. */
export function branchOf({ source, title }: Pick<RunPlan, 'source' | 'title'>, id: string): string {
  return `patchsmith/${slug(wordsOf(source, title)) || 'plan'}-${id}`;
}

/** What `--branch-suffix` adds: from the run alone, so that the same run is always published on the same branch. */
export function branchSuffix(
  kind: 'none' | 'random' | 'timestamp' | 'short-commit-hash',
  { runId, baseSha }: Pick<RunResult, 'runId' | 'baseSha'>,
  sha256: (text: string) => string,
): string {
  switch (kind) {
    case 'none':
      return '';
    case 'random':
      return `-${sha256(runId).slice(0, 7)}`;
    case 'timestamp':
      return `-${/^\d{8}-\d{6}/.exec(runId)?.[0] ?? sha256(runId).slice(0, 7)}`;
    case 'short-commit-hash':
      return `-${/^[0-9a-f]{7}/.exec(baseSha ?? '')?.[0] ?? sha256(runId).slice(0, 7)}`;
  }
}

/** Hidden in the pull request and in the comment of the plan, to find them again. */
export function markerOf(id: string): string {
  return `<!-- patchsmith:${id} -->`;
}

/** The issue or pull request that requested the work. */
export interface AskedIn {
  /** OWNER/NAME. */
  readonly repository: string;
  readonly number: number;
  readonly url: string;
  /** The comment was on a pull request, which is never closed. */
  readonly isPullRequest: boolean;
  /** It is in the repository that is published to. */
  readonly isHere: boolean;
}

/** Null if the plan did not come from an issue. */
export function askedIn({ source }: RunPlan, repository: string): AskedIn | null {
  if (source.kind !== 'issue' && source.kind !== 'comment') return null;
  return {
    repository: source.repository,
    number: source.number,
    url: source.url,
    isPullRequest: withoutFragment(source.url).endsWith(`/pull/${source.number}`),
    isHere: source.repository.toLowerCase() === repository.toLowerCase(),
  };
}

function withoutFragment(url: string): string {
  return withoutTail(url.split(/[#?]/, 1)[0] ?? '', '/');
}

/** Whether a plan file is in the repository, in which case its path identifies it. */
function isInside(path: string): boolean {
  return !path.startsWith('/') && path !== '..' && !path.startsWith('../');
}

function wordsOf(source: PlanSource, title: string): string {
  if ('number' in source) return `issue-${source.number}`;
  return (source.kind === 'file' && nameOf(source.path).replace(/\.[^.]*$/, '')) || title;
}

function slug(words: string): string {
  const ascii = words.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return ascii
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '');
}

/** Whether a branch may have this name: git's rules for refs, and nothing that a command line could take for a flag. */
export function isBranchName(name: string): boolean {
  if (name === '' || name === '@' || name.length > 200) return false;
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/.test(name) || name.startsWith('-') || name.startsWith('refs/'))
    return false;
  const parts = name.split('/');
  return parts.every((part) => part !== '' && !/^\.|\.$|\.lock$/.test(part));
}
