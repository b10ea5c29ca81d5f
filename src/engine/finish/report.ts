/** The page about the run, once everything about it is decided and handed over: nothing waits for it, and nothing depends on it. */

import type { Session } from '../session.ts';
import { tryStep } from './step.ts';

/** Loads what writes the page, which is larger than what else the end of a run needs. */
export function loadReport() {
  return import('../../adapters/storage/report-file.ts');
}

/** Writes `report.html` into the run directory. Where that fails the run is what it is without, and people are told. */
export async function keepReport(session: Session): Promise<void> {
  if (session.directory === null || session.input.isCheck === true || session.hasLostDirectory()) return;
  const tried = await tryStep(() => written(session));
  const why = tried.status === 'done' ? tried.value : tried.status === 'crashed' ? String(tried.error) : null;
  session.hasReport = tried.status === 'done' && why === null;
  if (why !== null) session.progress.warn(`There is no report: ${why}`);
}

async function written(session: Session): Promise<string | null> {
  const { directory, result, redact, input } = session;
  if (directory === null) return null;
  const { recordedEvents, writeReport } = await loadReport();
  // What happened before the run was resumed stands in its journal alone.
  const events = session.isResumed ? recordedEvents(directory, redact) : session.reported.end();
  return writeReport({ directory, result, events, redact, madeAt: input.now(), madeBy: input.version });
}
