/** The limits of a run: those of its settings, and those that a recorded run began with. */

import type { Settings } from '../config/schema.ts';
import type { ChangeLimits } from '../domain/run/change-limits.ts';
import { Limits, MAX_RECOVERIES, MAX_STALL_TURNS } from '../domain/run/limits.ts';
import type { RunInput } from './run-input.ts';

/** The limits of a new run. */
export function limitsOf(settings: Settings): Limits {
  return Limits.parse({
    maxIterations: settings.maxIterations,
    maxTotalTokens: settings.maxTotalTokens,
    maxCostUsd: settings.maxCostUsd,
    deadlineMs: settings.deadlineMs,
    fixRounds: settings.fixRounds,
    maxTokensRecoveries: MAX_RECOVERIES,
    maxChangedFiles: settings.maxChangedFiles,
    maxChangedBytes: settings.maxChangedBytes,
    maxChangedFileBytes: settings.maxChangedFileBytes,
    stallTurns: MAX_STALL_TURNS,
  });
}

/**
 * What a run may change. A resumed run keeps lower limits that it began with, and never gets more than the current settings
 * allow.
 */
export function changeLimits(
  { input }: { readonly input: RunInput },
  recorded: Limits | null = null,
): ChangeLimits {
  const { maxDiskBytes, ...today } = input.settings;
  const least = (name: 'maxChangedFiles' | 'maxChangedBytes' | 'maxChangedFileBytes') =>
    Math.min(recorded?.[name] ?? today[name], today[name]);
  return {
    maxChangedFiles: least('maxChangedFiles'),
    maxChangedBytes: least('maxChangedBytes'),
    maxChangedFileBytes: least('maxChangedFileBytes'),
    maxDiskBytes,
  };
}
