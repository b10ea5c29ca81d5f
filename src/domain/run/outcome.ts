/** The outcome of a run: one value; the exit code, the result and the last line are derived from it. */

import { type Problem, problemLine } from '../errors/problem.ts';
import type { CodeFor } from '../errors/registry.ts';
import {
  CHANGES_EXPECTED_EXIT_CODE,
  EXIT_CODE,
  type OutcomeName,
  SIGNAL_EXIT_CODE,
  type StopSignal,
} from './exit-code.ts';

/** `reason` is one sentence for people; it says what went wrong, where, and how to fix it. */
export interface RunOutcome {
  readonly name: OutcomeName;
  readonly exitCode: number;
  readonly reason: string;
  /** Null when it ended well. */
  readonly errorCode: string | null;
}

/** The work is done: a patch, or whatever the command was asked for. */
export const done = goodEnd('done');
/** Nothing had to be changed. */
export const noChange = goodEnd('no_change');
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
export function deadlineExceeded(reason: string): RunOutcome {
  return ending('deadline')('ERR_DEADLINE', reason);
}

/** Nothing was changed, and the operator counts that as a failure. */
export function changesExpected(reason: string): RunOutcome {
  return {
    name: 'no_change',
    exitCode: CHANGES_EXPECTED_EXIT_CODE,
    reason,
    errorCode: 'ERR_NO_CHANGE' satisfies CodeFor<'no_change'>,
  };
}

/** A signal ended the work. */
export function interrupted(signal: StopSignal, reason: string): RunOutcome {
  return {
    name: 'interrupted',
    exitCode: SIGNAL_EXIT_CODE[signal],
    reason,
    errorCode: 'ERR_INTERRUPTED' satisfies CodeFor<'interrupted'>,
  };
}

/** The outcome of a command that was refused for these problems: of several, all are the reason. */
export function refusedFor(problems: readonly Problem[]): RunOutcome {
  const [only, ...more] = problems;
  return only !== undefined && more.length === 0
    ? usageError(only.code, only.message)
    : usageError('ERR_SEVERAL_PROBLEMS', problems.map(problemLine).join('; '));
}

/** The end of a run before its loop began, as what a step of opening it has instead of a value. */
export interface Stopped {
  readonly status: 'stopped';
  readonly outcome: RunOutcome;
}

/** Ends a run at this point. */
export function stopped(outcome: RunOutcome): Stopped {
  return { status: 'stopped', outcome };
}

/** Refuses to begin, because of what the run was given or found. */
export function refused(code: CodeFor<'usage_error'>, reason: string): Stopped {
  return stopped(usageError(code, reason));
}

function goodEnd(name: 'done' | 'no_change'): (reason: string) => RunOutcome {
  return (reason) => ({ name, exitCode: EXIT_CODE[name], reason, errorCode: null });
}

/** Whatever ends badly has a code, and one of that outcome. */
function ending<Name extends keyof typeof EXIT_CODE>(
  name: Name,
): (errorCode: CodeFor<Name>, reason: string) => RunOutcome {
  return (errorCode, reason) => ({ name, exitCode: EXIT_CODE[name], reason, errorCode });
}
