/** The outcome of a run: one value, decided from facts; the exit code, the result and the last line are derived from it. */

import { type Denials, describeDenials } from '../review/denied.ts';
import { formatNumber } from '../text/format-number.ts';
import { listed } from '../text/listed.ts';
import { pluralize } from '../text/pluralize.ts';
import { ExceededChangeLimit } from './change-limits.ts';
import {
  CHANGES_EXPECTED_EXIT_CODE,
  EXIT_CODE,
  type OutcomeName,
  SIGNAL_EXIT_CODE,
  type StopSignal,
} from './exit-code.ts';
import type { StopReason } from './limits.ts';
import type { VerifyIn } from './model-settings.ts';

/** `reason` is one sentence for people; it says what went wrong, where, and how to fix it. */
export interface RunOutcome {
  readonly name: OutcomeName;
  readonly exitCode: number;
  readonly reason: string;
}

/** What is known when a run has ended. */
export interface OutcomeFacts {
  readonly stop: StopReason;
  readonly changedFiles: number;
  /** The model gave the answer that the run was to end with. */
  readonly answered: boolean;
  /** Number of verify commands that passed at the end, and where. */
  readonly verified: number;
  readonly verifyIn: VerifyIn;
  /** Paths whose contents in the patch are not the ones the verify commands saw. */
  readonly unverified: readonly string[];
  /** Number of verify commands that failed at the end just as they had failed before the run. */
  readonly preexisting: number;
  readonly ifNoChanges: 'ok' | 'error';
  /** What calls asked for and did not get, and whether a run may end well without it. */
  readonly denied: Denials;
  readonly ifDenied: 'report' | 'error';
  /** Why nothing can be written to the work tree, where something was to be; null when it can. */
  readonly unwritable: string | null;
  /** Why an existing patch is not published; null when it may be. */
  readonly withheld: string | null;
  /** Why the patch could not be proven or written; null when it was. */
  readonly publishFailure: string | null;
  /** Why time ran out before the patch of an interrupted run was made; null when there is a patch. */
  readonly unmade: string | null;
  /** Paths that were changed although `allow` and `protect` of the plan and the settings forbid it. */
  readonly forbiddenPaths: readonly string[];
  /** Files that could no longer be examined, so it is unknown whether they changed. */
  readonly hiddenPaths: readonly string[];
  /** Git dirs that commands created and that may be copies of earlier ones that are gone. */
  readonly gitDirsInDoubt: readonly string[];
}

/** Decides the outcome. A signal takes precedence over what happened to the patch, and that over any other end. */
export function decideOutcome(facts: OutcomeFacts): RunOutcome {
  const { stop } = facts;
  if (stop.why === 'interrupted') {
    return interrupted(stop.signal, `Stopped by ${stop.signal}; ${keptWork(facts)}.`);
  }
  if (facts.withheld !== null) return policyViolation(facts.withheld);
  if (facts.publishFailure !== null) return publishFailed(facts.publishFailure);
  switch (stop.why) {
    case 'deadline':
      return deadlineExceeded(
        `The deadline of ${seconds(stop.valueMs)} passed${stop.awaited === undefined ? '' : ` while waiting for ${stop.awaited}`}; ${keptWork(facts)}. Raise it with --deadline.`,
      );
    case 'limit':
      return limitReached(`${describeLimit(stop)}; ${keptWork(facts)}.`);
    case 'provider':
      return providerError(`${openEnded(stop.message)}; ${keptWork(facts)}.`);
    case 'blocked':
      return blocked(`${BLOCKED_BY[stop.by]}: ${stop.reason || 'no reason given'}`);
    case 'verify_failed':
      return verifyFailed(`Failed: ${stop.commands.join(' · ')}; ${keptWork(facts)}.`);
    case 'unready':
      return usageError(stop.reason);
    case 'completed':
      return completed(facts);
  }
}

/** Maximum number of paths in one sentence. */
const MAX_NAMED = 10;

function completed(facts: OutcomeFacts): RunOutcome {
  if (facts.forbiddenPaths.length > 0) {
    return policyViolation(
      `The plan and the settings do not allow changes to: ${listed(facts.forbiddenPaths, MAX_NAMED, 'file')}.`,
    );
  }
  if (facts.hiddenPaths.length > 0) {
    return policyViolation(
      `Files that existed before could not be examined, so they may have changed: ${listed(facts.hiddenPaths, MAX_NAMED, 'file')}. Make their folders accessible, and run again.`,
    );
  }
  if (facts.gitDirsInDoubt.length > 0) {
    return policyViolation(
      `A repository that was there before is gone, and these may be copies of it: ${listed(facts.gitDirsInDoubt, MAX_NAMED)}. Look into their configuration before you use git there.`,
    );
  }
  const { denied } = facts;
  if (facts.ifDenied === 'error' && denied.count > 0) {
    return policyViolation(
      `The run could not have what it asked for (--if-denied error): ${describeDenials(denied)}.`,
    );
  }
  if (facts.changedFiles === 0 && facts.unwritable !== null) {
    return internalError(
      `No file could be written: ${facts.unwritable}. Make the work tree writable, and run it again.`,
    );
  }
  const without = denied.count > 0 ? `; denied: ${describeDenials(denied)}` : '';
  const verified = verifiedPart(facts);
  if (facts.changedFiles === 0 && facts.answered && facts.ifNoChanges === 'ok')
    return done(`The model answered, without changing a file${verified}${without}.`);
  if (facts.changedFiles === 0) {
    const reason = `The model finished without changing a file${verified}${without}.`;
    return facts.ifNoChanges === 'error' ? changesExpected(reason) : noChange(reason);
  }
  return done(
    `${pluralize(facts.changedFiles, 'file')} changed${verified || ', nothing to verify'}${without}.`,
  );
}

