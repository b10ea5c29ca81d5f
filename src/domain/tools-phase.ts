/** The calls of one turn on their way: which are due, which are under way, which have an outcome. */

import type { CodeChange } from './change.ts';
import type { ToolCall } from './conversation.ts';
import type { ToolOutcome } from './tool.ts';

export interface ToolsPhase {
  readonly at: 'tools';
  readonly calls: readonly ToolCall[];
  /** The answer was cut off, so that no call of it may run. */
  readonly cutOff: boolean;
  readonly outcomes: ReadonlyMap<string, ToolOutcome>;
  /** Calls that have started and have no outcome yet, with the paths that are recorded as changed by them. */
  readonly underWay: ReadonlyMap<string, readonly string[]>;
  /** One of the calls that started last has an outcome, so that all they changed has been recorded. */
  readonly captured: boolean;
}

export function toolsDue(calls: readonly ToolCall[], cutOff: boolean): ToolsPhase {
  return { at: 'tools', calls, cutOff, outcomes: new Map(), underWay: new Map(), captured: false };
}

/** Calls without an outcome, in the order of the turn. */
export function callsDue(phase: ToolsPhase): ToolCall[] {
  return phase.calls.filter((call) => !phase.outcomes.has(call.id));
}

export function withStarted(phase: ToolsPhase, callId: string): ToolsPhase {
  return { ...phase, underWay: new Map(phase.underWay).set(callId, []), captured: false };
}

export function withChanges(phase: ToolsPhase, changes: readonly CodeChange[]): ToolsPhase {
  const underWay = new Map(phase.underWay);
  for (const { path, from, source } of changes) {
    const paths = from === undefined ? [path] : [from, path];
    for (const id of source.by === 'tool' ? source.calls : []) {
      const known = underWay.get(id);
      if (known) underWay.set(id, [...known, ...paths]);
    }
  }
  return { ...phase, underWay };
}

export function withOutcome(phase: ToolsPhase, callId: string, outcome: ToolOutcome): ToolsPhase {
  const underWay = new Map(phase.underWay);
  underWay.delete(callId);
  return { ...phase, outcomes: new Map(phase.outcomes).set(callId, outcome), underWay, captured: true };
}
