/** The outcome of a run that ended unexpectedly, and what to do about it. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import { LinkedOutside } from '../../domain/errors/linked-outside.ts';
import { UnusableFile } from '../../domain/errors/unusable-file.ts';
import { CutShort } from '../../domain/run/cut-short.ts';
import { machineFault } from '../../domain/run/machine-fault.ts';
import { internalError, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { interruptedOutcome, LateRefusal } from '../ready.ts';
import type { Session } from '../session.ts';
import { continuing } from './command-to-continue.ts';

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
    `${what}. This is a bug in patchsmith or a machine failure; please report it with the run's patchsmith.log.`,
  );
}

/** What to do once the machine works again. With recorded answers, the run is simply run again. */
export function advice(session: Session): string {
  const { result, directory, input } = session;
  return providerNamed(result.provider, input.providers)?.canResume && directory !== null
    ? `Fix that, then continue with: ${continuing(session, directory.path)}`
    : 'Fix that, then run it again.';
}
