/**
 * Whether the next request fits into the rest of the run's caps, and how long its answer may be. Pure, so that a replayed run
 * decides alike.
 *
 * The maximum cost of a request is reserved before it is sent: its prompt at the highest price for one, and an answer of
 * `max_tokens`. The API enforces the length of the answer, so a cap can only be exceeded by as much as the estimate of the prompt
 * is too low.
 */

import * as z from 'zod';
import {
  type Conversation,
  type Message,
  noUsage,
  totalTokens,
  Usage,
} from '../conversation/conversation.ts';
import { imageTokens } from '../images/image.ts';
import { type Limits, ProviderFailureKind } from './limits.ts';
import { type Price, reservedPrice } from './pricing.ts';

/** What is known when a request is about to be sent. */
export interface Spending {
  readonly conversation: Conversation;
  readonly usage: Usage;
  /** Null when a price is not known; nothing is then held to a cap on the cost. */
  readonly costUsd: number | null;
  /** The last prompt of this segment that was counted, with its answer; null before the first. */
  readonly counted: CountedContext | null;
  /** Answers that were complete. */
  readonly iterations: number;
  readonly price: Price | null;
  readonly model: string;
  /** The most tokens that one answer may have. */
  readonly maxOutputTokens: number;
  /** The one request that is made at a cap; null before it is announced to the model. */
  readonly lastTurn: LastTurn | null;
}

/** The first messages of a segment, as the provider has counted them together with system prompt and tools. */
export interface CountedContext {
  readonly tokens: number;
  readonly messages: number;
}

/** `last_turn`: the model has to be told that its next answer is the last one. `none`: not even that fits. */
export type NextRequest =
  | { readonly status: 'ask'; readonly maxOutputTokens: number }
  | { readonly status: 'last_turn'; readonly cap: ReachedCap }
  | { readonly status: 'none'; readonly cap: ReachedCap };

/** An answer with less room than this is more likely cut off than of use. */
const LEAST_ANSWER = 4_096;

/** Enough to say what the state of the work is. */
const LEAST_LAST_ANSWER = 1_024;

/** With room for the thoughts that come before it. */
const MOST_SUMMARY = 16_384;

/** Of what asks for a summary. */
const SUMMARY_PROMPT_BYTES = 3_000;

/** Of the message that announces the last turn. */
const ANNOUNCEMENT_BYTES = 1_000;

/** The next step. Once the last answer has been given, nothing more is asked. */
export function nextRequest(
  spending: Spending,
  caps: Pick<Limits, 'maxTotalTokens' | 'maxCostUsd'>,
): NextRequest {
  const { lastTurn, maxOutputTokens } = spending;
  if (caps.maxTotalTokens === null && caps.maxCostUsd === null) return { status: 'ask', maxOutputTokens };
  if (lastTurn?.isAnswered) return { status: 'none', cap: capAfter(spending, lastTurn) };
  const prompt = promptOf(spending);
  const least = lastTurn === null ? LEAST_ANSWER : LEAST_LAST_ANSWER;
  const room = roomFor(spending, caps, { prompt, least });
  if (room.cap === null) return { status: 'ask', maxOutputTokens: Math.min(maxOutputTokens, room.tokens) };
  // Before the first answer there is nothing that the model could sum up.
  if (lastTurn !== null || spending.iterations === 0) return { status: 'none', cap: room.cap };
  const announced = withBytes(prompt, ANNOUNCEMENT_BYTES);
  const last = roomFor(spending, caps, { prompt: announced, least: LEAST_LAST_ANSWER });
  return { status: last.cap === null ? 'last_turn' : 'none', cap: room.cap };
}

/** The cap that was reached, and how much of it has been used. */
export function capAfter(
  { usage, costUsd }: Pick<Spending, 'usage' | 'costUsd'>,
  { cap }: LastTurn,
): ReachedCap {
  return { ...cap, used: cap.limit === 'tokens' ? totalTokens(usage) : (costUsd ?? cap.used) };
}

/** Maximum tokens of the next answer; null if no request may be made now. */
export function answerTokens(
  spending: Spending,
  caps: Pick<Limits, 'maxTotalTokens' | 'maxCostUsd'>,
): number | null {
  const next = nextRequest(spending, caps);
  return next.status === 'ask' ? next.maxOutputTokens : null;
}

/**
 * Tokens that a summary of the conversation may have, asked for by a request of at most the next one's size; null where it leaves no
 * room, within the caps, for the request after it and an answer.
 */
export function summaryTokens(
  spending: Spending,
  caps: Pick<Limits, 'maxTotalTokens' | 'maxCostUsd'>,
): number | null {
  const most = Math.min(spending.maxOutputTokens, MOST_SUMMARY);
  if (spending.lastTurn !== null) return null;
  const prompt = withBytes(promptOf(spending), SUMMARY_PROMPT_BYTES);
  const both = { tokens: 2 * prompt.tokens + LEAST_ANSWER, atMost: prompt.atMost };
  const room = roomFor(spending, caps, { prompt: both, least: 2 * LEAST_ANSWER });
  return room.cap === null ? Math.min(most, room.tokens - LEAST_ANSWER) : null;
}

