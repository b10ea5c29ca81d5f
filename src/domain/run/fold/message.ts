/** A message becomes part of the conversation. */

import type { Message } from '../../conversation/conversation.ts';
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
