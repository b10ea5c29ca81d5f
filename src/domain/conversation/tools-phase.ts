/** The calls of one turn in progress: which are due, running, or have an outcome; and whether turns repeat each other. */

import type { CodeChange } from '../changes/change.ts';
import type { ToolCall } from './conversation.ts';
import { type ToolOutcome, wasInterrupted } from './tool.ts';

/** Maximum number of calls of one turn that are run. The rest are answered as failed: no model needs that many at a time. */
export const MAX_CALLS_IN_A_TURN = 128;

/** The calls of a turn while they are carried out. */
export interface ToolsPhase {
  readonly at: 'tools';
  readonly calls: readonly ToolCall[];
  /** Number of distinct call ids: a recording may contain one twice. */
  readonly distinct: number;
  /** The answer was cut off, so none of its calls may run. */
  readonly cutOff: boolean;
  /** The last outcome; null before the first. */
  readonly outcomes: Answered | null;
  /** Calls that have started and have no outcome yet, each with the paths recorded as changed by it. */
  readonly underWay: ReadonlyMap<string, readonly string[]>;
  /** One of the calls started last has an outcome, so everything they changed has been recorded. */
  readonly captured: boolean;
}

/**
 * An outcome and the ones before it. Each event has its own phase, and copying a list for each of thousands of calls
 * would take minutes.
 */
interface Answered {
  readonly call: string;
  readonly outcome: ToolOutcome;
  readonly before: Answered | null;
  /** Number of outcomes up to here. */
  readonly count: number;
}

/** The phase before the first call of a turn. */
export function toolsDue(calls: readonly ToolCall[], cutOff: boolean): ToolsPhase {
  const distinct = new Set(calls.map(({ id }) => id)).size;
  return { at: 'tools', calls, distinct, cutOff, outcomes: null, underWay: new Map(), captured: false };
}

/** Calls without an outcome, in the order of the turn. */
export function callsDue(phase: ToolsPhase): ToolCall[] {
  const outcomes = outcomesOf(phase);
  return phase.calls.filter((call) => !outcomes.has(call.id));
}

/** Those of the calls due that exceed the maximum of their turn, regardless of which others already have an outcome. */
export function callsTooMany({ calls }: ToolsPhase, due: readonly ToolCall[]): ReadonlySet<ToolCall> {
  const excess = new Set(calls.slice(MAX_CALLS_IN_A_TURN));
  return new Set(due.filter((call) => excess.has(call)));
}

/** The outcomes so far, by the ids of their calls. */
export function outcomesOf({ outcomes }: ToolsPhase): Map<string, ToolOutcome> {
  const latestFirst: [string, ToolOutcome][] = [];
  for (let one = outcomes; one !== null; one = one.before) latestFirst.push([one.call, one.outcome]);
  return new Map(latestFirst.reverse());
}

/** Whether every call has an outcome. Returns false quickly while there are fewer outcomes than calls. */
export function areAllAnswered(phase: ToolsPhase): boolean {
  return (phase.outcomes?.count ?? 0) >= phase.distinct && callsDue(phase).length === 0;
}

/** The phase after a call has started. */
export function withStarted(phase: ToolsPhase, callId: string): ToolsPhase {
  return { ...phase, underWay: new Map(phase.underWay).set(callId, []), captured: false };
}

/** The phase after changes by running calls were recorded. */
export function withChanges(phase: ToolsPhase, changes: readonly CodeChange[]): ToolsPhase {
  const paths = new Map<string, string[]>();
  for (const { path, from, source, excluded } of changes) {
    // A call that is known to have changed something has been looked at in full, which this does not show.
    if (excluded !== undefined) continue;
    for (const id of source.by === 'tool' ? source.calls : []) {
      const known = paths.get(id) ?? [];
      known.push(...(from === undefined ? [path] : [from, path]));
      paths.set(id, known);
    }
  }
  const underWay = new Map(phase.underWay);
  for (const [id, more] of paths) {
    const known = underWay.get(id);
    if (known) underWay.set(id, [...known, ...more]);
  }
  return { ...phase, underWay };
}

/** The phase after a call has ended. */
export function withOutcome(phase: ToolsPhase, callId: string, outcome: ToolOutcome): ToolsPhase {
  const underWay = new Map(phase.underWay);
  underWay.delete(callId);
  const before = phase.outcomes;
  const outcomes = { call: callId, outcome, before, count: (before?.count ?? 0) + 1 };
  return { ...phase, outcomes, underWay, captured: true };
}

/** What shows that the model is repeating itself. */
export interface Repeats {
  /** How many times in a row the last turn's calls and results have been seen; 0 after a turn that does not count. */
  readonly repeats: number;
  /** Identifies a turn by calls and results; empty before the first, and after one that does not count. */
  readonly lastTurnKey: string;
}

/**
 * The count after one more turn. An interrupted call has no result, so the model has to make it again: that is no stall,
 * however often the run was killed. A refusal is a result, and repeating the request leads nowhere.
 */
export function afterOneMoreTurn(
  { repeats, lastTurnKey }: Repeats,
  calls: readonly ToolCall[],
  outcomes: ReadonlyMap<string, ToolOutcome>,
): Repeats {
  if ([...outcomes.values()].some(wasInterrupted)) return { repeats: 0, lastTurnKey: '' };
  const asked = calls.map((call) => [call.name, call.input]);
  const key = JSON.stringify([asked, calls.map((call) => outcomes.get(call.id)?.text ?? '')]);
  return { lastTurnKey: key, repeats: key === lastTurnKey ? repeats + 1 : 1 };
}
