/** What of a run may be published, and in what form. Pure: facts in, decision out. */

import { succeeded } from '../../conversation/tool.ts';
import { FLAGS, type FlagName } from '../../review/flag.ts';
import { type Protection, protectionOf } from '../../review/steering-paths.ts';
import { EXIT_CODE, type OutcomeName, SIGNAL_EXIT_CODE } from '../../run/exit-code.ts';
import { noChange, policyViolation, type RunOutcome, usageError } from '../../run/outcome.ts';
import type { RunResult } from '../../run/result.ts';
import { judgeReports } from '../../run/verify-baseline.ts';
import { formatNumber, pluralize } from '../../text/words.ts';

/**
 * How the run is published, decided by how it ended: `unfinished` only because the operator asked for that. An outcome is that
 * of a publication that makes nothing, and `no_change` no failure.
 */
export function publishable(
  { status, outcome: name, exitCode, reason, errorCode, patch, changedFiles, followUp }: RunResult,
  publishUnfinished: boolean,
): { unfinished: boolean } | RunOutcome {
  if (status === 'running' || name === null)
    return usageError(
      'ERR_RUN_NOT_ENDED',
      'The run has not ended: a process is still running it. Publish it when it has ended.',
    );
  // The publication ends as the run ended.
  const endedAs = (why: string) => ({
    name,
    exitCode: knownExitCode(name, exitCode),
    reason: why,
    errorCode,
  });
  if (name === 'policy_violation') return endedAs(reason);
  if (name === 'no_change') return noChange(reason);
  if (name !== 'done' && name !== 'verify_failed') {
    if (patch === null || changedFiles.length === 0)
      return endedAs(`The run ended as ${name}, and has no patch: ${reason}`);
    return publishUnfinished
      ? { unfinished: true }
      : endedAs(
          `The run ended as ${name}, so its patch is unfinished work: ${reason} Publish it as a draft with --publish-unfinished.`,
        );
  }
  if (patch === null)
    return usageError('ERR_NOTHING_TO_PUBLISH', `The run ended as ${name} and has no patch.`);
  if (changedFiles.length > 0 || (followUp?.merge ?? null) !== null) return { unfinished: false };
  // An answer without a change is no failure; a red verification without one is, and there is nothing to show of it.
  return name === 'done'
    ? noChange(reason)
    : endedAs(`The run ended as ${name} without changing a file: ${reason}`);
}

/** The run's own code is not trusted, except to tell which signal it was: anyone may have written its directory. */
function knownExitCode(name: OutcomeName, said: number | null): number {
  if (name !== 'interrupted') return EXIT_CODE[name];
  return Object.values(SIGNAL_EXIT_CODE).find((code) => code === said) ?? SIGNAL_EXIT_CODE.SIGINT;
}

/** Why the patch is too large; null when it is not. */
export function overCaps(
  patch: { files: number; bytes: number },
  caps: { maxFiles: number; maxBytes: number },
): RunOutcome | null {
  const over: string[] = [];
  if (patch.files > caps.maxFiles)
    over.push(
      `it changes ${pluralize(patch.files, 'file')}, at most ${caps.maxFiles} are allowed (--max-patch-files)`,
    );
  if (patch.bytes > caps.maxBytes)
    over.push(
      `it has ${formatNumber(patch.bytes)} bytes, at most ${formatNumber(caps.maxBytes)} are allowed (--max-patch-size)`,
    );
  const reason = `The patch is too large to be published: ${over.join(', and ')}.`;
  return over.length === 0 ? null : policyViolation('ERR_PATCH_TOO_LARGE', reason);
}

/** What to do with a patch that changes protected paths; `auto`: what suits each. */
export type ProtectedMode = 'auto' | 'refuse' | 'draft' | 'allow';

/** Which paths are protected, and what to do about them. */
export interface ProtectedRules {
  readonly mode: ProtectedMode;
  /** Matches what the operator accepts. */
  readonly isAccepted: (path: string) => boolean;
  /** Paths of the run's principles. */
  readonly principles: readonly string[];
}

/** Those of the paths that are protected, by the consequence. */
export function judgeProtected(
  paths: readonly string[],
  rules: ProtectedRules,
): { refused: string[]; drafts: string[] } {
  const pathsThat = (one: Protection) => paths.filter((path) => consequenceOf(path, rules) === one);
  return { refused: pathsThat('refuse'), drafts: pathsThat('draft') };
}

/** What follows from a change to the path; null if nothing does. */
export function consequenceOf(
  path: string,
  { mode, isAccepted, principles }: ProtectedRules,
): Protection | null {
  if (mode === 'allow' || isAccepted(path)) return null;
  const protection = principles.includes(path) ? 'refuse' : protectionOf(path)?.protection;
  if (protection === undefined) return null;
  return mode === 'auto' ? protection : mode;
}

/** When a pull request is to be a draft. */
export type DraftSetting = 'auto' | 'always' | 'never';

/** What determines whether a pull request is a draft. */
export interface DraftFacts {
  readonly setting: DraftSetting;
  readonly unfinished: boolean;
  /** Protected paths that are published nevertheless. */
  readonly protectedPaths: readonly string[];
  readonly verification: VerificationSummary;
  /** Something that the run asked for was denied to it. */
  readonly wasDenied: boolean;
}

/**
 * Why the pull request is a draft; empty when it is ready. `never` speaks of verification and denials: unfinished work and
 * protected paths stay drafts.
 */
export function draftReasons(facts: DraftFacts): string[] {
  const { setting, unfinished, protectedPaths, verification, wasDenied } = facts;
  return [
    ...(setting === 'always' ? ['a draft was requested'] : []),
    ...(unfinished ? ['the run ended before its work was done'] : []),
    ...whyProtected(protectedPaths),
    ...(setting !== 'never' && wasDenied ? ['something that the run asked for was denied to it'] : []),
    ...(setting !== 'never' && verification !== 'passed' ? [UNVERIFIED[verification]] : []),
  ];
}

/** Without names of files: a model chose those. */
function whyProtected(paths: readonly string[]): string[] {
  const flags = paths.flatMap((path): FlagName[] => [...(protectionOf(path)?.flags ?? ['principles'])]);
  if (paths.length === 0) return [];
  const kinds = [...new Set(flags)].map((flag) => `one ${FLAGS[flag]}`);
  return [`it changes protected files${kinds.length === 0 ? '' : `: ${kinds.join('; ')}`}`];
}

const UNVERIFIED = {
  failed: 'verification failed',
  preexisting: 'everything that was verified had already failed before the work',
  otherwise: 'some of its files were verified with different contents than the patch has',
  none: 'nothing was verified',
} as const;

/**
 * `preexisting`: everything failed, just as it had before the work · `otherwise`: it passed, but not with the patch's
 * contents.
 */
export type VerificationSummary = 'passed' | 'failed' | 'preexisting' | 'otherwise' | 'none';

/** Summarises the verify commands of a run. */
export function verificationOf({ verify, verifyBaseline, unverified }: RunResult): VerificationSummary {
  if (verify.length === 0) return 'none';
  if (judgeReports(verify, verifyBaseline).failed.length > 0) return 'failed';
  if (!verify.some(({ end }) => succeeded(end))) return 'preexisting';
  return unverified.length > 0 ? 'otherwise' : 'passed';
}
