/** Where the events of a run have left the work tree. */

import type { FileState } from '../changes/change.ts';
import type { RunEvent } from '../run/events.ts';

/** Every path that changed since the base, with its last known state; null is absence. */
export function workTreeStates(events: Iterable<RunEvent>): Map<string, FileState | null> {
  const states = new Map<string, FileState | null>();
  for (const event of events) {
    for (const change of changesOf(event)) {
      if (change.from !== undefined) states.set(change.from, null);
      states.set(change.path, change.after);
    }
  }
  return states;
}

function changesOf(event: RunEvent): readonly { path: string; from?: string; after: FileState | null }[] {
  switch (event.type) {
    case 'run.started':
      return event.setupChanges;
    case 'run.resumed':
      return event.accepted;
    case 'change.recorded':
      return event.changes.map(({ path, from, after }) => ({
        path,
        after,
        ...(from === undefined ? {} : { from }),
      }));
    default:
      return [];
  }
}
