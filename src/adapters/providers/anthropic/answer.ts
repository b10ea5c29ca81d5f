/**
 * Builds one answer from the events of a stream. Blocks end up exactly as the API would send them in one piece, including
 * fields and types that this program does not know.
 */

import * as z from 'zod';
import { ContentBlock, type ToolCall, type TurnStop } from '../../../domain/conversation/conversation.ts';
import { type Answer, MAX_CONTENT_BYTES } from '../asking/answer.ts';
import { type AnswerCount, reportOf } from '../asking/counted.ts';
import { parseInput } from '../asking/tool-input.ts';
import { hasOutput, noTokens, type TokenCounts, toUsage, withReport } from './tokens.ts';

/**
 * `broken`: the answer is incomplete, and another attempt may be complete. `unknown_stop`: a stop reason unknown to
 * this program.
 */
export type Finished =
  | { status: 'ok'; answer: Answer }
  | { status: 'broken'; why: string }
  | { status: 'unknown_stop'; reason: string };

/** What one event did: `text` can be shown; `broken` and `too_large` end the stream. */
export type AnswerProgress =
  | { status: 'more'; text: string }
  | { status: 'done' }
  | { status: 'broken'; why: string }
  | { status: 'too_large' };

const more: AnswerProgress = { status: 'more', text: '' };
const broken = (why: string): { status: 'broken'; why: string } => ({ status: 'broken', why });

const Indexed = z.looseObject({ index: z.int() });
const MessageStart = z.looseObject({
  message: z.looseObject({ model: z.string(), usage: z.unknown().optional() }),
});
const BlockStart = z.looseObject({ index: z.int(), content_block: ContentBlock });
const BlockDelta = z.looseObject({ index: z.int(), delta: ContentBlock });
const StopDetails = z.looseObject({ category: z.string().nullish(), explanation: z.string().nullish() });
const MessageDelta = z.looseObject({
  delta: z.looseObject({ stop_reason: z.string().nullish(), stop_details: StopDetails.nullish() }),
  usage: z.unknown().optional(),
});
const Call = z.looseObject({ id: z.string().min(1), name: z.string().min(1) });

interface OpenBlock {
  readonly block: ContentBlock;
  /** Pieces of the tool input's JSON; null when none came. */
  json: string | null;
  open: boolean;
}

/** Takes the events of one stream in order. */
export class AnswerBuilder {
  readonly count: AnswerCount;
  readonly #blocks: OpenBlock[] = [];
  #started: { model: string } | null = null;
  #tokens: TokenCounts = noTokens;
  #contentBytes = 0;
  #stop: { reason: string; detail: string } | null = null;

  constructor(count: AnswerCount) {
    this.count = count;
  }

  add(event: { type: string }): AnswerProgress {
    if (event.type === 'message_start') return this.#begin(event);
    if (event.type === 'ping') return more;
    if (!this.#started) return broken(`The stream began with ${event.type} instead of message_start`);
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
        return { status: 'done' };
      default:
        return more;
    }
  }

