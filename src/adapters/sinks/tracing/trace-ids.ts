/** Ids of traces and spans: made of the run's own, so that all of its processes have one trace. */

import { createHash } from 'node:crypto';

/** The trace of a run that no other span has started: 32 hexadecimal digits. */
export function traceIdOf(runId: string): string {
  return digest(runId).slice(0, 32);
}

/** The span of this number in one process of a run: 16 hexadecimal digits. */
export function spanIdOf({ runId, startMs }: { runId: string; startMs: number }, number: number): string {
  return digest(`${runId}/${startMs}/${number}`).slice(0, 16);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
