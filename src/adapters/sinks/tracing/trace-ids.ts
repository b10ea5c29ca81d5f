/** Ids of traces and spans, derived from the run's id, so that all its processes share one trace. */

import { createHash } from 'node:crypto';

/** The trace of a run without a parent span: 32 hexadecimal digits. */
export function traceIdOf(runId: string): string {
  return digest(runId).slice(0, 32);
}

/** Who numbers spans: a process of a run, or one of several attempts in it. */
export interface SpanMaker {
  readonly runId: string;
  readonly startMs: number;
  /** The attempts of a run share its id and can begin in the same millisecond. */
  readonly attempt: number | null;
}

/** The span with this number (0 is the numberer's own): 16 hexadecimal digits. */
export function spanIdOf({ runId, startMs, attempt }: SpanMaker, number: number): string {
  const maker = attempt === null ? `${startMs}` : `${startMs}/${attempt}`;
  return digest(`${runId}/${maker}/${number}`).slice(0, 16);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
