/** `patchsmith show`: what happened in a run, on one page. */

import { endDeadRun } from '../../adapters/storage/dead-run.ts';
import { findRun } from '../../adapters/storage/find-run.ts';
import { summarise } from '../../adapters/storage/list-runs.ts';
import { readStart } from '../../adapters/storage/read-journal.ts';
import { readResult } from '../../adapters/storage/read-result.ts';
import type { Environment } from '../../domain/environment.ts';
import { done, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { type Redact, redactedJson } from '../../domain/secrets/redact.ts';
import { inertJson } from '../../domain/text/terminal.ts';
import { sentence } from '../../domain/text/words.ts';
import { page } from './page.ts';

/** The arguments of `patchsmith show`. */
export interface ShowInput {
  /** A run directory or the id of a run. */
  readonly run: string;
  readonly json: boolean;
  readonly redact: Redact;
  readonly cwd: string;
  readonly env: Environment;
  /** Prints the document on stdout. Resolves with an outcome where it could not be written. */
  readonly print: (document: string) => Promise<RunOutcome | null>;
}

/** Its files are read within bounds and without following links; a run whose process has died is completed first. */
export async function showRun({ run, json, redact, cwd, env, print }: ShowInput): Promise<RunOutcome> {
  const found = await findRun(run, { cwd, env });
  if (found.status === 'failed') return usageError('ERR_RUN_NOT_FOUND', found.message);
  const { directory } = found;
  const died = await endDeadRun(directory);
  const result = died ?? readResult(directory);
  const runId = result?.runId ?? directory.path.split('/').at(-1) ?? '';
  const summary = await summarise(runId, directory.path, 'default');
  if (result === null) {
    const why = summary.problem ?? 'result.json is from another version of patchsmith';
    const rest = summary.outcome === null ? '' : ` It says: ${summary.outcome} (exit ${summary.exitCode}).`;
    return usageError(
      'ERR_RESULT_UNREADABLE',
      `${sentence(`The run in ${directory.path} cannot be shown: ${why}`)}${rest}`,
    );
  }
  const { bytes, startedAt } = summary;
  const root = (await readStart(directory.events))?.root ?? null;
  const shown = { path: directory.path, root, bytes, startedAt };
  const document = json
    ? `${inertJson(redactedJson({ version: 1, ...shown, startedAt: startedAt === null ? null : new Date(startedAt).toISOString(), result }, redact, 2))}\n`
    : page(result, { ...shown, directory }, redact);
  const unread = await print(document);
  if (json && unread !== null) return unread;
  return done(
    `The run ${result.runId}${result.outcome === null ? ' is running' : `: ${result.outcome} (exit ${result.exitCode})`}.`,
  );
}
