/** Commands that are not runs end at the first signal, and so does what runs read before they begin. */

import { CutShort } from '../domain/errors/thrown.ts';
import type { StopSignal } from '../domain/run/exit-code.ts';
import type { Interruption } from '../domain/run/limits.ts';
import { deadlineExceeded, interrupted, type RunOutcome } from '../domain/run/outcome.ts';
import { until } from '../files/time-limit.ts';
import { openInterrupt } from '../host/deadline.ts';
import type { ProcessParts } from '../host/process-parts.ts';
import type { StoppedEarly } from './command.ts';

/** The outcome of the work, or that a signal interrupted it. */
export async function untilSignal(signal: AbortSignal, work: () => Promise<RunOutcome>): Promise<RunOutcome> {
  try {
    return await until(signal, work);
  } catch (error) {
    if (!(error instanceof CutShort)) throw error;
    return outcomeOf(signal.reason);
  }
}

/** Reading before a run begins, which a signal ends, and so does the deadline of the run. */
export async function readUntil<T>(
  parts: Pick<ProcessParts, 'interrupt' | 'askIn'>,
  deadlineMs: number,
  read: () => Promise<T>,
): Promise<T | StoppedEarly> {
  const { signal, stopClock } = openInterrupt(parts, deadlineMs);
  try {
    return await until(signal, read);
  } catch (error) {
    if (!(error instanceof CutShort)) throw error;
    return { status: 'stopped', outcome: outcomeOf(signal.reason) };
  } finally {
    stopClock();
  }
}

function outcomeOf(interruption: Interruption & { signal?: StopSignal }): RunOutcome {
  if (interruption.cause === 'deadline')
    return deadlineExceeded('The time is up (--deadline), and the run directory was not read completely.');
  const { signal = 'SIGTERM' } = interruption;
  return interrupted(signal, `Stopped by ${signal}. Run it again.`);
}
