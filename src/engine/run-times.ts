/** When a run has to stop: at a signal or at its deadline, and a little later for each thing that comes after. */

import { openInterrupt } from '../host/deadline.ts';
import type { ProcessParts } from '../host/process-parts.ts';

/**
 * Milliseconds after a signal or the deadline: first for examining what was in progress, then for the patch. Together with
 * ending the commands before and writing the result after, this stays below five seconds.
 */
const LOOKS_MS = 2_500;
const PATCH_MS = 1_500;

/** The signals that end the parts of a run, one after the other. */
export interface RunTimes {
  /** Aborted by a signal or the deadline. */
  readonly interrupt: AbortSignal;
  /** Aborted when preparation must stop. A resumed run has to find out what it left behind and gets a little longer. */
  readonly endOfPreparation: AbortSignal;
  /** Aborted soon after that, when examining the work tree must stop. */
  readonly endOfLooks: AbortSignal;
  /** Aborted after that, when the patch must be finished. */
  readonly endOfPatch: AbortSignal;
  /** Cancels the deadline, so that it no longer keeps the process alive. */
  stopClock(): void;
}

/** `leftMs` is what remains of the run's time. */
export function openTimes(
  parts: Pick<ProcessParts, 'interrupt' | 'askIn'>,
  { leftMs, isResumed }: { leftMs: number; isResumed: boolean },
): RunTimes {
  const { signal, after, stopClock } = openInterrupt(parts, Math.max(1, leftMs));
  const endOfLooks = after(LOOKS_MS);
  return {
    interrupt: signal,
    endOfPreparation: isResumed ? endOfLooks : signal,
    endOfLooks,
    endOfPatch: after(LOOKS_MS + PATCH_MS),
    stopClock,
  };
}
