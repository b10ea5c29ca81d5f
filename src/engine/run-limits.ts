/** The limits of a run: those of its settings and those that it began with, and the times at which it has to stop. */

import type { Settings } from '../config/schema.ts';
import { type ChangeLimits, Limits } from '../domain/run/limits.ts';
import { openInterrupt } from '../host/deadline.ts';
import type { ProcessParts } from '../host/process-parts.ts';

/** The limits of a new run. */
export function limitsOf(settings: Settings): Limits {
  return Limits.strip().parse(settings);
}

/**
 * What a run may change. A resumed run keeps lower limits that it began with, and never gets more than the current settings
 * allow.
 */
export function changeLimits({ maxDiskBytes, ...today }: Settings, recorded: Limits): ChangeLimits {
  const least = (name: 'maxChangedFiles' | 'maxChangedBytes' | 'maxChangedFileBytes') =>
    Math.min(recorded[name], today[name]);
  return {
    maxChangedFiles: least('maxChangedFiles'),
    maxChangedBytes: least('maxChangedBytes'),
    maxChangedFileBytes: least('maxChangedFileBytes'),
    maxDiskBytes,
  };
}

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
