/** A run that has been read back from its directory. */

import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import type { ToolCall } from '../../domain/conversation/conversation.ts';
import type { RunEvent } from '../../domain/run/events.ts';
import { advance, type RunState, startOf } from '../../domain/run/state.ts';

/** A run as its directory tells of it. */
export interface RecordedRun {
  readonly directory: RunDirectory;
  readonly events: readonly [RunEvent & { type: 'run.started' }, ...RunEvent[]];
  /** Length of the journal without a torn last line. */
  readonly journalBytes: number;
}

/** The calls that were begun, in order. */
export function callsOf(events: readonly RunEvent[]): ToolCall[] {
  return events.flatMap((event) => (event.type === 'tool.started' ? [event.call] : []));
}

/** The state after the last event that was recorded. */
export function stateOf({ events: [start, ...rest] }: RecordedRun): RunState {
  return rest.reduce(advance, startOf(start));
}
