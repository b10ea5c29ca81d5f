/**
 * A request as the line of blocks that the model reads: tools, system, messages. The cache and the signatures of
 * thinking blocks both go by the exact prefix of that line; `cache_control` is not part of it.
 */

import { createHash } from 'node:crypto';
import type { Block } from '../script.ts';

export interface Position {
  readonly role: 'tools' | 'system' | 'user' | 'assistant';
  /** Where an error message finds it: `messages.1.content.0`. */
  readonly path: string;
  readonly block: Block;
  /** The block alone, in tokens (four characters each). */
  readonly tokens: number;
  /** Hash of everything up to and including this block. */
  readonly hash: string;
  /** The same as thinking blocks are bound to it: a compaction block stands for the blocks that it was made of. */
  readonly bound: Bound;
}

/** A beginning of a conversation: how many blocks it has, and their hash. */
export interface Bound {
  readonly hash: string;
  readonly length: number;
}

export interface RequestBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly { role: 'user' | 'assistant'; content: string | readonly Block[] }[];
  readonly system?: string | readonly Block[];
  readonly tools?: readonly Block[];
  readonly [field: string]: unknown;
}

/** Of a request whose shape has been checked. */
export function positionsOf(
  body: RequestBody,
  compacted: ReadonlyMap<string, Bound> = new Map(),
): Position[] {
  const positions: Position[] = [];
  let hash = createHash('sha256').update(body.model).digest('hex');
  let bound: Bound = { hash, length: 0 };
  const add = (role: Position['role'], path: string, block: Block): void => {
    const { cache_control: _, ...content } = block;
    const text = JSON.stringify(content);
    const after = (before: string) =>
      createHash('sha256').update(`${before}\n${role}\n${text}`).digest('hex');
    hash = after(hash);
    bound = compacted.get(String(block.signature)) ?? { hash: after(bound.hash), length: bound.length + 1 };
    positions.push({ role, path, block, tokens: Math.ceil(text.length / 4), hash, bound });
  };
  body.tools?.forEach((tool, index) => {
    add('tools', `tools.${index}`, tool);
  });
  blocksOf(body.system ?? []).forEach((block, index) => {
    add('system', `system.${index}`, block);
  });
  body.messages.forEach((message, m) => {
    blocksOf(message.content).forEach((block, b) => {
      add(message.role, `messages.${m}.content.${b}`, block);
    });
  });
  return positions;
}

/** A plain string is shorthand for one text block. */
export function blocksOf(content: string | readonly Block[]): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
