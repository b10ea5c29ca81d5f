/** Steps that may fail, the outcome of a run that ended unexpectedly, and how any run that has stopped is continued. */

import { DEFAULT_PROVIDER, providerNamed } from '../../adapters/providers/registry.ts';
import { type SettingKey, settingEntries } from '../../config/schema.ts';
import { isWithin } from '../../domain/changes/path.ts';
import { CutShort, LinkedOutside, machineFault, UnusableFile } from '../../domain/errors/thrown.ts';
import { flagsToContinue, resumeCommand } from '../../domain/journal/continuation.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import { internalError, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { interruptedOutcome, LateRefusal } from '../ready.ts';
import type { Session } from '../session.ts';

/** `cut_short`: time ran out before the step ended. `crashed`: a bug or a broken machine. */
export type StepEnd<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'cut_short' }
  | { readonly status: 'crashed'; readonly error: unknown };

/** Never rejects. */
export async function tryStep<T>(step: () => Promise<T>): Promise<StepEnd<T>> {
  try {
    return { status: 'done', value: await step() };
  } catch (error) {
    return error instanceof CutShort ? { status: 'cut_short' } : { status: 'crashed', error };
  }
}

/** Null when the step did not end. */
export function doneValue<T>(tried: StepEnd<T>): T | null {
  return tried.status === 'done' ? tried.value : null;
}

/** `error` is what was thrown; null when the loop ended without giving a reason. */
export function crashed(session: Session, error: unknown): RunOutcome {
  if (error instanceof CutShort) return interruptedOutcome(session);
  if (error instanceof LateRefusal) return error.outcome;
  if (error instanceof UnusableFile) return usageError('ERR_UNUSABLE_FILE', error.message);
  if (error instanceof LinkedOutside) return usageError('ERR_LINKED_OUTSIDE', error.message);
  if (session.hasLostDirectory())
    return internalError(
      'ERR_RUN_DIRECTORY_GONE',
      `The run directory ${session.directory?.path} is gone. The changes are in the work tree.`,
    );
  const fault = machineFault(error);
  if (fault !== null) return internalError('ERR_MACHINE', `${fault}. ${advice(session)}`);
  const what = error instanceof Error ? error.message : String(error ?? 'the loop ended without a reason');
  return internalError(
    'ERR_BUG',
    `${what}. This is a bug in patchsmith or a machine failure; please report it with the lines before this one.`,
  );
}

/** What to do once the machine works again. With recorded answers, the run is simply run again. */
export function advice(session: Session): string {
  const { result, directory, input } = session;
  return providerNamed(result.provider, input.providers)?.canResume && directory !== null
    ? `Fix that, then continue with: ${continuing(session, directory.path)}`
    : 'Fix that, then run it again.';
}

/** The command that continues a run that stopped for this reason; null for one that came to its own end. */
export function commandToContinue(session: Session, stop: StopReason): string | null {
  const { result, directory, input, limits } = session;
  // The chosen attempt continues where it was applied; docs/attempts.md says how the others do.
  if (input.attempt !== undefined) return null;
  if (directory === null || !providerNamed(result.provider, input.providers)?.canResume) return null;
  const flags = flagsToContinue(stop, limits);
  return flags && continuing(session, directory.path, { more: flags });
}

/** `repo` is the work tree to continue in; by default the run's own, named where it has to be. */
export function continuing(
  { result: { provider }, root, input: { settings, typed = {}, cwd } }: Session,
  path: string,
  { more = [], repo }: { more?: readonly string[]; repo?: string } = {},
): string {
  const { fallbackModel, reviewModel } = settings;
  const chosen = {
    // The person who resumes the run decides whose key is used.
    ...(provider === null || provider === DEFAULT_PROVIDER ? {} : { provider }),
    ...(fallbackModel === null ? {} : { 'fallback-model': fallbackModel }),
    ...(reviewModel === null ? {} : { 'review-model': reviewModel }),
    ...Object.fromEntries(
      settingEntries().flatMap(({ key, flag, initial }) =>
        FROM_PROJECT_FILE.includes(key) && settings[key] !== initial ? [[flag, settings[key]]] : [],
      ),
    ),
  };
  const elsewhere = root !== null && (settings.repo !== null || !isWithin(cwd, root)) ? root : undefined;
  const there = repo ?? elsewhere;
  return resumeCommand(path, { ...chosen, ...typed, ...(there === undefined ? {} : { repo: there }) }, more);
}

/** What a project file may raise, and `resume` does not read from there. */
const FROM_PROJECT_FILE: readonly SettingKey[] = ['fixRounds', 'maxToolOutput'];
