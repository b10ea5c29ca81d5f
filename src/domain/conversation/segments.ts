/**
 * The segments of a conversation. Within one segment requests only grow at their end; a new segment begins with the task, word
 * for word, and with a replacement for the dropped messages. Calls and their results stay together, since every cut is before a
 * turn of the model that follows a message of the runner.
 */

import type { ContentBlock, Conversation, Message, UserBlock } from './conversation.ts';

/** The places where a conversation can be cut: indices of the first message that stays, ascending. Empty while it awaits nothing of the model. */
export function cutsOf(conversation: Conversation): number[] {
  const { messages } = conversation;
  if (messages.at(-1)?.role !== 'user') return [];
  const first = headLength(conversation) + 1;
  return messages.flatMap((message, index) =>
    index >= first && message.role === 'assistant' && messages[index - 1]?.role === 'user' ? [index] : [],
  );
}

/** The last cut that keeps at least this many messages, or null. */
export function cutKeepingAtLeast(conversation: Conversation, least: number): number | null {
  const { length } = conversation.messages;
  return cutsOf(conversation).findLast((cut) => length - cut >= least) ?? null;
}

/** The first cut that keeps at most this many messages, otherwise the last one; null if there is none. */
export function cutKeepingAtMost(conversation: Conversation, most: number): number | null {
  const { length } = conversation.messages;
  const cuts = cutsOf(conversation);
  return cuts.find((cut) => length - cut <= most) ?? cuts.at(-1) ?? null;
}

/** The messages before a cut as a separate request that ends with `text`. It begins like earlier requests. */
export function requestBefore(conversation: Conversation, cut: number, text: string | null): Conversation {
  const messages = conversation.messages.slice(0, cut);
  return { ...conversation, messages: text === null ? messages : withText(messages, [asText(text)]) };
}

/**
 * The segment after a summary by the model: task, summary, and the kept messages without the thinking blocks that were bound to
 * dropped ones.
 */
export function summarizedSegment(conversation: Conversation, cut: number, text: string): Conversation {
  const { task, messages } = conversation;
  const summary = { by: 'runner', text } as const;
  return anew(conversation, summary, [
    { role: 'user', content: [...task, asText(text)] },
    ...withoutThoughts(messages.slice(cut)),
  ]);
}

/**
 * The segment after a compaction by the API: its block comes first, followed by the kept messages, unchanged and with thinking
 * blocks. The task is repeated at the end, below `text`.
 */
export function compactedSegment(
  conversation: Conversation,
  cut: number,
  block: ContentBlock,
  text: string,
): Conversation {
  const { task, messages } = conversation;
  const last = messages.slice(cut);
  const kept = hasTask(last, task) ? last : withText(last, [asText(text), ...task]);
  return anew(conversation, { by: 'api', block }, [{ role: 'assistant', content: [block] }, ...kept]);
}

/** The segment after messages were dropped unread. The summary of earlier ones stays; `text` says what happened. */
export function cutSegment(conversation: Conversation, cut: number, text: string): Conversation {
  const { task, messages, summary } = conversation;
  const kept = withoutThoughts(messages.slice(cut));
  const first = hasTask(kept, task) ? [] : task;
  const head = (...more: UserBlock[]): Message => ({
    role: 'user',
    content: [...first, ...more, asText(text)],
  });
  switch (summary?.by) {
    case undefined:
      return anew(conversation, null, [head(), ...kept]);
    case 'runner':
      return anew(conversation, summary, [head(asText(summary.text)), ...kept]);
    case 'api':
      return anew(conversation, summary, [{ role: 'assistant', content: [summary.block] }, head(), ...kept]);
  }
}

/**
 * The segment of another model: the task, and a replacement for everything said since. It contains nothing that the first model
 * wrote.
 */
export function freshSegment(conversation: Conversation, text: string): Conversation {
  return anew(conversation, null, [{ role: 'user', content: [...conversation.task, asText(text)] }]);
}

/** Ids of the calls whose results the model can still read. */
export function answeredCalls({ messages }: Conversation): ReadonlySet<string> {
  return new Set(
    messages.flatMap((message) =>
      message.role === 'user'
        ? message.content.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : []))
        : [],
    ),
  );
}

/**
 * Turns of the model without the blocks that are bound to everything before them. Encrypted reasoning of other APIs is bound to
 * nothing, and stays.
 */
function withoutThoughts(messages: readonly Message[]): Message[] {
  return messages.map((message) =>
    message.role === 'user'
      ? message
      : { ...message, content: message.content.filter(({ type }) => !THOUGHTS.includes(type)) },
  );
}

const THOUGHTS = ['thinking', 'redacted_thinking'];

/** After a compaction by the API it is not in the first message. */
function hasTask(messages: readonly Message[], [first]: readonly UserBlock[]): boolean {
  return messages.some(({ role, content }) => role === 'user' && content.some((block) => block === first));
}

/** Number of messages for the task and in place of dropped messages. */
function headLength({ messages, summary }: Conversation): number {
  return summary?.by === 'api' && messages[1]?.role === 'user' ? 2 : 1;
}

function anew(
  conversation: Conversation,
  summary: Conversation['summary'],
  messages: readonly Message[],
): Conversation {
  return { ...conversation, segment: conversation.segment + 1, summary, messages };
}

/** Adds blocks to the last message, which is the runner's. */
function withText(messages: readonly Message[], blocks: readonly UserBlock[]): Message[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: blocks }];
  return [...messages.slice(0, -1), { role: 'user', content: [...last.content, ...blocks] }];
}

function asText(text: string): UserBlock {
  return { type: 'text', text };
}
