/** The state in which a run's events left the work tree. */

import type { CodeChange, FileState, PathChange } from '../changes/change.ts';
import type { RunEvent } from '../run/events.ts';

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
