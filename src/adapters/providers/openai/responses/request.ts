/**
 * Turns a conversation into the body of a request for the Responses API. The server stores nothing: what the model
 * wrote, including its encrypted reasoning, is a list of items that is sent back unchanged.
 */

import type { ContentBlock, Conversation, UserBlock } from '../../../../domain/conversation/conversation.ts';
import type { ModelSettings } from '../../../../domain/run/model-settings.ts';
import type { Accommodation } from '../accommodation.ts';
import { callOutput, dataUrl, imageParts } from '../chat/request.ts';

type ReasoningSettings = Pick<ModelSettings, 'effort' | 'showThinking'> & { readonly model: string };

/** The body of the next request. */
export function responsesRequest(
  { model, effort, showThinking }: ReasoningSettings,
  { system, tools, messages }: Conversation,
  maxTokens: number,
  { wantsReasoning, imagesInResults }: Accommodation,
): object {
  const reasoning = {
    ...(effort === null ? {} : { effort }),
    ...(showThinking && wantsReasoning ? { summary: 'auto' } : {}),
  };
  return {
    model,
    max_output_tokens: maxTokens,
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    ...(wantsReasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(system === '' ? {} : { instructions: system }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            name,
            description,
            parameters: inputSchema,
            // The default would accept only a part of JSON Schema.
            strict: false,
          })),
        }),
    input: messages.flatMap((message) =>
      message.role === 'user'
        ? userItems(message.content, imagesInResults)
        : message.content.filter(canGoBack),
    ),
    store: false,
    stream: true,
  };
}

/** The ids of all calls in the conversation. */
export function responsesCallIds({ messages }: Conversation): ReadonlySet<string> {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  return new Set(blocks.flatMap(({ call_id: id }) => (typeof id === 'string' ? [id] : [])));
}

/**
 * The server refuses reasoning without its encrypted content, the only form it can read, and without the item that it
 * led to, which is missing if an answer was cut off.
 */
function canGoBack(item: ContentBlock, index: number, items: readonly ContentBlock[]): boolean {
  if (item.type !== 'reasoning') return true;
  const isLedSomewhere = items.slice(index + 1).some(({ type }) => type !== 'reasoning');
  return isLedSomewhere && typeof item.encrypted_content === 'string' && item.encrypted_content !== '';
}

/** OpenAI accepts images in a result. Other servers silently ignore them there, so they get them in a user message. */
function userItems(blocks: readonly UserBlock[], imagesInResults: boolean): object[] {
  const results = blocks.flatMap((block) => {
    if (block.type !== 'tool_result') return [];
    const { images = [], callId } = block;
    const text = callOutput(block);
    const shown = imagesInResults ? images.map((image) => inputImage(dataUrl(image))) : [];
    const output = shown.length === 0 ? text : [...shown, { type: 'input_text', text }];
    return [{ type: 'function_call_output', call_id: callId, output }];
  });
  const parts = imagesInResults
    ? []
    : imageParts(blocks).map((part) =>
        part.type === 'text' ? { type: 'input_text', text: part.text } : inputImage(part.url),
      );
  const texts = blocks.flatMap((block) =>
    block.type === 'text' && block.text !== '' ? [{ role: 'user', content: block.text }] : [],
  );
  return [...results, ...(parts.length > 0 ? [{ role: 'user', content: parts }] : []), ...texts];
}

function inputImage(url: string): object {
  return { type: 'input_image', detail: 'auto', image_url: url };
}
