/** Tokens and money: what requests to the model have used up so far. */

import { addUsage, type LlmTurn, type Usage } from '../../conversation/conversation.ts';
import type { SpentTokens } from '../budget.ts';
import { costOf } from '../pricing.ts';
import { askedNow, type RunState } from '../state.ts';

/** Adds what a lost answer has used up, which counts like any other. */
export function withSpent<State extends Bill>(state: State, spent: SpentTokens | undefined): State {
  if (spent === undefined) return state;
  const { usage, estimated } = spent;
  return { ...charged(state, usage, state.model), isEstimated: state.isEstimated || estimated };
}

/** Adds the usage of a complete answer. */
export function withTurn<State extends Bill>(state: State, { usage, model, estimated }: LlmTurn): State {
  const isEstimated = state.isEstimated || estimated === true;
  return { ...charged(state, usage, model), isEstimated };
}

/** The same, billed to the model that is asked now, which may be the reviewer's. `turn` is its answer, if it gave one. */
export function withCharge(state: RunState, spent: SpentTokens | undefined, turn?: LlmTurn): RunState {
  const asked = { ...state, ...askedNow(state) };
  const { usage, costUsd, isEstimated } =
    turn === undefined ? withSpent(asked, spent) : withTurn(asked, turn);
  return { ...state, usage, costUsd, isEstimated };
}

/** Adds the usage of one answer of `model`. */
function charged<State extends Bill>(state: State, usage: Usage, model: string): State {
  const cost = costIn(state, usage, model);
  return {
    ...state,
    usage: addUsage(state.usage, usage),
    costUsd: state.costUsd === null || cost === null ? null : state.costUsd + cost,
  };
}

/** The known cost so far. */
type Bill = Pick<RunState, 'usage' | 'costUsd' | 'isEstimated' | 'price' | 'model'>;

/** The cost of a usage in USD; null if unknown. */
export function costIn(state: Bill, usage: Usage, model: string): number | null {
  // An endpoint may answer under another name; the requested model's price is known.
  return costOf(model, usage, state.price) ?? costOf(state.model, usage, state.price);
}
