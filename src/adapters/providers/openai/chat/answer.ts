/** Builds one answer of Chat Completions from the chunks of a stream. */

import * as z from 'zod';
import type { ToolCall, TurnStop } from '../../../../domain/conversation/conversation.ts';
import { MAX_CONTENT_BYTES } from '../../asking/answer.ts';
import { readChunk } from '../../asking/chunk.ts';
import { AnswerCount } from '../../asking/counted.ts';
import type { ReadEnd, ReadStep, StreamReader } from '../../asking/stream-attempt.ts';
import { parseInput } from '../../asking/tool-input.ts';
import { reportedIn } from '../usage.ts';
import { CHAT_MESSAGE, type ChatCall, type ChatMessage } from './request.ts';

const CallDelta = z.looseObject({
  index: z.int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
type CallDelta = z.infer<typeof CallDelta>;
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

/** Takes the chunks of one stream in order. `earlier` are the ids of calls that the conversation already has. */
export class ChatReader implements StreamReader {
  readonly count: AnswerCount;
  readonly #earlier: ReadonlySet<string>;
  readonly #calls: OpenCall[] = [];
  readonly #others: Record<string, unknown> = {};
  #text = '';
  #refusal = '';
  #finish: string | null = null;
  #model: string | null = null;
  #bytes = 0;

  constructor(requestBytes: number, earlier: ReadonlySet<string>) {
    this.count = new AnswerCount(() => requestBytes);
    this.#earlier = earlier;
  }

  add(event: object): ReadStep {
    const read = readChunk(Chunk, event);
    if (read.status !== 'ok') return read;
    const { model, choices, usage } = read.chunk;
    this.#model ??= model ?? null;
    const [choice] = choices ?? [];
    if (choice?.finish_reason) this.#finish = choice.finish_reason;
    // Some servers report with every chunk.
    this.count.report(reportedIn(usage), this.#finish !== null);
    if (!choice?.delta) return { status: 'more', text: '' };
    this.#bytes += Buffer.byteLength(JSON.stringify(choice.delta));
    this.count.answerBytes += writtenBytes(choice.delta);
    // Each piece is wrapped in names of fields, several times its own size.
    if (this.#bytes > 8 * MAX_CONTENT_BYTES || this.#calls.length > MAX_CALLS) return { status: 'too_large' };
    const { content, refusal, tool_calls: calls, role: _, ...others } = choice.delta;
    this.#text += content ?? '';
    this.#refusal += refusal ?? '';
    for (const call of calls ?? []) this.#extendCall(call);
    extend(this.#others, others);
    return { status: 'more', text: `${content ?? ''}${refusal ?? ''}` };
  }

  finish(): ReadEnd {
    if (this.#finish === null) return { status: 'broken', why: 'The answer ended before it was complete' };
    const stop = STOPS.get(this.#finish);
    if (stop === undefined) {
      const why = `The answer ended with the unknown finish reason ${JSON.stringify(this.#finish)}`;
      return { status: 'unusable', why };
    }
    if (this.#calls.some(({ name }) => name === ''))
      return { status: 'broken', why: 'A tool call came without a name' };
    if (stop === 'tool_use' && this.#calls.length === 0)
      return { status: 'broken', why: 'The answer stopped for tools but calls none' };
    const ids = new Set(this.#earlier);
    const calls = this.#calls.map((call) => wholeCall(call, ids));
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
        model: this.#model ?? '',
      },
    };
  }

  /** Some servers leave out the index, and send each call in one piece with its id. */
  #extendCall({ index = null, id, function: called, type: _, ...others }: CallDelta): void {
    const isNew = index === null ? Boolean(id) || this.#calls.length === 0 : undefined;
    const found =
      isNew === undefined
        ? this.#calls.find((call) => call.index === index)
        : isNew
          ? undefined
          : this.#calls.at(-1);
    const call = found ?? { index, id: '', name: '', json: '', others: {} };
    if (found === undefined) this.#calls.push(call);
    call.id ||= id ?? '';
    call.name ||= called?.name ?? '';
    call.json += called?.arguments ?? '';
    extend(call.others, others);
  }
}

/**
 * The call as the program and as the API know it. Ids connect results with calls, so a missing or repeated id is
 * replaced. Servers that fill in a template refuse arguments that are not JSON.
 */
function wholeCall(
  { id, name, json, others }: OpenCall,
  ids: Set<string>,
): { call: ToolCall; wire: ChatCall } {
  const unique = id === '' || ids.has(id) ? `call_${ids.size + 1}_${id}`.slice(0, 60) : id;
  ids.add(unique);
  const input = parseInput(json);
  const call = input.ok ? { input: input.value } : { input: json, malformed: input.why };
  const written = input.ok && json.trim() !== '' ? json : '{}';
  return {
    call: { id: unique, name, ...call },
    wire: { id: unique, type: 'function', function: { name, arguments: written }, ...others },
  };
}

/** Bytes that the model wrote, without what wraps them. */
function writtenBytes(delta: z.infer<typeof Delta>): number {
  const { content, refusal, tool_calls: calls, role: _, ...others } = delta;
  const called = (calls ?? []).flatMap((call) => [call.function?.name, call.function?.arguments]);
  return [content, refusal, ...called, ...Object.values(others)].reduce<number>(
    (sum, piece) => sum + (typeof piece === 'string' ? Buffer.byteLength(piece) : 0),
    0,
  );
}

/** Text and lists are appended to, anything else is replaced; empty values are ignored. */
function extend(target: Record<string, unknown>, fields: Record<string, unknown>): void {
  for (const [field, value] of Object.entries(fields)) {
    const before = target[field];
    if (value === null || value === undefined || value === '' || field === '__proto__') continue;
    if (typeof before === 'string' && typeof value === 'string') target[field] = before + value;
    else if (Array.isArray(before) && Array.isArray(value)) target[field] = [...before, ...value];
    else target[field] = value;
  }
}
