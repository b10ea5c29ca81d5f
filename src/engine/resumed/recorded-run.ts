/** A run read back from its directory. */

import { stateAfter } from '../../adapters/storage/read-journal.ts';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import type { FoldedEvents } from '../../domain/journal/recorded-changes.ts';
import type { EventPlace, RunEvents, RunResumed, SupersededEnd } from '../../domain/run/events.ts';
import type { RunState } from '../../domain/run/state.ts';

/** A run as described by its directory. The start is the recorded one within the settings of today. */
export interface RecordedRun extends FoldedEvents {
  readonly directory: RunDirectory;
  /** Length of the journal in bytes, without a torn last line. */
  readonly journalBytes: number;
  /** Its result until it is resumed, or null. */
  readonly supersedes: SupersededEnd | null;
}

/** The run of a journal. `within` gives the start, with the limits at its end, as it counts from here on. */
export async function recordedRun(
  directory: RunDirectory,
  journal: { readonly events: RunEvents; readonly bytes: number },
  supersedes: SupersededEnd | null = null,
  within = (start: RunEvents[0]): RunEvents[0] => start,
): Promise<RecordedRun> {
  const [begun, ...rest] = journal.events;
  const raised = rest.findLast((event) => event.type === 'run.resumed');
  const events: RunEvents = [within({ ...begun, limits: raised?.limits ?? begun.limits }), ...rest];
  return { directory, events, state: await stateAfter(events), journalBytes: journal.bytes, supersedes };
}

/** The event that resumes the run at the time `at`, if nothing is accepted into its base. */
export function resumption(
  { events: [{ limits, patchsmith }], supersedes }: RecordedRun,
  { base, iterations, seq }: RunState,
  at: number,
): RunResumed & EventPlace {
  return {
    type: 'run.resumed',
    patchsmith,
    supersedes,
    limits,
    base,
    accepted: [],
    iteration: iterations,
    seq: seq + 1,
    at,
  };
}
