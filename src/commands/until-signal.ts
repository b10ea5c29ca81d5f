/** Commands that are not runs end at the first signal. */

import { CutShort } from '../domain/run/cut-short.ts';
import type { StopSignal } from '../domain/run/exit-code.ts';
import type { Interruption } from '../domain/run/limits.ts';
import { interrupted, type RunOutcome } from '../domain/run/outcome.ts';
import { until } from '../files/time-limit.ts';

/** The outcome of the work, or that a signal interrupted it. */
export async function untilSignal(signal: AbortSignal, work: () => Promise<RunOutcome>): Promise<RunOutcome> {
  try {
    return await until(signal, work);
  } catch (error) {
    if (!(error instanceof CutShort)) throw error;
    const { signal: name = 'SIGTERM' } = signal.reason as Interruption & { signal?: StopSignal };
    return interrupted(name, `Stopped by ${name}. Run it again.`);
  }
}
