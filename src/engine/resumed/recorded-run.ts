/** A run read back from its directory. */

import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import type { ToolCall } from '../../domain/conversation/conversation.ts';
import type { FoldedEvents } from '../../domain/journal/undo.ts';
import type { EventPlace, RunEvent, RunEvents, RunResumed, SupersededEnd } from '../../domain/run/events.ts';
import type { Limits } from '../../domain/run/limits.ts';
import type { RunState } from '../../domain/run/state.ts';
import type { EarlierPart } from '../session.ts';

/** A run as described by its directory. The start is the recorded one within the settings of today. */
export interface RecordedRun extends FoldedEvents {
  readonly directory: RunDirectory;
  /** Length of the journal in bytes, without a torn last line. */
  readonly journalBytes: number;
  /** Its result until it is resumed, or null. */
  readonly supersedes: SupersededEnd | null;
}

/** The limits that held when the run stopped. */
export function limitsAtEnd(events: RunEvents): Limits {
  const raised = events.findLast((event) => event.type === 'run.resumed' && event.limits !== undefined);
  return (raised?.type === 'run.resumed' ? raised.limits : undefined) ?? events[0].limits;
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

/** The calls that were started, in order. */
export function callsOf(events: readonly RunEvent[]): ToolCall[] {
  return events.flatMap((event) => (event.type === 'tool.started' ? [event.call] : []));
}

/** What a resuming process knows about the run from the start. */
export function earlierPartOf(run: RecordedRun, warnings: readonly string[]): EarlierPart {
  const { runId, limits, verifyBaseline } = run.events[0];
  const { now, startedAt } = run.state;
  return {
    runId,
    limits,
    spentMs: Math.max(0, now - startedAt),
    warnings,
    verifyBaseline,
    calls: callsOf(run.events),
  };
}
