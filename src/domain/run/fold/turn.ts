/** After a request to the model, with or without an answer. */

import { conversationTokens } from '../../budget/next-request.ts';
import { canBeCut } from '../../compaction/due.ts';
import { withAnswer, withFullWindow } from '../../compaction/fold.ts';
import { withAliases } from '../../conversation/alias-counts.ts';
import { type LlmTurn, totalTokens } from '../../conversation/conversation.ts';
import { toolsDue } from '../../conversation/tools-phase.ts';
import { speaksOfImages, withoutLastImages } from '../../images/shown.ts';
import type { ProviderFailureKind } from '../limits.ts';
import type { RunState } from '../state.ts';
import { withTurn } from './bill.ts';
import { workDone } from './finished-work.ts';
import { withMessage } from './message.ts';

/** The state after an answer, which decides what is due next. */
export function afterTurn(before: RunState, turn: LlmTurn): RunState {
  const charge = withTurn(before, turn);
  const tokens = totalTokens(turn.usage);
  // If there was no room for an answer, it is requested again in a shorter conversation.
  if (turn.stop === 'context_window' && canBeCut(before.conversation, before.compaction))
    return {
      ...charge,
      iterations: before.iterations + 1,
      modelMs: before.modelMs + turn.durationMs,
      compaction: withFullWindow(before.compaction, conversationTokens(before)),
    };
  const answered = withMessage(charge, { role: 'assistant', content: turn.content });
  const isCounted = tokens > 0 && turn.estimated !== true;
  const counted = isCounted ? { tokens, messages: answered.conversation.messages.length } : before.counted;
  const state: RunState = {
    ...answered,
    // If the provider counts nothing, everything is estimated.
    counted,
    compaction: withAnswer(before.compaction, () => conversationTokens({ ...answered, counted })),
    lastTurn: before.lastTurn && { ...before.lastTurn, isAnswered: true },
    iterations: before.iterations + 1,
    lastPromptTokens: tokens - turn.usage.output,
    aliases: withAliases(before.aliases, turn.calls),
    modelMs: before.modelMs + turn.durationMs,
    cutOffsInARow: turn.stop === 'max_tokens' ? before.cutOffsInARow + 1 : 0,
  };
  if (turn.stop === 'refusal')
    return { ...state, phase: { at: 'ended', how: 'refused', summary: turn.stopDetail } };
  // A full conversation has no room for the answers to its calls.
  if (turn.stop === 'context_window')
    return { ...state, phase: { at: 'ended', how: 'context_full', summary: '' } };
  if (turn.calls.length > 0) {
    // Only a turn that stopped for its tools has confirmed its calls; any other may have been cut inside one.
    const cutOff = turn.stop !== 'tool_use';
    return { ...state, phase: toolsDue(turn.calls, cutOff) };
  }
  switch (turn.stop) {
    case 'max_tokens':
      return { ...state, phase: { at: 'continue' } };
    case 'pause_turn':
    case 'tool_use':
    case 'compaction':
      return { ...state, phase: { at: 'model' } };
    case 'end_turn':
      // At a cap only the word `done` counts: any other text may say what is missing.
      if (state.lastTurn !== null) return { ...state, phase: { at: 'model' } };
      return { ...state, phase: state.wantsAnswer ? { at: 'unanswered' } : workDone(state, turn.text) };
  }
}

/** After a request that failed for good. */
export function afterFailedTurn(state: RunState, kind: ProviderFailureKind, message: string): RunState {
  const { conversation, compaction } = state;
  const isAboutImages = kind === 'too_large' || (kind === 'invalid_request' && speaksOfImages(message));
  const without = isAboutImages ? withoutLastImages(conversation, IMAGE_REFUSED) : null;
  if (without !== null) return { ...state, conversation: without };
  if (kind !== 'too_large' || !canBeCut(conversation, compaction))
    return { ...state, providerFailure: { kind, message } };
  return { ...state, compaction: withFullWindow(compaction, conversationTokens(state)) };
}

/** Images that came with a refused request are taken back, so that a broken one does not end the run. */
const IMAGE_REFUSED = '[Not shown after all: the API of this model does not accept it.]';
