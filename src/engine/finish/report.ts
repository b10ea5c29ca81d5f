/** The page about the run, once everything about it is decided and handed over: nothing waits for it, and nothing depends on it. */

import { warning } from '../../domain/warnings/warning.ts';
import { timeoutSignal, until } from '../../files/time-limit.ts';
import type { Session } from '../session.ts';
import { tryStep } from './step.ts';

/** Milliseconds for the page of a run that a signal or the deadline has stopped. */
const LATE_MS = 1_000;

/** Loads what writes the page, which is larger than what else the end of a run needs. */
export function loadReport() {
  return import('../../adapters/storage/report-file.ts');
}

/** Writes `report.html` into the run directory. A failure does not change the run's outcome, and is reported. */
export async function keepReport(session: Session): Promise<void> {
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
