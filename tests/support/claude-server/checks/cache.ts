/** The prompt cache and the bill, by the published rules. */

import type { Usage } from '../../../../src/domain/conversation/conversation.ts';
import type { Position } from './prefix.ts';
import { invalid } from './refusal.ts';

/** Blocks that are looked at from a breakpoint backwards, the breakpoint's own included. */
const LOOK_BACK = 20;
const MAX_BREAKPOINTS = 4;
const LIFETIME_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

interface Breakpoint {
  readonly index: number;
  readonly ttl: '5m' | '1h';
}

export class PromptCache {
  readonly #expiry = new Map<string, number>();
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** What the prompt costs and, when `commit` is called, what later requests will find. Output is 0. */
  charge(
    positions: readonly Position[],
    topLevel: unknown,
    minTokens: number,
  ): { usage: Usage; commit: () => void } {
    const now = this.#clock();
    const upTo: number[] = [];
    for (const position of positions) upTo.push((upTo.at(-1) ?? 0) + position.tokens);
    const tokens = (index: number): number => upTo[index] ?? 0;
    const breakpoints = breakpointsOf(positions, topLevel).filter(({ index }) => tokens(index) >= minTokens);

    const hit = this.#longestHit(positions, breakpoints, now);
    const last = breakpoints.at(-1);
    const read = hit === null ? 0 : tokens(hit);
    const written = last === undefined ? 0 : Math.max(0, tokens(last.index) - read);
    const usage: Usage = {
      input: tokens(positions.length - 1) - read - written,
      output: 0,
      cacheRead: read,
      cacheWrite: last?.ttl === '1h' ? 0 : written,
      cacheWrite1h: last?.ttl === '1h' ? written : 0,
    };
    return {
      usage,
      commit: () => {
        const fromHit = hit === null ? [] : [{ index: hit, ttl: '5m' as const }];
        for (const { index, ttl } of [...breakpoints, ...fromHit]) {
          const hash = positions[index]?.hash ?? '';
          this.#expiry.set(hash, Math.max(this.#expiry.get(hash) ?? 0, now + LIFETIME_MS[ttl]));
        }
      },
    };
  }

  #longestHit(
    positions: readonly Position[],
    breakpoints: readonly Breakpoint[],
    now: number,
  ): number | null {
    for (const { index } of breakpoints.toReversed()) {
      for (let i = index; i >= 0 && i > index - LOOK_BACK; i -= 1) {
        if ((this.#expiry.get(positions[i]?.hash ?? '') ?? Number.NEGATIVE_INFINITY) > now) return i;
      }
    }
    return null;
  }
}

/** Throws the API's 400 for more than four, and for `cache_control` that is malformed or on a block that cannot have it. */
export function breakpointsOf(positions: readonly Position[], topLevel: unknown): Breakpoint[] {
  const found: Breakpoint[] = [];
  positions.forEach(({ block, path }, index) => {
    if (block.cache_control === undefined || block.cache_control === null) return;
    if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      throw invalid(`${path}.${block.type}.cache_control: Extra inputs are not permitted`);
    }
    found.push({ index, ttl: ttlOf(block.cache_control, path) });
  });
  const count = found.length + (topLevel ? 1 : 0);
  if (count > MAX_BREAKPOINTS) {
    throw invalid(`A maximum of 4 blocks with cache_control may be provided. Found ${count}.`);
  }
  if (topLevel) {
    const last = positions.findLastIndex(({ block }) => !block.type?.includes('thinking'));
    found.push({ index: last, ttl: ttlOf(topLevel, 'cache_control') });
  }
  return found.sort((a, b) => a.index - b.index);
}

function ttlOf(control: unknown, path: string): '5m' | '1h' {
  const { type, ttl = '5m', ...rest } = control as Record<string, unknown>;
  if (type !== 'ephemeral' || (ttl !== '5m' && ttl !== '1h') || Object.keys(rest).length > 0) {
    throw invalid(`${path}.cache_control: Input should be {"type": "ephemeral", "ttl"?: "5m" | "1h"}`);
  }
  return ttl;
}