/** The most that the next request can come to, with an answer of this many tokens; its whole prompt at the highest price. */
export function reservedUsage(spending: Spending, output: number): Usage {
  const { tokens, atMost } = promptOf(spending);
  const { kind = 'input' } = reservedPrice(spending.model, atMost, spending.price) ?? {};
  return { ...noUsage, [kind]: tokens, output };
}

/** Tokens of the conversation as the provider last counted it, or an estimate where it counts nothing. */
export function conversationTokens(spending: Spending): number {
  return spending.counted?.tokens ?? promptOf(spending).tokens;
}

/** Tokens that are left for an answer, and the cap that leaves fewer than `least`; null for none. */
interface Room {
  readonly tokens: number;
  readonly cap: ReachedCap | null;
}

function roomFor(
  { usage, costUsd, model, price }: Spending,
  { maxTotalTokens, maxCostUsd }: Pick<Limits, 'maxTotalTokens' | 'maxCostUsd'>,
  { prompt, least }: { prompt: PromptSize; least: number },
): Room {
  let tokens = Number.POSITIVE_INFINITY;
  let cap: ReachedCap | null = null;
  if (maxTotalTokens !== null) {
    const used = totalTokens(usage);
    tokens = maxTotalTokens - used - prompt.tokens;
    if (tokens < least) cap = { limit: 'tokens', value: maxTotalTokens, used, needed: prompt.tokens + least };
  }
  // A prompt that has more tokens than estimated may be one of the longer ones, which have another price.
  const reserved = reservedPrice(model, prompt.atMost, price);
  if (maxCostUsd !== null && costUsd !== null && reserved !== null) {
    const left = maxCostUsd - costUsd - prompt.tokens * reserved.prompt;
    const affordable = reserved.output === 0 ? (left < 0 ? 0 : tokens) : Math.floor(left / reserved.output);
    const needed = prompt.tokens * reserved.prompt + least * reserved.output;
    if (affordable < least && cap === null)
      cap = { limit: 'cost_usd', value: maxCostUsd, used: costUsd, needed };
    tokens = Math.min(tokens, affordable);
  }
  return { tokens, cap };
}

/** The estimate and the upper bound: no token has less than one byte. */
interface PromptSize {
  readonly tokens: number;
  readonly atMost: number;
}

/** The last count, and what was added since. */
function promptOf({ conversation, counted }: Spending): PromptSize {
  const { system, tools, messages } = conversation;
  if (counted !== null) {
    const known = { tokens: counted.tokens, atMost: counted.tokens };
    return withMessages(known, messages.slice(counted.messages));
  }
  const opening = byteLength(system) + byteLength(JSON.stringify(tools));
  return withMessages(withBytes({ tokens: 0, atMost: 0 }, opening), messages);
}

function withBytes({ tokens, atMost }: PromptSize, bytes: number): PromptSize {
  return { tokens: tokens + estimatedTokens(bytes), atMost: atMost + bytes };
}

/** Images are counted by their size, and everything else by its bytes. */
function withMessages(size: PromptSize, messages: readonly Message[]): PromptSize {
  let images = 0;
  const bytes = messages.reduce((sum, { role, content }) => {
    if (role === 'assistant') return sum + byteLength(JSON.stringify(content));
    const texts = content.map((block) => {
      if (block.type === 'text' || block.images === undefined) return block;
      images += block.images.reduce((tokens, image) => tokens + imageTokens(image), 0);
      return { ...block, images: [] };
    });
    return sum + byteLength(JSON.stringify(texts));
  }, 0);
  const { tokens, atMost } = withBytes(size, bytes);
  return { tokens: tokens + images, atMost: atMost + images };
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A cap that the next request does not fit into, in tokens or USD; `needed` is what that could have come to. */
export const ReachedCap = z.strictObject({
  limit: z.enum(['tokens', 'cost_usd']),
  value: z.number(),
  used: z.number(),
  needed: z.number(),
});
export type ReachedCap = z.infer<typeof ReachedCap>;

/** A run at a cap: the model has been told that its next answer is the last one, and has answered or not. */
export interface LastTurn {
  readonly cap: ReachedCap;
  readonly isAnswered: boolean;
}

/**
 * Tokens of an answer that never came to its end; they are billed too. `estimated`: the provider had not reported all of them, and
 * the rest is estimated from the bytes that had arrived.
 */
export const SpentTokens = z.strictObject({ usage: Usage, estimated: z.boolean() });
export type SpentTokens = z.infer<typeof SpentTokens>;

/** An attempt that failed, and the wait before the next one. */
export const Retry = z.strictObject({
  /** Number of the attempt that follows: 2 after the first failure. */
  attempt: z.int().min(2),
  kind: ProviderFailureKind,
  /** HTTP status of the refusal; null when there was none, such as for a lost connection. */
  status: z.int().nullable(),
  /** What happened, in one or two sentences. */
  cause: z.string(),
  waitMs: z.number().nonnegative(),
  /** Left out when the failed attempt had reported nothing. */
  spent: SpentTokens.exactOptional(),
});
export type Retry = z.infer<typeof Retry>;

/**
 * Bytes of UTF-8 counted as one token. English and code have three to four, so this is a safe value for both. Denser text exists
 * (random letters, rare scripts), but no token has less than one byte, so the estimate is never too low by more than half of the
 * bytes.
 */
export const BYTES_PER_TOKEN = 2;

/** Tokens that so many bytes of text are reckoned with. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
