/** The events that record the findings of a scan of the work tree, and the states of paths that they leave. */

import {
  type ChangeSource,
  type CodeChange,
  type FileState,
  type FoundChange,
  type PathChange,
  toCodeChanges,
} from '../changes/change.ts';
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

/** Every path that changed since the base, with its last known state; null means absent. */
export function workTreeStates(events: Iterable<RunEvent>): Map<string, FileState | null> {
  const states = new Map<string, FileState | null>();
  for (const event of events) {
    for (const change of changesOf(event)) {
      if (change.excluded !== undefined) continue;
      if (change.from !== undefined) states.set(change.from, null);
      // A look no longer finds what a rule hides.
      if (change.ignored === 'from_now') states.delete(change.path);
      else states.set(change.path, change.after);
    }
  }
  return states;
}

type StateChange = Pick<PathChange, 'path' | 'after' | 'ignored'> &
  Partial<Pick<CodeChange, 'from' | 'excluded'>>;

function changesOf(event: RunEvent): readonly StateChange[] {
  switch (event.type) {
    case 'run.started':
      return event.setupChanges;
    case 'run.resumed':
      return event.accepted;
    case 'change.recorded':
      return event.changes;
    default:
      return [];
  }
}
