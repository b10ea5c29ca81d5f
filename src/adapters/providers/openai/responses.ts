/**
 * The Responses API: the body of a request, and one answer from the events of its stream. The server stores nothing: what the
 * model wrote, including its encrypted reasoning, is a list of items that is sent back unchanged.
 */

import * as z from 'zod';
import {
  ContentBlock,
  type Conversation,
  type ToolCall,
  type UserBlock,
} from '../../../domain/conversation/conversation.ts';
import type { AskingSettings } from '../asking/endpoint.ts';
import { NOTHING_SAID, saidIn } from '../asking/failures.ts';
import {
  type AnswerCount,
  broken,
  earlierIds,
  inputOf,
  MORE,
  NOTHING_REPORTED,
  type ReadEnd,
  type ReadStep,
  type ReportedTokens,
  type StreamReader,
} from '../asking/reader.ts';
import { type Accommodation, reportedIn, userParts } from './shared.ts';

/** The body of the next request. */
export function responsesRequest(
  { model, effort }: AskingSettings,
  { system, tools, messages }: Conversation,
  maxTokens: number,
  { wantsReasoning, imagesInResults }: Accommodation,
): object {
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: inputSchema,
    // The default would accept only a part of JSON Schema.
    strict: false,
  }));
  return {
    model,
    max_output_tokens: maxTokens,
    ...(effort === null ? {} : { reasoning: { effort } }),
    ...(wantsReasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(system === '' ? {} : { instructions: system }),
    ...(tools.length === 0 ? {} : { tools: functions }),
    input: messages.flatMap((message) =>
      message.role === 'user'
        ? userItems(message.content, imagesInResults)
        : message.content.filter(canGoBack),
    ),
    store: false,
    stream: true,
  };
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
  const { results, parts, texts } = userParts(blocks, imagesInResults);
  const content = parts.map((part) =>
    'url' in part ? inputImage(part.url) : { type: 'input_text', ...part },
  );
  return [
    ...results.map(({ callId, text, images }) => ({
      type: 'function_call_output',
      call_id: callId,
      output:
        imagesInResults && images.length > 0
          ? [...images.map(inputImage), { type: 'input_text', text }]
          : text,
    })),
    ...(content.length > 0 ? [{ role: 'user', content }] : []),
    ...texts,
  ];
}

function inputImage(url: string): object {
  return { type: 'input_image', detail: 'auto', image_url: url };
}

const StreamEvent = z.looseObject({ type: z.string() });
const ItemDone = z.looseObject({ output_index: z.int().nonnegative().max(10_000), item: ContentBlock });
const ResponseEnd = z.looseObject({
  model: z.string().nullish(),
  status: z.enum(['completed', 'incomplete']),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  output: z.array(ContentBlock).nullish(),
  usage: z.unknown().optional(),
});
const FunctionCall = z.looseObject({
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
});
const Part = z.looseObject({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() });
const MessageItem = z.looseObject({ content: z.array(Part) });

/** Takes the events of one stream in order. Items stay exactly as they came. */
export class ResponsesReader implements StreamReader {
  readonly count: AnswerCount;
  readonly #earlier: ReadonlySet<string>;
  readonly #items = new Map<number, ContentBlock>();
  #ended: z.infer<typeof ResponseEnd> | null = null;
  #itemBytes = 0;
  #pieceBytes = 0;

  constructor(conversation: Conversation, count: AnswerCount) {
    this.count = count;
    this.#earlier = earlierIds(conversation, ({ call_id: id }) => [id]);
  }

  add(given: object): ReadStep {
    const event = StreamEvent.safeParse(given).data;
    if (event === undefined) return broken('An event of the answer has an unknown form');
    switch (event.type) {
      case 'response.output_item.done':
        return this.#addItem(event);
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(event.response);
      case 'response.failed':
        this.count.report(usageIn(event.response), true);
        return { status: 'refused', said: saidIn(event.response) ?? NOTHING_SAID };
      default:
        return this.#addPiece(event);
    }
  }

  finish(): ReadEnd {
    if (this.#ended === null) return broken('The answer ended before it was complete');
    const { status, model, output, incomplete_details: details } = this.#ended;
    const streamed = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const content = output && output.length > 0 ? output : streamed;
    const calls = callsIn(content, this.#earlier);
    if (typeof calls === 'string') return broken(calls);
    const parts = content.flatMap((item) =>
      item.type === 'message' ? (MessageItem.safeParse(item).data?.content ?? []) : [],
    );
    const refusal = parts.map((part) => part.refusal ?? '').join('');
    const reason = details?.reason ?? 'none';
    const isFiltered = status === 'incomplete' && reason === 'content_filter';
    if (status === 'incomplete' && !isFiltered && reason !== 'max_output_tokens')
      return {
        status: 'unusable',
        why: `The answer is incomplete for the unknown reason ${JSON.stringify(reason)}`,
      };
    const whole = refusal !== '' ? 'refusal' : calls.length > 0 ? 'tool_use' : 'end_turn';
    return {
      status: 'ok',
      answer: {
        content,
        calls,
        stop: isFiltered ? 'refusal' : status === 'incomplete' ? 'max_tokens' : whole,
        stopDetail: refusal || (isFiltered ? reason : ''),
        text: parts.map(({ text }) => text ?? '').join(''),
        ...this.count.ofTurn,
        model: model ?? '',
      },
    };
  }

  #addItem(event: object): ReadStep {
    const done = ItemDone.safeParse(event);
    if (!done.success || this.#items.has(done.data.output_index))
      return broken('An item of the answer came out of order');
    this.#itemBytes += Buffer.byteLength(JSON.stringify(done.data.item));
    this.#countBytes();
    this.#items.set(done.data.output_index, done.data.item);
    return MORE;
  }

  /** Pieces and items have the same content. */
  #countBytes(): void {
    this.count.answerBytes = Math.max(this.#itemBytes, this.#pieceBytes);
  }

  #addPiece({ delta }: z.infer<typeof StreamEvent>): ReadStep {
    if (typeof delta !== 'string') return MORE;
    this.#pieceBytes += Buffer.byteLength(delta);
    this.#countBytes();
    return MORE;
  }

  #end(response: unknown): ReadStep {
    const ended = ResponseEnd.safeParse(response);
    if (!ended.success) return broken('The end of the answer has an unknown form');
    this.#ended = ended.data;
    this.count.report(usageIn(response), true);
    return { status: 'done' };
  }
}

/** All calls with their ids, or what is wrong with them. */
function callsIn(items: readonly ContentBlock[], earlier: ReadonlySet<string>): ToolCall[] | string {
  const ids = new Set(earlier);
  const calls: ToolCall[] = [];
  for (const item of items) {
    if (item.type !== 'function_call') continue;
    const call = FunctionCall.safeParse(item).data;
    if (call === undefined) return 'A tool call came without an id, a name or arguments';
    if (ids.has(call.call_id)) return `Two tool calls have the id ${call.call_id}`;
    ids.add(call.call_id);
    calls.push({ id: call.call_id, name: call.name, ...inputOf(call.arguments) });
  }
  return calls;
}

function usageIn(response: unknown): ReportedTokens {
  return typeof response === 'object' && response !== null && 'usage' in response
    ? reportedIn(response.usage)
    : NOTHING_REPORTED;
}
