/** Calls in the form of the Claude API: blocks of the type `tool_use`. */

import type { Conversation } from '../../../domain/conversation/conversation.ts';

/** The ids of all calls in the conversation. */
export function toolUseIds({ messages }: Conversation): ReadonlySet<string> {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  return new Set(
    blocks.flatMap(({ type, id }) => (type === 'tool_use' && typeof id === 'string' ? [id] : [])),
  );
}
