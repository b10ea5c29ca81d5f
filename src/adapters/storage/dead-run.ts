/** The end of a run whose process has died. That process cannot write it any more, so whoever looks next does. */

import { existsSync } from 'node:fs';
import { internalError } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { type RunDirectory, readResult, resultText, writeResult } from './run-directory.ts';
import { whyNotUsable } from './run-directory-check.ts';
import { lockRun } from './run-lock.ts';

/**
 * Completes `result.json` where it says `running` and no process holds the run's lock. Resolves with the completed result,
 * also where it cannot be written, as in a folder that is only readable; null when the run has ended or is at work.
 * The lock is one of a network namespace: a run in a container is looked at from within it.
 */
export async function endDeadRun(directory: RunDirectory): Promise<RunResult | null> {
  if (readResult(directory)?.status !== 'running') return null;
  const letGo = await lockRun(directory.path);
  if (letGo === null) return null;
  try {
    // It may have come to its own end in between.
    const left = readResult(directory);
    if (left?.status !== 'running') return null;
    const result = ended(left, directory);
    if (whyNotUsable(directory) === null) keep(result, directory);
    return result;
  } finally {
    letGo();
  }
}

/** What the run has spent stands in its journal alone, and no patch is believed that no result has come to. */
function ended(left: RunResult, { path, events }: RunDirectory): RunResult {
  const next = existsSync(events)
    ? `Continue the run: patchsmith resume ${path}`
    : 'It had not started to work: start a new run with patchsmith run.';
  const { name, exitCode, reason } = internalError(`${PROCESS_DIED}. ${next}`);
  return { ...left, status: 'finished', outcome: name, exitCode, reason, patch: null, costUsd: 'unknown' };
}

const PROCESS_DIED = "The runner's process ended without a result (killed, or out of memory)";

function keep(result: RunResult, directory: RunDirectory): void {
  try {
    // What is in it was redacted when it was written.
    writeResult(
      directory,
      resultText(result, (text) => text),
    );
  } catch (error) {
    // What is known is told all the same.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}
