/** Chat Completions: the body of a request, and one answer from the chunks of its stream. */

import * as z from 'zod';
import type {
  ContentBlock,
  Conversation,
  ToolCall,
  TurnStop,
  UserBlock,
} from '../../../domain/conversation/conversation.ts';
import type { AskingSettings } from '../asking/endpoint.ts';
import {
  type AnswerCount,
  broken,
  earlierIds,
  extend,
  inputOf,
  MORE,
  type ReadEnd,
  type ReadStep,
  readChunk,
  type StreamReader,
  uniqueId,
  unknownEnd,
  writtenBytes,
} from '../asking/reader.ts';
import { type Accommodation, reportedIn, userParts } from './shared.ts';

/** Type of the one block of a turn: this API's answer is a message, kept as `message` and sent back as it is. */
export const CHAT_MESSAGE = 'chat_message';

interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly ChatCall[];
  readonly [field: string]: unknown;
}

interface ChatCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly [field: string]: unknown;
}

/** The body of the next request; a longer conversation starts with the messages of a shorter one. */
export function chatRequest(
  { model, effort }: AskingSettings,
  { system, tools, messages }: Conversation,
  maxTokens: number,
  { limitField, wantsUsage }: Accommodation,
): object {
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
  return {
    model,
    [limitField]: maxTokens,
    ...(effort === null ? {} : { reasoning_effort: effort }),
    ...(tools.length === 0 ? {} : { tools: functions }),
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

/** Only this provider writes such blocks, and the journal validates them as a whole. */
function messageIn({ type, message }: Readonly<Record<string, unknown>>): ChatMessage | null {
  return type === CHAT_MESSAGE && typeof message === 'object' ? (message as ChatMessage | null) : null;
}

/** The API refuses an empty message. */
function sentBack(block: ContentBlock): ChatMessage[] {
  const message = messageIn(block);
  if (message === null) return [];
  const isEmpty = !message.content && !message.refusal && !message.tool_calls?.length;
  return isEmpty ? [] : [message];
}

/**
 * Results first, in order: they have to follow their calls. They are text only, so their images follow in a user
 * message.
 */
function userMessages(blocks: readonly UserBlock[]): object[] {
  const { results, parts, texts } = userParts(blocks, false);
  const content = parts.map((part) =>
    'url' in part ? { type: 'image_url', image_url: part } : { type: 'text', ...part },
  );
  return [
    ...results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text })),
    ...(content.length > 0 ? [{ role: 'user', content }] : []),
    ...texts,
  ];
}

const CallDelta = z.looseObject({
  index: z.int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const Delta = z.looseObject({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(CallDelta).nullish(),
});
const Chunk = z.looseObject({
  model: z.string().nullish(),
  choices: z.array(z.looseObject({ delta: Delta.nullish(), finish_reason: z.string().nullish() })).nullish(),
  usage: z.unknown().optional(),
});

interface OpenCall {
  readonly index: number | null;
  id: string;
  name: string;
  json: string;
  /** Fields that this program does not know, such as a signature of the thoughts before the call. */
  readonly others: Record<string, unknown>;
}

/** More than any model calls in one turn. */
const MAX_CALLS = 1_000;

const STOPS: ReadonlyMap<string, TurnStop> = new Map([
  ['stop', 'end_turn'],
  ['eos', 'end_turn'],
  ['tool_calls', 'tool_use'],
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
]);

/** Takes the chunks of one stream in order. */
export class ChatReader implements StreamReader {
  readonly count: AnswerCount;
  readonly #ids: Set<string>;
  readonly #calls: OpenCall[] = [];
  readonly #others: Record<string, unknown> = {};
  #text = '';
  #refusal = '';
  #finish: string | null = null;
  #model = '';

  constructor(conversation: Conversation, count: AnswerCount) {
    this.count = count;
    this.#ids = earlierIds(conversation, (block) => messageIn(block)?.tool_calls?.map(({ id }) => id) ?? []);
  }

  add(event: object): ReadStep {
    const read = readChunk(Chunk, event);
    if (read.status !== 'ok') return read;
    const { model, choices, usage } = read.chunk;
    this.#model ||= model ?? '';
    const [choice] = choices ?? [];
    if (choice?.finish_reason) this.#finish = choice.finish_reason;
    // Some servers report with every chunk.
    this.count.report(reportedIn(usage), this.#finish !== null);
    if (!choice?.delta) return MORE;
    const { content, refusal, tool_calls: calls, role: _, ...others } = choice.delta;
    const called = (calls ?? []).flatMap((call) => [call.function?.name, call.function?.arguments]);
    this.count.answerBytes += writtenBytes([content, refusal, ...called, ...Object.values(others)]);
    if (this.#calls.length > MAX_CALLS) return broken('The answer has too many tool calls');
    this.#text += content ?? '';
    this.#refusal += refusal ?? '';
    for (const call of calls ?? []) this.#extendCall(call);
    extend(this.#others, filled(others));
    return MORE;
  }

  finish(): ReadEnd {
    if (this.#finish === null) return broken('The answer ended before it was complete');
    const stop = STOPS.get(this.#finish);
    if (stop === undefined) return unknownEnd('finish reason', this.#finish);
    if (this.#calls.some(({ name }) => name === '')) return broken('A tool call came without a name');
    if (stop === 'tool_use' && this.#calls.length === 0)
      return broken('The answer stopped for tools but calls none');
    const calls = this.#calls.map((call) => wholeCall(call, this.#ids));
    const message: ChatMessage = {
      role: 'assistant',
      content: this.#text === '' && calls.length > 0 ? null : this.#text,
      ...(this.#refusal === '' ? {} : { refusal: this.#refusal }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(({ wire }) => wire) }),
      ...this.#others,
    };
    const isRefusal = stop === 'refusal' || this.#refusal !== '';
    return {
      status: 'ok',
      answer: {
        content: [{ type: CHAT_MESSAGE, message }],
        // Some servers say `stop` where they wait for results.
        stop: isRefusal ? 'refusal' : stop === 'end_turn' && calls.length > 0 ? 'tool_use' : stop,
        stopDetail: isRefusal ? this.#refusal || this.#finish : '',
        calls: calls.map(({ call }) => call),
        text: this.#text,
        ...this.count.ofTurn,
        model: this.#model,
      },
    };
  }

  /** Some servers leave out the index, and send each call in one piece with its id. */
  #extendCall({ index = null, id, function: called, type: _, ...others }: z.infer<typeof CallDelta>): void {
    const found =
      index === null ? (id ? undefined : this.#calls.at(-1)) : this.#calls.find((one) => one.index === index);
    const call = found ?? { index, id: '', name: '', json: '', others: {} };
    if (found === undefined) this.#calls.push(call);
    call.id ||= id ?? '';
    call.name ||= called?.name ?? '';
    call.json += called?.arguments ?? '';
    extend(call.others, filled(others));
  }
}

/** Some servers send every field with every piece. */
function filled(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== ''));
}

/** The call as the program and as the API know it. Servers that fill in a template refuse arguments that are not JSON. */
function wholeCall(open: OpenCall, ids: Set<string>): { call: ToolCall; wire: ChatCall } {
  const { name, json, others } = open;
  const id = uniqueId(open.id, ids);
  const input = inputOf(json);
  const written = input.malformed === undefined && json.trim() !== '' ? json : '{}';
  return {
    call: { id, name, ...input },
    wire: { id, type: 'function', function: { name, arguments: written }, ...others },
  };
}
