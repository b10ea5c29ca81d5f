/** A run that is refused for its flags and settings still leaves its outcome where the caller expects it. */

import { resolve } from 'node:path';
import {
  clearScratch,
  makeRunDirectory,
  newRunId,
  type RunDirectory,
  writeResult,
} from '../adapters/storage/run-directory.ts';
import type { Problem } from '../domain/errors/problem.ts';
import { machineFault } from '../domain/errors/thrown.ts';
import { refusedFor } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { jsonDocument } from '../domain/text/terminal.ts';
import { refusedResult } from '../engine/finish/empty-result.ts';
import { repositoryRoot } from '../git/checkout-layout.ts';
import type { HostContext } from '../host/context.ts';

/**
 * Writes a final `result.json` into the run directory that was named, with the same rules as for every run: not into a folder
 * that already has a run, and not into a checkout. A workflow step always has a run directory, for the job that reports the
 * outcome. Does nothing if a command line names none, or if it cannot be created, which the run itself would have reported.
 */
export async function keepRefusal(
  context: Pick<HostContext, 'env' | 'cwd' | 'now' | 'version' | 'redact' | 'isStep' | 'watcher'>,
  flags: Readonly<Record<string, unknown>>,
  problems: readonly Problem[],
): Promise<void> {
  const named = flags['run-dir'] ?? context.env.PATCHSMITH_RUN_DIR;
  const chosen = typeof named === 'string' && named !== '' ? named : null;
  if (chosen === null && context.isStep !== true) return;
  const runId = newRunId(context.now());
  const workTree = await repositoryRoot(resolve(context.cwd, chosen ?? '.'));
  const made = makeRunDirectory({ runId, chosen, cwd: context.cwd, env: context.env, workTree });
  if (made.status === 'failed') return;
  const result = { ...refusedResult(refusedFor(problems), context.version), runId };
  try {
    writeResult(made.directory, jsonDocument(result, context.redact));
    clearScratch(made.directory);
    await keepPage(context, made.directory, result);
    context.watcher?.onDirectory(made.directory);
  } catch (error) {
    if (machineFault(error) === null) throw error;
  }
}

async function keepPage(
  { redact, now, version }: Pick<HostContext, 'redact' | 'now' | 'version'>,
  directory: RunDirectory,
  result: RunResult,
): Promise<void> {
  const { writeReport } = await import('../adapters/storage/report-file.ts');
  const events = { json: '[]', notes: [] };
  // The refusal itself is printed in any case.
  writeReport({ directory, result, events, redact, madeAt: now(), madeBy: version });
}
