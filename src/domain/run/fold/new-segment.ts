/** The state after a new segment has begun: compacted, or with the fallback model. */

import type { ContextCompacted } from '../../compaction/compaction.ts';
import { withNewSegment } from '../../compaction/fold.ts';
import { freshSegment } from '../../conversation/segments.ts';
import { type ModelReplaced, withReplacement } from '../../fallback/fallback.ts';
import { withWorker } from '../../findings/review.ts';
import type { RunState } from '../state.ts';
import { costIn, withTurn } from './bill.ts';

/** After a compaction. The state keeps everything but the messages that were dropped. */
export function afterCompaction(before: RunState, event: ContextCompacted): RunState {
  const { turn } = event;
  const state = turn === undefined ? before : withTurn(before, turn);
  const costUsd = turn === undefined ? 0 : costIn(before, turn.usage, turn.model);
  return {
    ...state,
    ...withNewSegment(state, event, { iteration: state.iterations, costUsd }),
    modelMs: state.modelMs + (turn?.durationMs ?? 0),
  };
}

/** After the fallback model has taken over. Its name and price are those that the run began with, whatever the event says. */
export function afterReplacement(state: RunState, event: ModelReplaced): RunState {
  const { compaction, fallback: to, review } = state;
  if (to === null) return state;
  return {
    ...state,
    conversation: freshSegment(state.conversation, event.text),
    phase: { at: 'model' },
    providerFailure: null,
    fallback: null,
    models: withReplacement(state.models, { ...event, to }),
    review: review && withWorker(review, to),
    model: to.model,
    price: to.price,
    counted: null,
    lastPromptTokens: 0,
    cutOffsInARow: 0,
    repeats: 0,
    lastTurnKey: '',
    // The known context window is that of the first model.
    compaction: {
      ...compaction,
      settings: { ...compaction.settings, at: to.compactAt ?? compaction.settings.at },
      ...{ base: null, notBelow: 0, isWindowFull: false, window: null },
    },
  };
}
