/**
 * Builds one answer from the events of a stream. Blocks end up exactly as the API would send them in one piece, including
 * fields and types that this program does not know.
 */

import * as z from 'zod';
import {
  addUsage,
  ContentBlock,
  type Conversation,
  noUsage,
  type ToolCall,
  type TurnStop,
  type Usage,
} from '../../../domain/conversation/conversation.ts';
import {
  type AnswerCount,
  broken,
  earlierIds,
  extend,
  inputOf,
  MORE,
  type ReadEnd,
  type ReadStep,
  ReportedCount,
  reportOf,
  type StreamReader,
  unknownEnd,
  writtenBytes,
} from '../asking/reader.ts';

const Typed = z.looseObject({ type: z.string() });
const MessageStart = z.looseObject({
  message: z.looseObject({ model: z.string(), usage: z.unknown().optional() }),
});
const BlockStart = z.looseObject({ index: z.int(), content_block: ContentBlock });
const BlockDelta = z.looseObject({ index: z.int(), delta: ContentBlock });
const BlockStop = z.looseObject({ index: z.int() });
const StopDetails = z.looseObject({ category: z.string().nullish(), explanation: z.string().nullish() });
const MessageDelta = z.looseObject({
  delta: z.looseObject({ stop_reason: z.string().nullish(), stop_details: StopDetails.nullish() }),
  usage: z.unknown().optional(),
});
const Call = z.looseObject({ id: z.string().min(1), name: z.string().min(1) });

