/** The events that record the findings of a scan of the work tree. */

import { type ChangeSource, type FoundChange, toCodeChanges } from '../changes/change.ts';
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

/** Whether nothing of what the event records is for the patch. A replay may do otherwise there. */
export function holdsOnlyExcluded(event: RunEvent): boolean {
  return event.type === 'change.recorded' && event.changes.every(({ excluded }) => excluded !== undefined);
}
