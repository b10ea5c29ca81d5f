/** What a run wrote before its baseline had been taken, and what was there before. */

import type { FileState } from '../changes/change.ts';
import type { RunEvent } from '../run/events.ts';

/** By path, what counts as there when the run began, whatever is there now; null means absent. */
export function notedStates(events: Iterable<RunEvent>): Map<string, FileState | null> {
  const noted = new Map<string, FileState | null>();
  for (const event of events) {
    if (event.type !== 'baseline.noted') continue;
    for (const { path, state } of event.states) if (!noted.has(path)) noted.set(path, state);
  }
  return noted;
}