  /** Call after `done`. `earlierCalls` are the call ids that the conversation already contains. */
  finish(earlierCalls: ReadonlySet<string>): Finished {
    if (!this.#started || !this.#stop) return broken('The answer ended without a stop reason');
    if (this.#blocks.some((block) => block.open)) return broken('The answer ended inside a content block');
    const stop = STOPS.get(this.#stop.reason);
    if (stop === undefined) return { status: 'unknown_stop', reason: this.#stop.reason };

    const calls: ToolCall[] = [];
    const content: ContentBlock[] = [];
    const ids = new Set(earlierCalls);
    for (const { block, json } of this.#blocks) {
      const input = json === null ? null : parseInput(json);
      const whole = input === null ? block : { ...block, input: input.ok ? input.value : {} };
      content.push(whole);
      if (block.type !== 'tool_use') continue;
      const call = Call.safeParse(block);
      if (!call.success) return broken('A tool call came without an id or a name');
      if (ids.has(call.data.id)) return broken(`Two tool calls have the id ${call.data.id}`);
      ids.add(call.data.id);
      calls.push({
        id: call.data.id,
        name: call.data.name,
        ...(input === null || input.ok
          ? { input: whole.input ?? {} }
          : { input: json, malformed: input.why }),
      });
    }
    if (stop === 'tool_use' && calls.length === 0)
      return broken('The answer stopped for tools but calls none');
    return {
      status: 'ok',
      answer: {
        content,
        stop,
        stopDetail: this.#stop.detail,
        calls,
        text: content
          .map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''))
          .join(''),
        ...this.count.ofTurn,
        model: this.#started.model,
      },
    };
  }

  #begin(event: unknown): AnswerProgress {
    const start = MessageStart.safeParse(event);
    if (!start.success || this.#started) return broken('The stream has no proper message_start');
    this.#started = { model: start.data.message.model };
    this.#report(start.data.message.usage);
    return more;
  }

  #openBlock(event: unknown): AnswerProgress {
    const start = BlockStart.safeParse(event);
    if (!start.success || start.data.index !== this.#blocks.length) {
      return broken('A content block began out of order');
    }
    if (!this.#hasRoomFor(start.data.content_block)) return { status: 'too_large' };
    this.#blocks.push({ block: { ...start.data.content_block }, json: null, open: true });
    return more;
  }

  #extendBlock(event: unknown): AnswerProgress {
    const parsed = BlockDelta.safeParse(event);
    const open = parsed.success ? this.#blocks[parsed.data.index] : undefined;
    if (!parsed.success || !open?.open) return broken('A delta belongs to no open content block');
    const { delta } = parsed.data;
    if (!this.#hasRoomFor(delta)) return { status: 'too_large' };
    this.count.answerBytes += writtenBytes(delta);
    if (delta.type === 'input_json_delta') {
      open.json = (open.json ?? '') + String(delta.partial_json ?? '');
    } else if (delta.type === 'citations_delta') {
      const citations = open.block.citations;
      open.block.citations = [...(Array.isArray(citations) ? citations : []), delta.citation];
    } else if (delta.type === 'signature_delta') {
      open.block.signature = delta.signature;
    } else {
      extend(open.block, delta);
    }
    return { status: 'more', text: shownText(delta) };
  }

  #closeBlock(event: unknown): AnswerProgress {
    const parsed = Indexed.safeParse(event);
    const open = parsed.success ? this.#blocks[parsed.data.index] : undefined;
    if (!open?.open) return broken('A content block ended that was not open');
    open.open = false;
    return more;
  }

  #hasRoomFor(piece: ContentBlock): boolean {
    for (const value of Object.values(piece))
      this.#contentBytes += Buffer.byteLength(
        typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
      );
    return this.#contentBytes <= MAX_CONTENT_BYTES;
  }

  #applyDelta(event: unknown): AnswerProgress {
    const parsed = MessageDelta.safeParse(event);
    if (!parsed.success) return broken('A message_delta has an unknown form');
    const { stop_reason: reason, stop_details: details } = parsed.data.delta;
    if (reason) {
      const detail = [details?.category, details?.explanation].filter(Boolean).join(': ');
      this.#stop = { reason, detail };
    }
    this.#report(parsed.data.usage);
    return more;
  }

  /** The whole output is reported at the end, together with the stop reason. */
  #report(usage: unknown): void {
    this.#tokens = withReport(this.#tokens, usage);
    this.count.report(reportOf(toUsage(this.#tokens)), this.#stop !== null && hasOutput(usage));
  }
}

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

/**
 * Text and lists are appended to, anything else is replaced: this holds for all known deltas and presumably for most unknown
 * ones.
 */
function extend(block: ContentBlock, delta: ContentBlock): void {
  for (const [field, value] of Object.entries(delta)) {
    if (field === 'type') continue;
    const before = block[field];
    if (typeof before === 'string' && typeof value === 'string') block[field] = before + value;
    else if (Array.isArray(before) && Array.isArray(value)) block[field] = [...before, ...value];
    else block[field] = value;
  }
}

/** Bytes that the model wrote, without what wraps them. Hidden thoughts leave only their signature. */
function writtenBytes({ text, thinking, partial_json: input, signature, content }: ContentBlock): number {
  return [text, thinking, input, signature, content].reduce<number>(
    (sum, piece) => sum + (typeof piece === 'string' ? Buffer.byteLength(piece) : 0),
    0,
  );
}

function shownText(delta: ContentBlock): string {
  const text =
    delta.type === 'text_delta' ? delta.text : delta.type === 'thinking_delta' ? delta.thinking : '';
  return typeof text === 'string' ? text : '';
}