/** Empty when nothing was verified, otherwise starts with a comma. */
function verifiedPart({ verified, preexisting, verifyIn, unverified }: OutcomeFacts): string {
  const where = verifyIn === 'checkout' ? ' in a fresh checkout' : '';
  const otherwise =
    unverified.length > 0 ? ` with other contents than the patch has in ${listed(unverified, 5)}` : '';
  const passed = verified > 0 ? `, ${pluralize(verified, 'verify command')} passed${where}${otherwise}` : '';
  if (preexisting === 0) return passed;
  const failed = verified > 0 ? String(preexisting) : pluralize(preexisting, 'verify command');
  return `${passed}, ${failed} failed as before the run`;
}

const BLOCKED_BY = {
  model: 'The model says it is blocked',
  refusal: 'The model refused',
  stall: 'The model made no progress',
} as const;

function describeLimit(stop: StopReason & { why: 'limit' }): string {
  switch (stop.limit) {
    case 'iterations':
      return `Reached the limit of ${pluralize(stop.value, 'iteration')} (--max-iterations)`;
    case 'tokens':
      return `Used ${formatNumber(stop.used)} tokens of ${formatNumber(stop.value)} (--max-total-tokens)${stop.needed === undefined ? '' : `, and the next request could take ${formatNumber(stop.needed)}`}`;
    case 'cost_usd':
      return `Spent $${stop.used.toFixed(4)} of $${stop.value} (--max-cost-usd)${stop.needed === undefined ? '' : `, and the next request could cost $${stop.needed.toFixed(4)}`}`;
    case 'output_tokens':
      return `The model's answer was cut off ${stop.used} times in a row (--max-output-tokens)`;
    case 'changed_files':
      return `Changed ${formatNumber(stop.used)} files of ${formatNumber(stop.value)} (--max-changed-files)`;
    case 'changed_bytes':
      return `Changed files hold ${formatNumber(stop.used)} bytes of ${formatNumber(stop.value)} (--max-changed-size)`;
    case 'changed_file_bytes':
      return `A changed file holds ${formatNumber(stop.used)} bytes of ${formatNumber(stop.value)} (--max-changed-file-size)`;
    case 'folder_entries':
      return `${stop.folder ? `The folder ${JSON.stringify(stop.folder)}` : 'The root of the work tree'} has more than ${formatNumber(stop.value)} entries, so it was not looked through (raise it with --max-changed-files: a folder may have five times as many entries)`;
    case 'disk_bytes':
      return `The disk of the run directory has ${formatNumber(stop.used)} bytes less than at the start, of ${formatNumber(stop.value)} (--max-disk)`;
    case 'context_window':
      return `The conversation is too large for the model's context window (the last prompt that fitted had ${stop.used} tokens): split or narrow the plan`;
  }
}

function keptWork(facts: OutcomeFacts): string {
  const unpublished = facts.withheld ?? facts.publishFailure ?? facts.unmade;
  if (unpublished !== null) return openEnded(unpublished);
  if (facts.changedFiles > 0) return `the patch so far has ${pluralize(facts.changedFiles, 'file')}`;
  const { stop } = facts;
  const isLeftOut = stop.why === 'limit' && ExceededChangeLimit.shape.limit.safeParse(stop.limit).success;
  return isLeftOut ? 'nothing of it is in the patch' : 'no file was changed';
}

/** The sentence without its full stop, so that it can go on. */
function openEnded(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

function seconds(ms: number): string {
  return `${formatNumber(ms / 1000)} s`;
}

/** The work is done: a patch, or whatever the command was asked for. */
export const done = ending('done');
/** Nothing had to be changed. */
export const noChange = ending('no_change');
/** A bug of patchsmith, or a broken machine. */
export const internalError = ending('internal_error');
/** Flags, settings, plan or repository are not valid. */
export const usageError = ending('usage_error');
/** The model's provider refused or remained unreachable. */
export const providerError = ending('provider_error');
/** The model cannot or will not do the work. */
export const blocked = ending('blocked');
/** A limit of the run was reached. */
export const limitReached = ending('limit_reached');
/** A rule about what may change, or about who may ask for it, was broken. */
export const policyViolation = ending('policy_violation');
/** Verify commands failed, or another proof that a command was asked for. */
export const verifyFailed = ending('verify_failed');
/** No sandbox of the required level is available. */
export const sandboxUnavailable = ending('sandbox_unavailable');
/** The patch could not be proven, written or published. */
export const publishFailed = ending('publish_failed');
/** The wall clock ran out. */
export const deadlineExceeded = ending('deadline');

/** Nothing was changed, and the operator counts that as a failure. */
export function changesExpected(reason: string): RunOutcome {
  return { name: 'no_change', exitCode: CHANGES_EXPECTED_EXIT_CODE, reason };
}

/** A signal ended the work. */
export function interrupted(signal: StopSignal, reason: string): RunOutcome {
  return { name: 'interrupted', exitCode: SIGNAL_EXIT_CODE[signal], reason };
}

function ending(name: keyof typeof EXIT_CODE): (reason: string) => RunOutcome {
  return (reason) => ({ name, exitCode: EXIT_CODE[name], reason });
}
