/**
 * Turns a conversation into the body of a request: the same conversation gives the same bytes, and a longer one starts with
 * the bytes of the shorter. Only cache breakpoints move.
 */

import type { Conversation, Message, UserBlock } from '../../../domain/conversation/conversation.ts';
import type { TurnRequest } from '../../../ports.ts';
import type { AskingSettings } from '../asking/endpoint.ts';

type WireBlock = { type: string; [field: string]: unknown };

interface WireMessage {
  role: 'user' | 'assistant';
  content: WireBlock[];
}

/** The body of the next request. The same conversation gives the same bytes, which keeps the cache valid. */
export function requestBody(
  { model, effort }: AskingSettings,
  conversation: Conversation,
  maxTokens: number,
  purpose?: TurnRequest['purpose'],
): object {
  const tools = conversation.tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  return {
    model,
    max_tokens: maxTokens,
    ...(effort === null ? {} : { output_config: { effort } }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(conversation.system === ''
      ? {}
      : { system: [{ type: 'text', text: conversation.system, cache_control: { type: 'ephemeral' } }] }),
    messages: withBreakpoints(wireMessages(conversation.messages)),
    ...(purpose === 'compaction' ? { compaction: { type: 'summarize' } } : {}),
    stream: true,
  };
}

/** The header for beta features that the request uses; empty if there are none. */
export function betaHeaders(
  { summary }: Conversation,
  purpose: TurnRequest['purpose'],
): Readonly<Record<string, string>> {
  return purpose === 'compaction' || summary?.by === 'api' ? { 'anthropic-beta': 'compact-2026-09-04' } : {};
}

/**
 * Merges adjacent messages of one role, as the API does itself: a paused turn and its continuation are one assistant
 * message, and an empty answer leaves the user's messages next to each other.
 */
function wireMessages(messages: readonly Message[]): WireMessage[] {
  const wire: WireMessage[] = [];
  for (const message of messages) {
    const content = message.role === 'user' ? userBlocks(message.content) : message.content.filter(canGoBack);
    const last = wire.at(-1);
    if (content.length === 0) continue;
    // The API's summary is a separate message, and comes first.
    if (last?.role === message.role && last.content[0]?.type !== 'compaction') last.content.push(...content);
    else wire.push({ role: message.role, content: [...content] });
  }
  return wire;
}

/**
 * The API refuses two kinds of blocks that it sends itself: empty text, and thinking that was cut off before its signature.
 * Thinking blocks with empty text are signed, and are kept.
 */
function canGoBack(block: WireBlock): boolean {
  if (block.type === 'text') return block.text !== '';
  return block.type !== 'thinking' || Boolean(block.signature);
}

/** Results first, in order: the API accepts text only after all of them. */
function userBlocks(blocks: readonly UserBlock[]): WireBlock[] {
  const results: WireBlock[] = [];
  const texts: WireBlock[] = [];
  for (const block of blocks) {
    if (block.type === 'text') {
      if (block.text !== '') texts.push({ type: 'text', text: block.text });
      continue;
    }
    results.push({
      type: 'tool_result',
      tool_use_id: block.callId,
      content: resultContent(block),
      ...(block.isError ? { is_error: true } : {}),
    });
  }
  return [...results, ...texts];
}

/** Images come before the text that belongs to them. */
function resultContent({
  text,
  images = [],
}: Extract<UserBlock, { type: 'tool_result' }>): string | WireBlock[] {
  const said = text === '' ? '(no output)' : text;
  if (images.length === 0) return said;
  const shown = images.map(({ mediaType, data }) => ({
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data },
  }));
  return [...shown, { type: 'text', text: said }];
}

/**
 * Breakpoints at the end of the last two user messages; a third is on the system prompt.
 *
 * The earlier one is where the last request wrote its entry, so it is found directly, no matter how many blocks the
 * turn in between has: the API looks back only 20 blocks from a breakpoint. The later one writes what is new.
 */
function withBreakpoints(messages: WireMessage[]): WireMessage[] {
  const ends = messages.filter((message) => message.role === 'user').slice(-2);
  return messages.map((message) =>
    ends.includes(message)
      ? {
          ...message,
          content: message.content.map((block, index) =>
            index === message.content.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
          ),
        }
      : message,
  );
}
