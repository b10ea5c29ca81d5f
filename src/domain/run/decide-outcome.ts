/** Decides how a run has ended, from facts. */

import { succeeded } from '../conversation/tool.ts';
import type { CodeFor } from '../errors/registry.ts';
import { describeDenials } from '../review/denied.ts';
import { formatNumber, listed, pluralize } from '../text/words.ts';
import type { RunStarted } from './events.ts';
import { ExceededChangeLimit, type ProviderFailureKind, type StopReason } from './limits.ts';
import {
  blocked,
  changesExpected,
  deadlineExceeded,
  done,
  internalError,
  interrupted,
  limitReached,
  noChange,
  policyViolation,
  providerError,
  publishFailed,
  type RunOutcome,
  usageError,
  verifyFailed,
} from './outcome.ts';
import type { RunResult } from './result.ts';

/** Why a patch that exists is not given out. */
export interface Withheld {
  readonly code: 'ERR_SECRET_IN_PATCH' | 'ERR_REPOSITORY_IN_PATCH';
  readonly reason: string;
}

/** What is known when a run has ended, by the names of its start and its result. Whatever is left out did not happen. */
export interface OutcomeFacts
  extends Partial<Pick<RunStarted, 'setupChanges' | 'ifNoChanges' | 'ifDenied'>>,
    Partial<Pick<RunResult, 'changedFiles' | 'followUp' | 'answer' | 'denied' | 'deniedCount'>>,
    Partial<Pick<RunResult, 'verify' | 'verifyIn' | 'unverified' | 'flaky' | 'preexistingFailures'>> {
  readonly stop: StopReason;
  /** Why none of the intended writes happened; null if some did, or none were intended. */
  readonly unwritable?: string | null;
  /** Why an existing patch is not published; null when it may be. */
  readonly withheld?: Withheld | null;
  /** Why the patch could not be proven or written; null when it was. */
  readonly publishFailure?: string | null;
  /** Why time ran out before the patch of an interrupted run was made; null when there is a patch. */
  readonly unmade?: string | null;
  /** Why a required review did not take place, as the beginning of a sentence; null if it did, or was not required. */
  readonly unreviewed?: string | null;
  /** Why the tests of the patch do not show that it works, as a sentence; null if they do, or need not. */
  readonly notProven?: string | null;
  /** Paths that were changed although `allow` and `protect` of the plan and the settings forbid it. */
  readonly forbiddenPaths?: readonly string[];
  /** Files that could no longer be examined, so it is unknown whether they changed. */
  readonly hiddenPaths?: readonly string[];
  /** Git dirs that commands created and that may be copies of earlier ones that are gone. */
  readonly gitDirsInDoubt?: readonly string[];
}

/** Decides the outcome. A signal takes precedence over what happened to the patch, and that over any other end. */
export function decideOutcome(facts: OutcomeFacts): RunOutcome {
  const { stop } = facts;
  if (stop.why === 'interrupted') {
    return interrupted(stop.signal, `Stopped by ${stop.signal}; ${keptWork(facts)}.`);
  }
  if (facts.withheld) return policyViolation(facts.withheld.code, facts.withheld.reason);
  if (facts.publishFailure) return publishFailed('ERR_PATCH_NOT_PROVEN', facts.publishFailure);
  switch (stop.why) {
    case 'deadline':
      return deadlineExceeded(
        `The deadline of ${seconds(stop.valueMs)} passed${stop.awaited === undefined ? '' : ` while waiting for ${stop.awaited}`}; ${keptWork(facts)}. Raise it with --deadline.`,
      );
    case 'limit':
      return limitReached(LIMITS[stop.limit].code, `${LIMITS[stop.limit].says(stop)}; ${keptWork(facts)}.`);
    case 'provider':
      return providerError(providerCode(stop.kind), `${openEnded(stop.message)}; ${keptWork(facts)}.`);
    case 'blocked': {
      const [code, said] = BLOCKED[stop.by];
      return blocked(code, `${said}: ${stop.reason || 'no reason given'}`);
    }
    case 'verify_failed':
      return verifyFailed('ERR_VERIFY_FAILED', `Failed: ${stop.commands.join(' · ')}; ${keptWork(facts)}.`);
    case 'unready':
      return usageError('ERR_SETUP_FAILED', stop.reason);
    case 'completed':
      return completed(facts);
  }
}

