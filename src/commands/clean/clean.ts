/** `patchsmith clean`: removes old runs. */

import { done, noChange, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { RunSummary } from '../../domain/runs.ts';
import { jsonDocument } from '../../domain/text/terminal.ts';
import { formatSize, pluralize } from '../../domain/text/words.ts';
import { removeRuns } from '../remove-runs.ts';
import { type Work, working } from '../work.ts';

/** Names every run that it removes, or would remove. */
export const startClean = working(cleanRuns);

async function cleanRuns(work: Work): Promise<RunOutcome> {
  const { olderThanMs, maxTotalBytes, dryRun: isDry, quiet } = work.settings;
  const { env, json, now, print, redact } = work;
  const say = quiet ? () => {} : work.say;
  const rules = { olderThanMs, maxTotalBytes, keepFailed: work.switches.has('keep-failed') };
  const { removed, removedChecks, left, kept, keptBytes } = await removeRuns({
    env,
    rules,
    now: now(),
    isDry,
  });
  const freedBytes = [...removed, ...removedChecks].reduce((sum, { bytes }) => sum + bytes, 0);
  const verb = isDry ? 'would remove' : 'removed';
  for (const run of removed) say(`${verb} ${named(run)}`);
  for (const run of removedChecks) say(`${verb} check ${named(run)}`);
  for (const { run, why } of left) say(`left ${named(run)}: ${why}`);
  if (json) {
    const document = {
      version: 1,
      dryRun: isDry,
      removed: removed.map(freed),
      removedChecks: removedChecks.map(freed),
      left: left.map(({ run: { runId, path }, why }) => ({ runId, path, why })),
      freedBytes,
      kept,
      keptBytes,
    };
    const unread = await print(jsonDocument(document, redact));
    if (unread !== null) return unread;
  }
  const stays = `${pluralize(kept, 'run')} (${formatSize(keptBytes)}) ${kept === 1 ? 'stays' : 'stay'}.`;
  if (left.length > 0)
    return usageError(
      'ERR_NOT_REMOVED',
      `${pluralize(left.length, 'run')} could not be removed, as named above; ${stays}`,
    );
  const parts = [
    ...(removed.length > 0 ? [pluralize(removed.length, 'run')] : []),
    ...(removedChecks.length > 0 ? [pluralize(removedChecks.length, 'check')] : []),
  ];
  if (parts.length === 0) return noChange(`Nothing to remove; ${stays}`);
  const what = `${parts.join(' and ')} (${formatSize(freedBytes)})`;
  return done(`${what} ${isDry ? 'would be removed' : 'removed'}; ${stays}`);
}

function freed({ runId, path, bytes }: RunSummary) {
  return { runId, path, bytes };
}

function named({ runId, outcome, status, bytes }: RunSummary): string {
  return `${runId}  ${status === 'finished' ? outcome : status}  ${formatSize(bytes)}`;
}
