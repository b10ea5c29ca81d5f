/** Ends a run whose process has died: the next command that looks at it does what that process no longer can. */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AGREE_AGAIN, resumeCommand } from '../../domain/journal/continuation.ts';
import { internalError } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { jsonDocument } from '../../domain/text/terminal.ts';
import { orNone } from '../../files/failures.ts';
import { readStart } from './read-journal.ts';
import { readResult } from './read-result.ts';
import { type RunDirectory, writeResult } from './run-directory.ts';
import { whyNotUsable } from './run-directory-check.ts';
import { lockRun } from './run-lock.ts';
import { spentByJournals } from './run-spending.ts';

/**
 * Completes `result.json` if it says `running` and no process holds the run's lock. Resolves with the completed result, even
 * if it cannot be written, as in a read-only folder; null if the run has ended or is still running.
 */
export async function endDeadRun(directory: RunDirectory): Promise<RunResult | null> {
  if (readResult(directory)?.status !== 'running') return null;
  const letGo = await lockRun(directory.path);
  if (letGo === null) return null;
  try {
    // It may have ended by itself in the meantime.
    const left = readResult(directory);
    if (left?.status !== 'running') return null;
    const start = await readStart(directory.events);
    const hasBegun = start !== null && start.unready === undefined;
    const result = { ...ended(left, directory, hasBegun), ...(await spentSoFar(directory, left)) };
    if ((await whyNotUsable(directory)) === null) {
      // What is known is returned even where it cannot be written. It was redacted when it was.
      orNone(() =>
        writeResult(
          directory,
          jsonDocument(result, (text) => text),
        ),
      );
      removeCopies(directory);
    }
    return result;
  } finally {
    letGo();
  }
}

/** What a run that left no final result has spent. Its first request comes after the journal's first event. */
async function spentSoFar(directory: RunDirectory, { runId }: RunResult): Promise<Partial<RunResult>> {
  const spent = await spentByJournals(directory, runId);
  if (spent === null) return existsSync(directory.events) ? { costUsd: 'unknown' } : {};
  const { tokens, costUsd, estimated, models, iterations, durations } = spent;
  return { tokens, costUsd, estimated, models: [...models], iterations, durations };
}

/** A patch without a final result is not trusted. */
function ended(left: RunResult, { path }: RunDirectory, hasBegun: boolean): RunResult {
  const there = left.root === null ? {} : { repo: left.root };
  const first = join(path, 'attempts', '1');
  const isRecording = left.provider === 'replay';
  const next = isRecording
    ? 'Its answers come from a recording, so just run it again.'
    : hasBegun
      ? `Continue the run: ${resumeCommand(path, there)} ${AGREE_AGAIN}`
      : existsSync(first)
        ? `No attempt had been chosen; one can be continued: ${resumeCommand(first, there)} ${AGREE_AGAIN}`
        : 'It had not started to work: start a new run with patchsmith run.';
  const { name, exitCode, reason, errorCode } = internalError('ERR_PROCESS_DIED', `${PROCESS_DIED}. ${next}`);
  return {
    ...left,
    status: 'finished',
    outcome: name,
    exitCode,
    reason,
    errorCode,
    patch: null,
  };
}

/**
 * The copies of the work tree that attempts used hold ignored files, credentials among them, and no attempt is ever
 * resumed in one. The rest of the folder says what a killed runner left running. `resume` and `clean` remove what
 * cannot be removed now.
 */
function removeCopies({ scratch }: RunDirectory): void {
  orNone(() => {
    for (const name of readdirSync(scratch))
      if (name.startsWith(COPY)) rmSync(join(scratch, name), { recursive: true, force: true });
  });
}

/** The prefix of these copies' names. */
export const COPY = 'attempt-';

const PROCESS_DIED = "The runner's process ended without a result (killed, or out of memory)";