function providerCode<Kind extends ProviderFailureKind>(kind: Kind) {
  return `ERR_PROVIDER_${kind.toUpperCase() as Uppercase<Kind>}` as const;
}

/** Maximum number of paths in one sentence. */
const MAX_NAMED = 10;

function completed(facts: OutcomeFacts): RunOutcome {
  const { forbiddenPaths = [], hiddenPaths = [], gitDirsInDoubt = [], ifNoChanges = 'ok' } = facts;
  const denied = { named: facts.denied ?? [], count: facts.deniedCount ?? 0 };
  const changed = facts.changedFiles?.length ?? 0;
  if (forbiddenPaths.length > 0)
    return policyViolation(
      'ERR_FORBIDDEN_PATH',
      `The plan and the settings do not allow changes to: ${listed(forbiddenPaths, MAX_NAMED, 'file')}.`,
    );
  if (hiddenPaths.length > 0)
    return policyViolation(
      'ERR_HIDDEN_PATH',
      `Files that existed before could not be examined, so they may have changed: ${listed(hiddenPaths, MAX_NAMED, 'file')}. Make their folders accessible, and run again.`,
    );
  if (gitDirsInDoubt.length > 0)
    return policyViolation(
      'ERR_GIT_DIR_IN_DOUBT',
      `A repository that existed before is gone, and these may be copies of it: ${listed(gitDirsInDoubt, MAX_NAMED)}. Check their configuration before you use git there.`,
    );
  if (facts.ifDenied === 'error' && denied.count > 0)
    return policyViolation(
      'ERR_DENIED',
      `The run was denied what it asked for (--if-denied error): ${describeDenials(denied)}.`,
    );
  if (changed === 0 && facts.unwritable)
    return internalError(
      'ERR_NO_FILE_WRITTEN',
      `No file could be written: ${openEnded(facts.unwritable)}. Make the work tree writable, and run it again.`,
    );
  if (facts.notProven)
    return verifyFailed('ERR_TESTS_NOT_PROVEN', `${openEnded(facts.notProven)} (--if-not-proven error).`);
  if (facts.unreviewed)
    return verifyFailed('ERR_NOT_REVIEWED', `${facts.unreviewed} (--if-not-reviewed error).`);
  const without = denied.count > 0 ? `; denied: ${describeDenials(denied)}` : '';
  const verified = verifiedPart(facts);
  if (changed > 0)
    return done(`${pluralize(changed, 'file')} changed${verified || ', nothing to verify'}${without}.`);
  if ((facts.answer ?? null) !== null && ifNoChanges === 'ok')
    return done(`The model answered without changing a file${verified}${without}.`);
  if ((facts.followUp?.merge ?? null) !== null)
    return done(`The merge with the base is kept as git made it${verified}${without}.`);
  const reason = `The model finished without changing a file${verified}${without}.`;
  return ifNoChanges === 'error' ? changesExpected(reason) : noChange(reason);
}

/** Empty when nothing was verified, otherwise starts with a comma. */
function verifiedPart(facts: OutcomeFacts): string {
  const { verify = [], verifyIn, unverified = [], flaky = [] } = facts;
  const verified = verify.filter(({ end }) => succeeded(end)).length;
  const preexisting = facts.preexistingFailures?.length ?? 0;
  const where = verifyIn === 'checkout' ? ' in a fresh checkout' : '';
  const otherwise =
    unverified.length > 0 ? `, but on different contents than the patch in ${listed(unverified, 5)}` : '';
  const passed =
    verified > 0
      ? `, ${pluralize(verified, 'verify command')} passed${where}${flaky.length > 0 ? ` (flaky: ${listed(flaky, 5)})` : ''}${otherwise}`
      : '';
  if (preexisting === 0) return passed;
  const failed = verified > 0 ? String(preexisting) : pluralize(preexisting, 'verify command');
  return `${passed}, ${failed} failed as before the run`;
}

