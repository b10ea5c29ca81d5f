/** Messages and answers of the model: they become part of the conversation, and decide what is due next. */

import { conversationTokens } from '../../budget/next-request.ts';
import { canBeCut, withAnswer, withFullWindow } from '../../compaction/due.ts';
import { type LlmTurn, type Message, totalTokens } from '../../conversation/conversation.ts';
import { toolsDue } from '../../conversation/tools-phase.ts';
import { speaksOfImages, withoutLastImages } from '../../images/shown.ts';
import type { RunEvent } from '../events.ts';
import type { ProviderFailureKind } from '../limits.ts';
import type { RunState } from '../state.ts';
import { withTurn } from './bill.ts';
import { workDone } from './finished-work.ts';

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

/** Appends a message; what the runner adds before the model has answered is merged into the unsent message. */
export function withMessage(state: RunState, message: Message): RunState {
  const { conversation } = state;
  const last = conversation.messages.at(-1);
  const messages =
    last?.role === 'user' && message.role === 'user'
      ? [
          ...conversation.messages.slice(0, -1),
          { role: 'user' as const, content: [...last.content, ...message.content] },
        ]
      : [...conversation.messages, message];
  return { ...state, conversation: { ...conversation, messages } };
}

/** After a message of the runner: it answers what failed, or what a review objected to. */
export function afterMessage(state: RunState, text: string): RunState {
  const { phase, review, fixRoundsUsed } = state;
  return {
    ...withMessage(state, { role: 'user', content: [{ type: 'text', text }] }),
    phase: { at: 'model' },
    fixRoundsUsed: fixRoundsUsed + (phase.at === 'fix' ? 1 : 0),
    review: phase.at === 'objections' ? review && { ...review, sentBack: true } : review,
  };
}

/** After the run has come to a cap: one more answer fits. */
export function afterCap(
  state: RunState,
  { limit, value, used, needed, text }: Extract<RunEvent, { type: 'budget.reached' }>,
): RunState {
  return {
    ...withMessage(state, { role: 'user', content: [{ type: 'text', text }] }),
    phase: { at: 'model' },
    lastTurn: { cap: { limit, value, used, needed }, isAnswered: false },
  };
}
