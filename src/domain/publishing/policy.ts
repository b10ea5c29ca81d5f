/** What of a run may be published, and as what. Pure: facts in, decision out. */

import { figure } from '../figure.ts';
import {
  type ChangedFile,
  count,
  type OutcomeName,
  outcome,
  type RunOutcome,
  type RunResult,
  usageError,
} from '../outcome.ts';
import { succeeded } from '../tool.ts';
import { judgeReports } from '../verify-baseline.ts';

/** `unfinished`: only since the operator asked for it; the pull request stays a draft. */
export type Publishable =
  | { status: 'publish'; unfinished: boolean }
  | { status: 'nothing'; outcome: RunOutcome }
  | { status: 'refused'; outcome: RunOutcome };

/** Judges by how the run ended; `publishUnfinished` is the operator's word. */
export function publishable(result: RunResult, publishUnfinished: boolean): Publishable {
  const refused = (reason: string) => ({ status: 'refused' as const, outcome: usageError(reason) });
  if (result.status === 'running' || result.outcome === null)
    return refused(
      'The run has not ended: a process is at work on it. Publish it when that has come to its end.',
    );
  switch (result.outcome) {
    case 'no_change':
      return { status: 'nothing', outcome: outcome('no_change', 0, result.reason) };
    case 'policy_violation':
      return { status: 'refused', outcome: outcome('policy_violation', 8, result.reason) };
    case 'done':
    case 'verify_failed':
      return result.patch === null
        ? refused(`The run ended as ${result.outcome} and has no patch.`)
        : { status: 'publish', unfinished: false };
    case 'internal_error':
    case 'usage_error':
    case 'provider_error':
    case 'blocked':
    case 'limit_reached':
    case 'sandbox_unavailable':
    case 'publish_failed':
    case 'deadline':
    case 'interrupted':
      if (result.patch === null || result.changedFiles.length === 0)
        return endedAs(result.outcome, result, `and has no patch: ${result.reason}`);
      return publishUnfinished
        ? { status: 'publish', unfinished: true }
        : endedAs(
            result.outcome,
            result,
            `so its patch is unfinished work: ${result.reason} Publish it as a draft with --publish-unfinished.`,
          );
  }
}

type BadEnd = Exclude<OutcomeName, 'done' | 'no_change' | 'verify_failed' | 'policy_violation'>;

/** The run's own code is not believed: its directory may be anybody's. */
const EXIT_CODES: Readonly<Record<BadEnd, number>> = {
  internal_error: 1,
  usage_error: 2,
  provider_error: 4,
  blocked: 5,
  limit_reached: 7,
  sandbox_unavailable: 10,
  publish_failed: 11,
  deadline: 124,
  interrupted: 130,
};

/** What came of the publication is what came of the run. */
function endedAs(name: BadEnd, { exitCode }: RunResult, rest: string): Publishable {
  const code = name === 'interrupted' && exitCode === 143 ? 143 : EXIT_CODES[name];
  return { status: 'refused', outcome: outcome(name, code, `The run ended as ${name}, ${rest}`) };
}

export interface PatchCaps {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** Why the patch is too large; null when it is not. */
export function overCaps(patch: { files: number; bytes: number }, caps: PatchCaps): RunOutcome | null {
  const over = [
    ...(patch.files > caps.maxFiles
      ? [`it changes ${count(patch.files, 'file')} of at most ${caps.maxFiles} (--max-patch-files)`]
      : []),
    ...(patch.bytes > caps.maxBytes
      ? [`it has ${figure(patch.bytes)} bytes of at most ${figure(caps.maxBytes)} (--max-patch-size)`]
      : []),
  ];
  return over.length === 0
    ? null
    : outcome('policy_violation', 8, `The patch is too large to be published: ${over.join(', and ')}.`);
}

/** Paths that decide what runs with permissions, who reviews, and what agents are told. */
export const PROTECTED_GLOBS: readonly string[] = ['/.github', 'CODEOWNERS', 'AGENTS.md', 'CLAUDE.md'];

export type ProtectedMode = 'refuse' | 'draft' | 'allow';

export interface ProtectedRules {
  readonly mode: ProtectedMode;
  /** Matches `PROTECTED_GLOBS`. */
  readonly isProtected: (path: string) => boolean;
  /** Matches what the operator accepts. */
  readonly isAccepted: (path: string) => boolean;
  /** Paths of the run's principles. */
  readonly principles: readonly string[];
}

/** Protected paths that the patch touches, old names of renames among them, and what follows from that. */
export type ProtectedVerdict =
  | { status: 'fine' }
  | { status: 'draft'; paths: string[] }
  | { status: 'refused'; paths: string[]; outcome: RunOutcome };

export function judgeProtected(files: readonly ChangedFile[], rules: ProtectedRules): ProtectedVerdict {
  if (rules.mode === 'allow') return { status: 'fine' };
  const touched = new Set(files.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path])));
  const paths = [...touched].filter(
    (path) => (rules.isProtected(path) || rules.principles.includes(path)) && !rules.isAccepted(path),
  );
  if (paths.length === 0) return { status: 'fine' };
  if (rules.mode === 'draft') return { status: 'draft', paths };
  return {
    status: 'refused',
    paths,
    outcome: outcome(
      'policy_violation',
      8,
      `The patch changes protected files: ${someOf(paths)}. Accept them with --accept-protected GLOB, or publish a draft with --protected draft.`,
    ),
  };
}

export type DraftSetting = 'auto' | 'always' | 'never';

export interface DraftFacts {
  readonly setting: DraftSetting;
  readonly unfinished: boolean;
  /** Protected paths that are published all the same. */
  readonly protectedPaths: readonly string[];
  readonly verification: Verification;
}

/**
 * Why the pull request is a draft; empty when it is ready. `never` speaks of verification alone: unfinished work and
 * protected paths stay drafts.
 */
export function draftReasons(facts: DraftFacts): string[] {
  const { setting, unfinished, protectedPaths, verification } = facts;
  return [
    ...(setting === 'always' ? ['it was asked for as a draft'] : []),
    ...(unfinished ? ['the run ended before its work was done'] : []),
    ...(protectedPaths.length > 0 ? ['it changes protected files'] : []),
    ...(setting !== 'never' && verification !== 'passed' ? [UNVERIFIED[verification]] : []),
  ];
}

const UNVERIFIED = {
  failed: 'verification failed',
  preexisting: 'all that was verified had failed before the work as well',
  otherwise: 'what was verified had other contents than the patch in some of its files',
  none: 'nothing was verified',
} as const;

/**
 * `preexisting`: everything failed, and as it had failed before the work · `otherwise`: it passed, but not with what the patch
 * has.
 */
export type Verification = 'passed' | 'failed' | 'preexisting' | 'otherwise' | 'none';

/** What the verify commands of a run come to. */
export function verificationOf({ verify, verifyBaseline, unverified }: RunResult): Verification {
  if (verify.length === 0) return 'none';
  if (judgeReports(verify, verifyBaseline).failed.length > 0) return 'failed';
  if (!verify.some(({ end }) => succeeded(end))) return 'preexisting';
  return unverified.length > 0 ? 'otherwise' : 'passed';
}

function someOf(paths: readonly string[]): string {
  return `${paths.slice(0, 10).join(', ')}${paths.length > 10 ? ` and ${count(paths.length - 10, 'more file')}` : ''}`;
}
