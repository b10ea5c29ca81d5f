/** Builds one answer of the Responses API from the events of a stream. Items stay exactly as they came. */

import * as z from 'zod';
import { ContentBlock, type ToolCall } from '../../../../domain/conversation/conversation.ts';
import { MAX_CONTENT_BYTES } from '../../asking/answer.ts';
import { AnswerCount, NOTHING_REPORTED, type ReportedTokens } from '../../asking/counted.ts';
import { NOTHING_SAID, saidIn } from '../../asking/refusal-said.ts';
import type { ReadEnd, ReadStep, StreamReader } from '../../asking/stream-attempt.ts';
import { parseInput } from '../../asking/tool-input.ts';
import { reportedIn } from '../usage.ts';

const StreamEvent = z.looseObject({ type: z.string() });
const ItemDone = z.looseObject({ output_index: z.int().nonnegative().max(10_000), item: ContentBlock });
const ResponseEnd = z.looseObject({
  model: z.string().nullish(),
  status: z.enum(['completed', 'incomplete']),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  output: z.array(ContentBlock).nullish(),
  usage: z.unknown().optional(),
});
type ResponseEnd = z.infer<typeof ResponseEnd>;
const FunctionCall = z.looseObject({
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
});
const Part = z.looseObject({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() });
const MessageItem = z.looseObject({ content: z.array(Part) });

/** Events with pieces of what people may read; everything else arrives with its item. */
const SHOWN = [
  'response.output_text.delta',
  'response.reasoning_summary_text.delta',
  'response.refusal.delta',
];

/** Takes the events of one stream in order. `earlier` are the ids of calls that the conversation already has. */
export class ResponsesReader implements StreamReader {
  readonly count: AnswerCount;
  readonly #earlier: ReadonlySet<string>;
  readonly #items = new Map<number, ContentBlock>();
  #ended: ResponseEnd | null = null;
  #itemBytes = 0;
  #pieceBytes = 0;

  constructor(requestBytes: number, earlier: ReadonlySet<string>) {
    this.count = new AnswerCount(() => requestBytes);
    this.#earlier = earlier;
  }

  add(given: object): ReadStep {
    const parsed = StreamEvent.safeParse(given);
    if (!parsed.success) return { status: 'broken', why: 'An event of the answer has an unknown form' };
    const event = parsed.data;
    if (event.type === 'error') return { status: 'refused', said: saidOf(event) };
    switch (event.type) {
      case 'response.output_item.done':
        return this.#addItem(event);
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(event.response);
      case 'response.failed':
        this.count.report(usageIn(event.response), true);
        return { status: 'refused', said: saidOf(event.response) };
      default:
        return this.#addPiece(event);
    }
  }

  finish(): ReadEnd {
    if (this.#ended === null) return { status: 'broken', why: 'The answer ended before it was complete' };
    const { status, model, output, incomplete_details: details } = this.#ended;
    const streamed = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const content = output && output.length > 0 ? output : streamed;
    const calls = callsIn(content, this.#earlier);
    if (typeof calls === 'string') return { status: 'broken', why: calls };
    const parts = content.flatMap((item) =>
      item.type === 'message' ? (MessageItem.safeParse(item).data?.content ?? []) : [],
    );
    const refusal = parts.map((part) => part.refusal ?? '').join('');
    const answer = {
      content,
      calls,
      stopDetail: refusal,
      text: parts.map(({ text }) => text ?? '').join(''),
      ...this.count.ofTurn,
      model: model ?? '',
    };
    const reason = details?.reason ?? 'none';
    if (status === 'completed') {
      const stop = refusal !== '' ? 'refusal' : calls.length > 0 ? 'tool_use' : 'end_turn';
      return { status: 'ok', answer: { ...answer, stop } };
    }
    if (reason === 'max_output_tokens') return { status: 'ok', answer: { ...answer, stop: 'max_tokens' } };
    if (reason === 'content_filter')
      return { status: 'ok', answer: { ...answer, stop: 'refusal', stopDetail: refusal || reason } };
    return {
      status: 'unusable',
      why: `The answer is incomplete for the unknown reason ${JSON.stringify(reason)}`,
    };
  }

  #addItem(event: object): ReadStep {
    const done = ItemDone.safeParse(event);
    if (!done.success || this.#items.has(done.data.output_index))
      return { status: 'broken', why: 'An item of the answer came out of order' };
    this.#itemBytes += Buffer.byteLength(JSON.stringify(done.data.item));
    this.#countBytes();
    if (this.#itemBytes > 2 * MAX_CONTENT_BYTES) return { status: 'too_large' };
    this.#items.set(done.data.output_index, done.data.item);
    return { status: 'more', text: '' };
  }

  /** Pieces and items have the same content. */
  #countBytes(): void {
    this.count.answerBytes = Math.max(this.#itemBytes, this.#pieceBytes);
  }

  #addPiece({ type, delta }: z.infer<typeof StreamEvent>): ReadStep {
    if (typeof delta !== 'string') return { status: 'more', text: '' };
    this.#pieceBytes += Buffer.byteLength(delta);
    this.#countBytes();
    if (this.#pieceBytes > MAX_CONTENT_BYTES) return { status: 'too_large' };
    return { status: 'more', text: SHOWN.includes(type) ? delta : '' };
  }

  #end(response: unknown): ReadStep {
    const ended = ResponseEnd.safeParse(response);
    if (!ended.success) return { status: 'broken', why: 'The end of the answer has an unknown form' };
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
    const parsed = FunctionCall.safeParse(item);
    if (!parsed.success) return 'A tool call came without an id, a name or arguments';
    const { call_id: id, name, arguments: json } = parsed.data;
    if (ids.has(id)) return `Two tool calls have the id ${id}`;
    ids.add(id);
    const input = parseInput(json);
    calls.push({ id, name, ...(input.ok ? { input: input.value } : { input: json, malformed: input.why }) });
  }
  return calls;
}

function saidOf(value: unknown) {
  return saidIn(value) ?? NOTHING_SAID;
}

function usageIn(response: unknown): ReportedTokens {
  return typeof response === 'object' && response !== null && 'usage' in response
    ? reportedIn(response.usage)
    : NOTHING_REPORTED;
}
