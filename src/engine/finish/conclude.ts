/** The very end of a run: closes the sinks, writes the result, and prints the one document on stdout. */

import { resultText } from '../../adapters/storage/run-directory.ts';
import { internalError, type RunOutcome } from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/sentence.ts';
import type { ProvenPatch } from '../../ports/workspace.ts';
import type { Session } from '../session.ts';
import { crashed } from './crash.ts';

/** Closes the sinks and writes the result. If that fails, as on a full disk, the failure becomes the outcome. */
export function concludeRun(session: Session, decided: RunOutcome): RunOutcome {
  let outcome = decided;
  const { sinks } = session;
  const steps = [
    () => session.end(),
    () => session.decide(outcome),
    ...sinks.map((sink) => () => sink.close(session.result)),
    () => session.writeResult(),
    () => session.letGo(),
  ];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      outcome = crashed(session, error);
      session.decide(outcome);
    }
  }
  return outcome;
}

/**
 * Prints the one machine-readable document on stdout. Events were written as they happened. A successful run whose document
 * could not be written has failed: its reader would take a part of it, or nothing, for the whole. Null if the outcome stays.
 */
export async function printDocument(session: Session, patch: ProvenPatch | null): Promise<RunOutcome | null> {
  const { stdout, settings } = session.input;
  if (settings.output === 'json') stdout.write(resultText(session.result, session.redact));
  if (settings.output === 'patch' && patch) stdout.write(patch.bytes);
  const failure = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
    stdout.write('', (error) => resolve(error ?? null)),
  );
  if (failure === null || settings.output === 'none') return null;
  // The earlier failure says more than a reader that has exited.
  if (session.result.exitCode !== 0) return null;
  const outcome = internalError(
    'ERR_OUTPUT_UNWRITTEN',
    sentence(`The --output ${settings.output} document cannot be written: ${failure.message}`),
  );
  session.decide(outcome);
  session.writeResult();
  return outcome;
}