/** How a run ends that the model did not finish, depending on who says so. */
const BLOCKED = {
  model: ['ERR_BLOCKED', 'The model says it is blocked'],
  refusal: ['ERR_MODEL_REFUSED', 'The model refused'],
  stall: ['ERR_NO_PROGRESS', 'The model made no progress'],
} as const;

type LimitStop = StopReason & { why: 'limit' };

/** A limit: the code of a run that reached it, how that is said, and the flag that raises it. */
interface LimitEntry {
  readonly code: CodeFor<'limit_reached'>;
  says(stop: LimitStop): string;
  /** Followed by the new value, which is `twice` what was used or allowed; null where no flag helps, empty where none is needed. */
  readonly flag: string | null;
}

/** The limits of a run by their names. */
export const LIMITS: Readonly<Record<LimitStop['limit'], LimitEntry>> = {
  iterations: {
    code: 'ERR_LIMIT_ITERATIONS',
    says: ({ value }) => `Reached the limit of ${pluralize(value, 'iteration')} (--max-iterations)`,
    flag: '--max-iterations',
  },
  tokens: {
    code: 'ERR_LIMIT_TOKENS',
    says: ({ used, value, needed }) =>
      `Used ${formatNumber(used)} tokens of ${formatNumber(value)} (--max-total-tokens)${needed === undefined ? '' : `, and the next request could take ${formatNumber(needed)}`}`,
    flag: '--max-total-tokens',
  },
  cost_usd: {
    code: 'ERR_LIMIT_COST',
    says: ({ used, value, needed }) =>
      `Spent $${used.toFixed(4)} of $${value} (--max-cost-usd)${needed === undefined ? '' : `, and the next request could cost $${needed.toFixed(4)}`}`,
    flag: '--max-cost-usd',
  },
  output_tokens: {
    code: 'ERR_LIMIT_OUTPUT',
    says: ({ used }) => `The model's answer was cut off ${used} times in a row (--max-output-tokens)`,
    // They are counted from zero again.
    flag: '',
  },
  context_window: {
    code: 'ERR_LIMIT_CONTEXT',
    says: ({ used }) =>
      `The conversation is too large for the model's context window (the last prompt that fitted had ${formatNumber(used)} tokens): split or narrow the plan`,
    flag: null,
  },
  changed_files: changes('--max-changed-files', 'Changed', 'files'),
  changed_bytes: changes('--max-changed-size', 'Changed files hold', 'bytes'),
  changed_file_bytes: changes('--max-changed-file-size', 'A changed file holds', 'bytes'),
  folder_entries: {
    code: 'ERR_LIMIT_CHANGES',
    says: ({ folder, value }) =>
      `${folder ? `The folder ${JSON.stringify(folder)}` : 'The root of the work tree'} has more than ${formatNumber(value)} entries, so it was not scanned (raise it with --max-changed-files: a folder may have five times as many entries)`,
    flag: '--max-changed-files',
  },
  disk_bytes: {
    code: 'ERR_LIMIT_DISK',
    says: ({ used, value }) =>
      `The disk of the run directory has ${formatNumber(used)} bytes less than at the start, of ${formatNumber(value)} (--max-disk)`,
    flag: '--max-disk',
  },
};

function changes(flag: string, what: string, unit: string): LimitEntry {
  const says: LimitEntry['says'] = ({ used, value }) =>
    `${what} ${formatNumber(used)} ${unit} of ${formatNumber(value)} (${flag})`;
  return { code: 'ERR_LIMIT_CHANGES', says, flag };
}

function keptWork(facts: OutcomeFacts): string {
  const { stop, changedFiles = [], setupChanges = [] } = facts;
  const unpublished = facts.withheld?.reason ?? facts.publishFailure ?? facts.unmade;
  if (unpublished) return openEnded(unpublished);
  if (changedFiles.length > 0) return `the patch so far has ${pluralize(changedFiles.length, 'file')}`;
  if (setupChanges.length > 0)
    return `commands before the work changed ${pluralize(setupChanges.length, 'file')}, the model none`;
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
