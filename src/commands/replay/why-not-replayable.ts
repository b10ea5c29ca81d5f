/** Which recorded runs can be replayed. */

import { isAbsolute, normalize } from 'node:path';
import { readResult } from '../../adapters/storage/read-result.ts';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import type { RunEvents } from '../../domain/run/events.ts';
import { oneLine } from '../../domain/text/terminal.ts';

/** Null when the recorded run can be replayed. */
export function whyNotReplayable(run: RunDirectory, events: RunEvents): string | null {
  const [{ runId, root }] = events;
  if (events.at(-1)?.type !== 'run.stopped')
    return `The run ${runId} was not finished: its journal ends with event ${events.length}.${whyUnfinished(run)}`;
  const cut = whyCutAnywhere(events);
  if (cut !== null) return `The run ${runId} ${cut} Its patch, proven when the run ended, is ${run.patch}.`;
  return isPlaceForCopy(root)
    ? null
    : `The run claims to have worked in ${JSON.stringify(root)}, where no checkout can be.`;
}

/**
 * Null when the run was resumed only where it had stopped by itself, with nothing in progress and no changes by others
 * accepted.
 */
function whyCutAnywhere(events: RunEvents): string | null {
  for (const [index, event] of events.entries()) {
    if (event.type !== 'run.resumed') continue;
    const before = events[index - 1];
    if (before?.type !== 'run.stopped')
      return 'was killed and resumed, and a replay cannot be killed at the same moment.';
    if (before.stop.why === 'interrupted' || before.stop.why === 'deadline')
      return 'was resumed after a signal or its deadline, and a replay cannot be stopped at the same moment.';
    if (event.accepted.length > 0)
      return 'was resumed on changes that it had not made (--accept-changes), which a replay does not have.';
  }
  return null;
}

/** A sentence with a leading space; empty if the result does not say. */
function whyUnfinished(run: RunDirectory): string {
  const result = readResult(run);
  if (result?.status === 'running') return ' A process is still running it.';
  return result?.outcome === 'internal_error' ? ` ${oneLine(result.reason, 2_000)}` : '';
}

/**
 * Whether commands can see the copy there. Everything else they see belongs to this machine, which a recording has no say
 * in.
 */
function isPlaceForCopy(root: string): boolean {
  return isAbsolute(root) && normalize(root) === root && !/\0|^\/(?:$|(?:proc|dev|sys)(?:\/|$))/.test(root);
}
