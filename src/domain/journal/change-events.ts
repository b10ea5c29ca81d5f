/** The events that record the findings of a scan of the work tree. */

import { type ChangeSource, type FoundChange, type PathChange, toCodeChanges } from '../changes/change.ts';
import type { RunAction, RunEvent } from '../run/events.ts';

/** Empty when nothing has changed. */
export function changesRecorded(
  found: readonly FoundChange[],
  source: ChangeSource,
  iteration: number,
): RunAction[] {
  const changes = toCodeChanges(found, source, iteration);
  return changes.length > 0 ? [{ type: 'change.recorded', changes }] : [];
}

/** Maximum number of excluded changes that are listed of one look: commands can write any number of files. */
const MAX_LISTED = 100;

/** As `changesRecorded`, for changes that are all excluded from the patch. */
export function excludedRecorded(
  found: readonly FoundChange[],
  source: ChangeSource,
  iteration: number,
): RunAction[] {
  const leftOut = found.length - MAX_LISTED;
  const actions = changesRecorded(found.slice(0, MAX_LISTED), source, iteration);
  return leftOut > 0 ? actions.map((action) => ({ ...action, leftOut })) : actions;
}

/** Records files that were written and are what they were. */
export function identicalRecorded(
  found: readonly PathChange[],
  source: ChangeSource,
  iteration: number,
): RunAction[] {
  const excluded = found.map((change) => ({ ...change, excluded: 'identical' as const }));
  return excludedRecorded(excluded, source, iteration);
}

/** Whether nothing of what the event records is for the patch. A replay may do otherwise there. */
export function holdsOnlyExcluded(event: RunEvent): boolean {
  return event.type === 'change.recorded' && event.changes.every(({ excluded }) => excluded !== undefined);
}
