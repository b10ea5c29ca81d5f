/** Detects a model that goes round in circles: turns in a row with the same calls and the same results. */

import type { ToolCall } from './conversation.ts';
import { type ToolOutcome, wasInterrupted } from './tool.ts';

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
