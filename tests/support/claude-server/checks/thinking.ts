/** Signatures that bind a thinking block to everything before it, and the check that it is still there. */

import { createHash } from 'node:crypto';
import type { Block } from '../script.ts';
import type { Position } from './prefix.ts';
import { invalid } from './refusal.ts';

/** Makes the thinking block that comes first in the answer to a request with these positions. */
export function thinkingBlock(request: readonly Position[], thought: string, redacted: boolean): Block {
  const { length = 0, hash = '' } = request.at(-1)?.bound ?? {};
  const signature = sign(length, hash, [], thought);
  return redacted
    ? { type: 'redacted_thinking', data: signature }
    : { type: 'thinking', thinking: thought, signature };
}

/** Throws the API's 400 when a block's prefix is not the one that it was made after. */
export function checkThinking(positions: readonly Position[]): void {
  positions.forEach((position, index) => {
    const { block } = position;
    if (block.type !== 'thinking' && block.type !== 'redacted_thinking') return;
    const signature = String(block.type === 'thinking' ? block.signature : block.data);
    const thought = block.type === 'thinking' ? String(block.thinking) : '';
    if (!isBoundHere(positions, index, signature, thought)) {
      throw invalid(
        `${position.path}: Invalid \`signature\` in \`${block.type}\` block. The block is bound to a different conversation. ` +
          'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
      );
    }
  });
}

function isBoundHere(
  positions: readonly Position[],
  index: number,
  signature: string,
  thought: string,
): boolean {
  const length = Number(/^sig\.(\d+)\./.exec(signature)?.[1] ?? Number.NaN);
  const prefix = positions.findIndex(({ bound }) => bound.length === length);
  if (length > 0 && (prefix === -1 || prefix >= index)) return false;
  // Between the prefix and the block there may only be earlier blocks of the same turn, all of them the model's.
  const sameTurn = positions.slice(prefix + 1, index);
  if (sameTurn.some((position) => position.role !== 'assistant')) return false;
  const thoughtsBefore = sameTurn
    .filter(({ block }) => block.type === 'thinking' || block.type === 'redacted_thinking')
    .map(({ block }) => String(block.signature ?? block.data));
  return signature === sign(length, positions[prefix]?.bound.hash ?? '', thoughtsBefore, thought);
}

/** Covers the text as it was sent, the empty one included. */
function sign(length: number, prefix: string, thoughtsBefore: readonly string[], thought: string): string {
  const hash = createHash('sha256').update(JSON.stringify([prefix, thoughtsBefore, thought]));
  return `sig.${length}.${hash.digest('base64url')}`;
}
