/** From a scripted turn to the message that the API would give, and to the events that stream it. */

import type { Usage } from '../../../src/domain/conversation/conversation.ts';
import type { Position } from './checks/prefix.ts';
import { thinkingBlock } from './checks/thinking.ts';
import type { Block, ScriptedTurn } from './script.ts';
import { noUsage } from './usage.ts';

export interface ScriptedAnswer {
  readonly id: string;
  readonly model: string;
  /** Blocks as the client should have them in the end; the input of a call with `rawInput` is `{}`. */
  readonly content: readonly Block[];
  /** JSON of tool inputs that are not what `content` says, by index of the block. */
  readonly rawInputs: ReadonlyMap<number, string>;
  readonly stop: string;
  readonly stopDetails: Record<string, unknown> | null;
  readonly usage: Usage;
  /** Its tokens are those of a compaction, which are reported apart from all others. */
  readonly compacts: boolean;
}

export interface Asked {
  readonly index: number;
  readonly model: string;
  readonly thinks: boolean;
  readonly showsThinking: boolean;
  readonly positions: readonly Position[];
  readonly promptUsage: Usage;
  readonly compacts: boolean;
}

export function answerTo(asked: Asked, turn: ScriptedTurn): ScriptedAnswer {
  if (asked.compacts && turn.stop === undefined) return compactionOf(asked, turn);
  const content: Block[] = [];
  const rawInputs = new Map<number, string>();
  const { thinking = asked.thinks, redacted = false } = turn;
  if (thinking !== false) {
    const thought = typeof thinking === 'string' && asked.showsThinking ? thinking : '';
    content.push(thinkingBlock(asked.positions, redacted ? '' : thought, redacted));
  }
  if (turn.text !== undefined) content.push({ type: 'text', text: turn.text });
  content.push(...(turn.blocks ?? []));
  turn.calls?.forEach((call, index) => {
    if (call.rawInput !== undefined) rawInputs.set(content.length, call.rawInput);
    const id = call.id ?? `toolu_${asked.index}_${index}`;
    content.push({ type: 'tool_use', id, name: call.name, input: call.input ?? {} });
  });
  const outputTokens = turn.outputTokens ?? Math.ceil(JSON.stringify(content).length / 4);
  return {
    id: `msg_${asked.index}`,
    model: asked.model,
    content,
    rawInputs,
    stop: turn.stop ?? ((turn.calls?.length ?? 0) > 0 ? 'tool_use' : 'end_turn'),
    stopDetails: turn.stopDetails ?? null,
    usage: { ...asked.promptUsage, output: outputTokens },
    compacts: asked.compacts,
  };
}

/** The one block that a request for a compaction is answered with; without a text there is no summary in it. */
function compactionOf(asked: Asked, { text, outputTokens }: ScriptedTurn): ScriptedAnswer {
  const content = text ?? null;
  const signature = `compaction.${asked.index}`;
  return {
    id: `msg_${asked.index}`,
    model: asked.model,
    content: [{ type: 'compaction', content, encrypted_content: null, signature }],
    rawInputs: new Map(),
    stop: 'compaction',
    stopDetails: null,
    usage: { ...asked.promptUsage, output: outputTokens ?? Math.ceil((text ?? '').length / 4) },
    compacts: true,
  };
}

/** The answer in one piece, for a request without `stream`. */
export function messageOf(answer: ScriptedAnswer): Record<string, unknown> {
  return {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: answer.content,
    stop_reason: answer.stop,
    stop_details: answer.stopDetails,
    stop_sequence: null,
    usage: wireUsage(answer.usage),
  };
}

export function eventsOf(answer: ScriptedAnswer, turn: ScriptedTurn): Record<string, unknown>[] {
  const events = countedEventsOf(answer, turn);
  return turn.uncounted ? events.map(withoutUsage) : events;
}

function countedEventsOf(answer: ScriptedAnswer, turn: ScriptedTurn): Record<string, unknown>[] {
  const begun = { ...messageOf(answer), content: [], stop_reason: null, stop_details: null };
  const start = {
    type: 'message_start',
    message: {
      ...begun,
      usage: answer.compacts ? wireUsage(noUsage) : { ...wireUsage(answer.usage), output_tokens: 1 },
    },
  };
  if (turn.events) return [start, ...turn.events];
  const pings = Array.from({ length: turn.pings ?? 0 }, () => ({ type: 'ping' }));
  return [
    start,
    ...pings,
    ...answer.content.flatMap((block, index) => blockEvents(block, index, answer.rawInputs.get(index))),
    {
      type: 'message_delta',
      delta: { stop_reason: answer.stop, stop_details: answer.stopDetails, stop_sequence: null },
      usage: answer.compacts
        ? { output_tokens: 0, iterations: [{ type: 'compaction', ...wireUsage(answer.usage) }] }
        : { output_tokens: answer.usage.output },
    },
    { type: 'message_stop' },
  ];
}

function withoutUsage({ usage: _, message, ...event }: Record<string, unknown>): Record<string, unknown> {
  if (typeof message !== 'object' || message === null) return event;
  const { usage: __, ...others } = message as Record<string, unknown>;
  return { ...event, message: others };
}

function blockEvents(block: Block, index: number, rawInput: string | undefined): Record<string, unknown>[] {
  const delta = (fields: Block): Record<string, unknown> => ({
    type: 'content_block_delta',
    index,
    delta: fields,
  });
  const { started, deltas } = piecesOf(block, rawInput);
  return [
    { type: 'content_block_start', index, content_block: started },
    ...deltas.map(delta),
    { type: 'content_block_stop', index },
  ];
}

function piecesOf(block: Block, rawInput: string | undefined): { started: Block; deltas: Block[] } {
  switch (block.type) {
    case 'text':
      return {
        started: { ...block, text: '' },
        deltas: inPieces(String(block.text)).map((text) => ({ type: 'text_delta', text })),
      };
    case 'thinking':
      return {
        started: { ...block, thinking: '', signature: '' },
        deltas: [
          ...inPieces(String(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      };
    case 'compaction':
      return {
        started: { ...block, content: null },
        deltas: [
          { type: 'compaction_delta', content: block.content, encrypted_content: block.encrypted_content },
        ],
      };
    case 'tool_use':
      return {
        started: { ...block, input: {} },
        deltas: inPieces(rawInput ?? JSON.stringify(block.input)).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      };
    default:
      return { started: block, deltas: [] };
  }
}

/** Pieces of uneven length, so that words and escapes are cut; a surrogate pair is not. */
function inPieces(text: string): string[] {
  const pieces: string[] = [];
  const characters = [...text];
  for (let at = 0, size = 3; at < characters.length; at += size, size = (size * 7) % 31 || 3) {
    pieces.push(characters.slice(at, at + size).join(''));
    if (pieces.length > 200) return [...pieces, characters.slice(at + size).join('')];
  }
  return pieces;
}

function wireUsage(usage: Usage): Record<string, unknown> {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite + usage.cacheWrite1h,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    service_tier: 'standard',
  };
}
