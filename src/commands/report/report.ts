/** `patchsmith report`: makes the page of a run again from its directory, and opens it on request. */

import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { readResult } from '../../adapters/storage/read-result.ts';
import { recordedEvents, writeReport } from '../../adapters/storage/report-file.ts';
import { done, internalError, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { runOf, type Work, working } from '../work.ts';

/**
 * An existing page is never opened or read, since an attacker may have written it. It is replaced by a new one, made from data
 * alone.
 */
export const startReport = working(reportRun);

async function reportRun(work: Work): Promise<RunOutcome> {
  const { redact, now, version, print } = work;
  const found = await runOf(work);
  if (found.status === 'failed') return found.outcome;
  const { directory } = found;
  const result = readResult(directory);
  if (result === null)
    return usageError(
      'ERR_RESULT_UNREADABLE',
      `${directory.result} is missing or not the result of a run of this version.`,
    );
  const events = await recordedEvents(directory, redact);
  const why = writeReport({ directory, result, events, redact, madeAt: now(), madeBy: version });
  if (why !== null)
    return usageError(
      'ERR_REPORT_UNWRITTEN',
      `There is no report: ${why}. Copy the run directory to a writable place.`,
    );
  const unread = await print(`${directory.report}\n`);
  if (unread !== null) return unread;
  const failure = work.switches.has('open') ? await openInBrowser(directory.report, work.env) : null;
  if (failure !== null) return internalError('ERR_NO_BROWSER', failure);
  return done(`The report of the run ${result.runId} is in ${directory.report}.`);
}

/** Null when the desktop has taken the page, otherwise why not. */
async function openInBrowser(path: string, env: Work['env']): Promise<string | null> {
  const { href } = pathToFileURL(path);
  const opened = await execa('xdg-open', [href], { env, extendEnv: false, reject: false, stdio: 'ignore' });
  if (!opened.failed) return null;
  const why = opened.code === 'ENOENT' ? 'there is no xdg-open' : `xdg-open failed (exit ${opened.exitCode})`;
  return `The report was written, but cannot be opened: ${why}. Open ${href} in a browser.`;
}
