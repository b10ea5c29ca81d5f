/** A message becomes part of the conversation, which waits for the model then. */

import type { Message } from '../../conversation/conversation.ts';
import type { RunEvent } from '../events.ts';
import type { RunState } from '../state.ts';

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
