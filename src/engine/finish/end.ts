/** The very end of a run: result, document, report and last lines, once its outcome is decided. */

import { isThere } from '../../adapters/storage/run-directory.ts';
import { costLine, fileLine, finalLine, flagLines } from '../../domain/report/result-lines.ts';
import { internalError, type RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { redactedStrings } from '../../domain/secrets/redact.ts';
import { jsonDocument } from '../../domain/text/terminal.ts';
import { sentence } from '../../domain/text/words.ts';
import { warning } from '../../domain/warnings/warning.ts';
import { timeoutSignal, until } from '../../files/time-limit.ts';
import { handed } from '../../host/terminal.ts';
import type { ProvenPatch } from '../../ports/workspace.ts';
import type { Session } from '../session.ts';
import { deliverTraces } from '../traces.ts';
import { crashed, tryStep } from './crash.ts';
import type { Ended } from './finish.ts';

/** From the outcome to the last line that people read. */
export async function endRun(session: Session, ended: Ended): Promise<RunOutcome> {
  const { input } = session;
  const concluded = concludeRun(session, ended.outcome);
  session.progress.endStatus();
  const outcome = (await printDocument(session, ended.patch)) ?? concluded;
  await keepReport(session);
  await deliverTraces(session);
  const note = input.interrupt.aborted ? null : await input.afterwards?.();
  if (note) session.progress.note(note);
  printClosingLines(session, outcome);
  return outcome;
}

/** Closes the sinks and writes the result. If that fails, as on a full disk, the failure becomes the outcome. */
function concludeRun(session: Session, decided: RunOutcome): RunOutcome {
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
async function printDocument(session: Session, patch: ProvenPatch | null): Promise<RunOutcome | null> {
  const { stdout, settings } = session.input;
  const document =
    settings.output === 'json'
      ? jsonDocument(session.result, session.redact)
      : settings.output === 'patch' && patch
        ? patch.bytes
        : '';
  const failure = await handed(stdout, document, session.input.interrupt);
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

/** Milliseconds for the page of a run that a signal or the deadline has stopped. */
const LATE_MS = 1_000;

/** Loads what writes the page, which is larger than what else the end of a run needs. */
export function loadReport() {
  return import('../../adapters/storage/report-file.ts');
}

/** Writes `report.html` into the run directory. A failure does not change the run's outcome, and is reported. */
async function keepReport(session: Session): Promise<void> {
  if (session.directory === null || session.input.isCheck === true || session.hasLostDirectory()) return;
  const { interrupt, input, directory } = session;
  const limit = interrupt.aborted ? timeoutSignal(LATE_MS) : input.interrupt;
  const tried = await tryStep(() => until(limit, () => written(session)));
  const why =
    tried.status === 'done'
      ? tried.value
      : tried.status === 'crashed'
        ? String(tried.error)
        : `the run was stopped first. Make it with patchsmith report ${directory.path}`;
  session.hasReport = tried.status === 'done' && why === null;
  if (why !== null) session.progress.warn(warning('WARN_NO_REPORT', `There is no report: ${why}`));
}

async function written(session: Session): Promise<string | null> {
  const { directory, result, redact, input } = session;
  if (directory === null) return null;
  const { recordedEvents, writeReport } = await loadReport();
  // What happened before the run was resumed is only in its journal.
  const events = session.isResumed ? await recordedEvents(directory, redact) : session.reported.end();
  return writeReport({ directory, result, events, redact, madeAt: input.now(), madeBy: input.version });
}

/** Changed files that are named. */
const MAX_FILES = 20;

/** Prints them; the outcome comes last. A check has its own lines. */
function printClosingLines(session: Session, outcome: RunOutcome): void {
  const { progress, input, result, redact } = session;
  progress.endStatus();
  input.watcher?.onResult(redactedStrings(result, redact) as RunResult);
  if (input.isCheck === true) return;
  if (result.verifyIn !== null) sumUp(session);
  else if (result.setup.length > 0 || result.verifyBaseline !== null) nameResult(session);
  progress.final(finalLine(outcome), outcome.exitCode === 0);
}

function sumUp(session: Session): void {
  const { progress, result, nextCommand } = session;
  const { changedFiles, flags, patch } = result;
  for (const file of changedFiles.slice(0, MAX_FILES)) progress.note(`  ${fileLine(file)}`);
  if (changedFiles.length > MAX_FILES) progress.note(`  … and ${changedFiles.length - MAX_FILES} more files`);
  for (const line of flagLines(flags)) progress.warn(warning('WARN_SECOND_LOOK', line));
  progress.note(costLine(result));
  progress.quote('the model says', result.summary);
  if (patch) progress.note(`patch: ${patch.path}`);
  nameResult(session);
  if (nextCommand !== null && !session.hasLostDirectory()) progress.command(`continue: ${nextCommand}`);
}

function nameResult({ directory, progress, hasReport }: Session): void {
  if (!directory || !isThere(directory)) return;
  progress.note(`result: ${directory.result}`);
  if (hasReport) progress.note(`report: ${directory.report}`);
}
