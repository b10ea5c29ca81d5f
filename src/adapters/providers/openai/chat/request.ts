/**
 * Turns a conversation into the body of a request for Chat Completions; a longer conversation starts with the
 * messages of a shorter one.
 */

import type { ContentBlock, Conversation, UserBlock } from '../../../../domain/conversation/conversation.ts';
import type { Image } from '../../../../domain/images/image.ts';
import { imageLabel } from '../../../../domain/images/shown.ts';
import type { ModelSettings } from '../../../../domain/run/model-settings.ts';
import type { Accommodation } from '../accommodation.ts';

/** Type of the one block of a turn: this API's answer is a message, kept as `message` and sent back as it is. */
export const CHAT_MESSAGE = 'chat_message';

/** A message as it goes over the wire. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly ChatCall[];
  readonly [field: string]: unknown;
}

/** A tool call as it goes over the wire. */
export interface ChatCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly [field: string]: unknown;
}

/** The body of the next request. */
export function chatRequest(
  { model, effort }: Pick<ModelSettings, 'effort'> & { readonly model: string },
  conversation: Conversation,
  maxTokens: number,
  { limitField, wantsUsage }: Accommodation,
): object {
  const { system, tools, messages } = conversation;
  return {
    model,
    [limitField]: maxTokens,
    ...(effort === null ? {} : { reasoning_effort: effort }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: inputSchema },
          })),
        }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...messages.flatMap((message) =>
        message.role === 'user' ? userMessages(message.content) : message.content.flatMap(sentBack),
      ),
    ],
    stream: true,
    ...(wantsUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

/** The ids of all calls in the conversation. */
export function chatCallIds({ messages }: Conversation): ReadonlySet<string> {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  return new Set(blocks.flatMap((block) => messageIn(block)?.tool_calls?.map(({ id }) => id) ?? []));
}

/** Only this provider writes such blocks, and the journal validates them as a whole. */
function messageIn({ type, message }: ContentBlock): ChatMessage | null {
  return type === CHAT_MESSAGE && typeof message === 'object' ? (message as ChatMessage | null) : null;
}

/** The API refuses an empty message. */
function sentBack(block: ContentBlock): ChatMessage[] {
  const message = messageIn(block);
  if (message === null) return [];
  const says = (message.content ?? '') !== '' || (message.refusal ?? '') !== '';
  return says || (message.tool_calls?.length ?? 0) > 0 ? [message] : [];
}

/**
 * Results first, in order: they have to follow their calls. They are text only, so their images follow in a user
 * message.
 */
function userMessages(blocks: readonly UserBlock[]): object[] {
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result'
      ? [{ role: 'tool', tool_call_id: block.callId, content: callOutput(block) }]
      : [],
  );
  const texts = blocks.flatMap((block) =>
    block.type === 'text' && block.text !== '' ? [{ role: 'user', content: block.text }] : [],
  );
  const parts = imageParts(blocks).map((part) =>
    part.type === 'text' ? part : { type: 'image_url', image_url: { url: part.url } },
  );
  return [...results, ...(parts.length > 0 ? [{ role: 'user', content: parts }] : []), ...texts];
}

/** The images of results as parts of a message, each below a line that says which call it belongs to. */
export function imageParts(
  blocks: readonly UserBlock[],
): ({ type: 'text'; text: string } | { type: 'image'; url: string })[] {
  return blocks.flatMap((block) => {
    const images = block.type === 'tool_result' ? (block.images ?? []) : [];
    if (block.type !== 'tool_result' || images.length === 0) return [];
    const shown = images.map((image) => ({ type: 'image' as const, url: dataUrl(image) }));
    return [{ type: 'text' as const, text: imageLabel(block.callId, images.length) }, ...shown];
  });
}

/** An image as a data URL. */
export function dataUrl({ mediaType, data }: Pick<Image, 'mediaType' | 'data'>): string {
  return `data:${mediaType};base64,${data}`;
}

/** The result of a call as text: these APIs have no field for failures. */
export function callOutput({ text, isError }: { readonly text: string; readonly isError: boolean }): string {
  const said = text === '' ? '(no output)' : text;
  return isError ? `Error: ${said}` : said;
}