const STOPS: ReadonlyMap<string, TurnStop> = new Map([
  ['end_turn', 'end_turn'],
  ['stop_sequence', 'end_turn'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'max_tokens'],
  ['pause_turn', 'pause_turn'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_window'],
  ['compaction', 'compaction'],
]);

interface OpenBlock {
  readonly block: ContentBlock;
  /** Pieces of the tool input's JSON; null when none came. */
  json: string | null;
  isOpen: boolean;
}

/** Takes the events of one stream in order. */
export class ClaudeReader implements StreamReader {
  readonly count: AnswerCount;
  readonly #earlier: ReadonlySet<string>;
  readonly #blocks: OpenBlock[] = [];
  #model: string | null = null;
  #tokens: TokenCounts = {};
  #stop: { reason: string; detail: string } | null = null;
  #isWhole = false;

  constructor(conversation: Conversation, count: AnswerCount) {
    this.count = count;
    this.#earlier = earlierIds(conversation, ({ type, id }) => (type === 'tool_use' ? [id] : []));
  }

  add(given: object): ReadStep {
    const event = Typed.safeParse(given).data;
    if (event === undefined) return broken('The answer contains an event without a type');
    if (event.type === 'message_start') return this.#begin(event);
    if (event.type === 'ping') return MORE;
    if (this.#model === null) return broken(`The stream began with ${event.type} instead of message_start`);
    switch (event.type) {
      case 'content_block_start':
        return this.#openBlock(event);
      case 'content_block_delta':
        return this.#extendBlock(event);
      case 'content_block_stop':
        return this.#closeBlock(event);
      case 'message_delta':
        return this.#applyDelta(event);
      case 'message_stop':
        this.#isWhole = true;
        return { status: 'done' };
      default:
        return MORE;
    }
  }

  finish(): ReadEnd {
    if (!this.#isWhole) return broken('The answer ended before it was complete');
    if (this.#model === null || !this.#stop) return broken('The answer ended without a stop reason');
    if (this.#blocks.some(({ isOpen }) => isOpen)) return broken('The answer ended inside a content block');
    const stop = STOPS.get(this.#stop.reason);
    if (stop === undefined) return unknownEnd('stop reason', this.#stop.reason);
    const content = this.#blocks.map(({ block, json }) => {
      if (json === null) return block;
      const { input, malformed } = inputOf(json);
      return { ...block, input: malformed === undefined ? input : {} };
    });
    const calls = this.#calls();
    if (typeof calls === 'string') return broken(calls);
    if (stop === 'tool_use' && calls.length === 0)
      return broken('The answer stopped for tools but calls none');
    const texts = content.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : ''));
    return {
      status: 'ok',
      answer: {
        content,
        stop,
        stopDetail: this.#stop.detail,
        calls,
        text: texts.join(''),
        ...this.count.ofTurn,
        model: this.#model,
      },
    };
  }

  /** All calls with their ids, or what is wrong with them. */
  #calls(): ToolCall[] | string {
    const ids = new Set(this.#earlier);
    const calls: ToolCall[] = [];
    for (const { block, json } of this.#blocks) {
      if (block.type !== 'tool_use') continue;
      const call = Call.safeParse(block).data;
      if (call === undefined) return 'A tool call came without an id or a name';
      const { id, name } = call;
      if (ids.has(id)) return `Two tool calls have the id ${id}`;
      ids.add(id);
      calls.push({ id, name, ...(json === null ? { input: block.input ?? {} } : inputOf(json)) });
    }
    return calls;
  }

  #begin(event: object): ReadStep {
    const start = MessageStart.safeParse(event);
    if (!start.success || this.#model !== null) return broken('The stream has no proper message_start');
    this.#model = start.data.message.model;
    this.#report(start.data.message.usage);
    return MORE;
  }

  #openBlock(event: object): ReadStep {
    const start = BlockStart.safeParse(event);
    if (!start.success || start.data.index !== this.#blocks.length)
      return broken('A content block began out of order');
    const { content_block: block } = start.data;
    this.count.answerBytes += textBytes(block);
    this.#blocks.push({ block: { ...block }, json: null, isOpen: true });
    return MORE;
  }

  #extendBlock(event: object): ReadStep {
    const parsed = BlockDelta.safeParse(event);
    const open = parsed.success ? this.#blocks[parsed.data.index] : undefined;
    if (!parsed.success || !open?.isOpen) return broken('A delta belongs to no open content block');
    const { delta } = parsed.data;
    const { type, partial_json: json, signature } = delta;
    this.count.answerBytes += textBytes(delta);
    if (type === 'input_json_delta') {
      open.json = (open.json ?? '') + String(json ?? '');
    } else if (type === 'citations_delta') {
      const { citations } = open.block;
      open.block.citations = [...(Array.isArray(citations) ? citations : []), delta.citation];
    } else if (type === 'signature_delta') {
      open.block.signature = signature;
    } else {
      const { type: _, ...fields } = delta;
      extend(open.block, fields);
    }
    return MORE;
  }

  #closeBlock(event: object): ReadStep {
    const open = this.#blocks[BlockStop.safeParse(event).data?.index ?? -1];
    if (!open?.isOpen) return broken('A content block ended that was not open');
    open.isOpen = false;
    return MORE;
  }

  #applyDelta(event: object): ReadStep {
    const parsed = MessageDelta.safeParse(event);
    if (!parsed.success) return broken('A message_delta has an unknown form');
    const { stop_reason: reason, stop_details: details } = parsed.data.delta;
    const detail = [details?.category, details?.explanation].filter(Boolean).join(': ');
    if (reason) this.#stop = { reason, detail };
    this.#report(parsed.data.usage);
    return MORE;
  }

  /** The whole output is reported at the end, together with the stop reason. */
  #report(usage: unknown): void {
    this.#tokens = withReport(this.#tokens, usage);
    this.count.report(reportOf(toUsage(this.#tokens)), this.#stop !== null && hasOutput(usage));
  }
}

/** Bytes of what the model wrote. Hidden thoughts leave only their signature. */
function textBytes({ text, thinking, partial_json: json, signature, content, data }: ContentBlock): number {
  return writtenBytes([text, thinking, json, signature, content, data]);
}

const Counts = z.object({
  input_tokens: ReportedCount,
  output_tokens: ReportedCount,
  cache_read_input_tokens: ReportedCount,
  /** Entries of both lifetimes together. */
  cache_creation_input_tokens: ReportedCount,
  cache_creation: z.object({ ephemeral_1h_input_tokens: ReportedCount }).nullish().catch(null),
});

/** Tokens of a compaction are not in the other fields. */
const Iteration = Counts.extend({ type: z.string() }).nullable().catch(null);
const Reported = Counts.extend({ iterations: z.array(Iteration).nullish().catch(null) });

/** Token counts as the API streams them. */
type TokenCounts = z.infer<typeof Reported>;

/** The counts after one more `usage` object, which may be missing: what it has replaces earlier counts. */
function withReport(before: TokenCounts, usage: unknown): TokenCounts {
  const reported = Object.entries(Reported.safeParse(usage).data ?? {});
  return { ...before, ...Object.fromEntries(reported.filter(([, count]) => count != null)) };
}

/** Whether the report has the number of tokens in the answer. */
function hasOutput(usage: unknown): boolean {
  return Reported.safeParse(usage).data?.output_tokens != null;
}

/** The counts as `Usage`, which separates the two lifetimes of cache entries. */
function toUsage({ iterations, ...counts }: TokenCounts): Usage {
  const written = counts.cache_creation_input_tokens ?? 0;
  const cacheWrite1h = counts.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  const usage = {
    input: counts.input_tokens ?? 0,
    output: counts.output_tokens ?? 0,
    cacheRead: counts.cache_read_input_tokens ?? 0,
    cacheWrite: Math.max(0, written - cacheWrite1h),
    cacheWrite1h,
  };
  const compactions = (iterations ?? []).flatMap((one) => (one?.type === 'compaction' ? toUsage(one) : []));
  return compactions.reduce(addUsage, addUsage(noUsage, usage));
}
