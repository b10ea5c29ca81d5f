/** The event that records what a look at the work tree found. */

import { type ChangeSource, type PathChange, toCodeChanges } from '../changes/change.ts';
import type { RunAction } from '../run/events.ts';

/** Empty when nothing has changed. */
export function changesRecorded(
  found: readonly PathChange[],
  source: ChangeSource,
  iteration: number,
): RunAction[] {
  const changes = toCodeChanges(found, source, iteration);
  return changes.length > 0 ? [{ type: 'change.recorded', changes }] : [];
}
