/**
 * Compaction: a conversation that has grown long continues in a new, shorter segment. Its events, its state, when it is due, and
 * where it cuts. Pure, so that a replayed run decides alike.
 */

import * as z from 'zod';
import { type CountedContext, conversationTokens, type Spending, SpentTokens } from '../run/budget.ts';
import { ProviderFailureKind } from '../run/limits.ts';
import { type Conversation, LlmTurn, noUsage, type Usage } from './conversation.ts';
import {
  compactedSegment,
  cutKeepingAtLeast,
  cutKeepingAtMost,
  cutSegment,
  cutsOf,
  summarizedSegment,
} from './segments.ts';

/** The event that begins a new segment of the conversation. */
export const ContextCompacted = z.strictObject({
  type: z.literal('context.compacted'),
  /** `summarize`: the model's summary; `server`: the API's block; `cut`: messages were dropped unread. */
  how: z.enum(['summarize', 'server', 'cut']),
  /** `tokens`: `--compact-at` was reached; `window`: it no longer fitted into the model's. */
  why: z.enum(['tokens', 'window']),
  /** The size of the conversation, as last counted by the provider. */
  tokens: z.int().nonnegative(),
  /** Index of the first message that was kept. */
  cut: z.int().positive(),
  /** The runner's text in place of the dropped messages. */
  text: z.string().min(1),
  /** The answer with the summary; absent for a cut without a request. */
  turn: LlmTurn.exactOptional(),
});
export type ContextCompacted = z.infer<typeof ContextCompacted>;

/** The event of a compaction that failed: the conversation continues as it is. */
export const CompactionFailed = z.strictObject({
  type: z.literal('compaction.failed'),
  /** A failure of the provider, an answer that is no summary, or no room for one within the caps. */
  kind: z.enum([...ProviderFailureKind.options, 'no_summary', 'budget']),
  message: z.string(),
  /** The answer that is no summary. */
  turn: LlmTurn.exactOptional(),
  /** What an attempt without an answer had used up. */
  spent: SpentTokens.exactOptional(),
});
export type CompactionFailed = z.infer<typeof CompactionFailed>;

/** A compaction that took place. */
export interface Compaction extends Pick<ContextCompacted, 'how' | 'why' | 'tokens'> {
  /** Model turns that were completed before. */
  readonly iteration: number;
  /** Messages that are gone, and that were kept besides the task. */
  readonly dropped: number;
  readonly kept: number;
  /** The usage of the summary. */
  readonly usage: Usage;
  /** Null when its price is not known. */
  readonly costUsd: number | null;
}

/** What decides on the next compaction. */
export interface CompactionState {
  readonly settings: CompactionSettings;
  /** Tokens at the first answer of this segment; null before it. */
  readonly base: number | null;
  /** After a failure: not below so many tokens. */
  readonly notBelow: number;
  /** The last request, or its answer, did not fit into the window. */
  readonly isWindowFull: boolean;
  /** Tokens of the last conversation that fitted before one did not; null as long as all did. */
  readonly window: number | null;
  readonly done: readonly Compaction[];
  readonly failures: number;
}

/** Before the first. */
export function noCompactions(settings: CompactionSettings): CompactionState {
  return { settings, base: null, notBelow: 0, isWindowFull: false, window: null, done: [], failures: 0 };
}

/** The number of messages at the end of a conversation that a compaction always leaves as they are. */
const KEPT_MESSAGES = 6;

/** What shortens a conversation: nothing, a summary by the model, or the API's own compaction. */
export const COMPACTIONS = ['none', 'summarize', 'server'] as const;

/** Tokens of the conversation from which on it is compacted. */
export const DEFAULT_COMPACT_AT = 80_000;

/** The settings of a run, recorded with it. */
export const CompactionSettings = z.strictObject({
  strategy: z.enum(COMPACTIONS),
  /** Tokens, as the provider counts the last request and its answer, cached ones included. */
  at: z.int().positive(),
});
export type CompactionSettings = z.infer<typeof CompactionSettings>;

/** The beginnings of model ids with their windows; the first that fits counts. Compared with the vendors' pages on 2026-11-22. */
const WINDOWS: readonly (readonly [id: RegExp, tokens: number])[] = [
  [/^claude-[a-z]+-4/, 200_000],
  [/^claude-/, 1_000_000],
  [/^gpt-3\.5/, 16_000],
  [/^gpt-4(-turbo|o)/, 128_000],
  [/^gpt-oss/, 128_000],
];

/** Null if it is not known, as for a model on the user's own server. */
export function windowOf(model: string): number | null {
  return WINDOWS.find(([id]) => id.test(model))?.[1] ?? null;
}

/** Of the window of a model: the rest is for the next results, the summary and the answer. */
const SHARE_OF_WINDOW = 0.6;

/** A compaction that is due. */
export type DueCompaction = Pick<ContextCompacted, 'how' | 'why' | 'cut'>;

/** What has to happen before the next request, or null. */
export function dueCompaction(
  spending: Spending,
  { settings, ...state }: CompactionState,
): DueCompaction | null {
  const { conversation, lastTurn } = spending;
  const { length } = conversation.messages;
  // The message at a cap is the last one.
  if (lastTurn !== null) return null;
  if (state.isWindowFull) {
    const cut = cutKeepingAtMost(conversation, Math.floor(length / 2));
    return cut === null ? null : { how: 'cut', why: 'window', cut };
  }
  const { strategy } = settings;
  if (strategy === 'none' || !isOver(conversationTokens(spending), settings, state)) return null;
  const cut = cutKeepingAtLeast(conversation, KEPT_MESSAGES);
  return cut === null ? null : { how: strategy, why: 'tokens', cut };
}

/** Whether something can be dropped when the window is full. */
export function canBeCut(conversation: Conversation, { settings }: CompactionState): boolean {
  return settings.strategy !== 'none' && cutsOf(conversation).length > 0;
}

/** The default of `--compact-at`. `window` is the model's, in tokens; null if it is not known. */
export function defaultCompactAt(window: number | null): number {
  return window === null
    ? DEFAULT_COMPACT_AT
    : Math.min(DEFAULT_COMPACT_AT, Math.floor(window * SHARE_OF_WINDOW));
}

/**
 * A segment that began large first has to grow by half of the limit, so that there is work between two compactions. A segment
 * without an answer has just come from a compaction.
 */
function isOver(
  tokens: number,
  { at }: CompactionSettings,
  { base, notBelow, window }: Pick<CompactionState, 'base' | 'notBelow' | 'window'>,
): boolean {
  const most = window === null ? at : Math.min(at, Math.floor(window * SHARE_OF_WINDOW));
  return base !== null && tokens >= Math.max(most, base + most / 2, notBelow);
}

/** The part of a run's state that a compaction changes. */
export interface Compacted {
  readonly conversation: Conversation;
  readonly counted: CountedContext | null;
  readonly compaction: CompactionState;
}

/** After the event that begins a new segment. `costUsd` is that of its summary; null when it is not known. */
export function withNewSegment(
  { conversation, compaction }: Compacted,
  event: ContextCompacted,
  { iteration, costUsd }: { readonly iteration: number; readonly costUsd: number | null },
): Compacted {
  const { how, why, tokens, cut, turn } = event;
  const done = {
    ...{ how, why, tokens, iteration, costUsd },
    dropped: cut - 1,
    kept: Math.max(0, conversation.messages.length - cut),
    usage: turn?.usage ?? noUsage,
  };
  return {
    conversation: segmentAfter(conversation, event),
    // The next answer counts it again.
    counted: null,
    compaction: {
      ...compaction,
      base: null,
      notBelow: 0,
      isWindowFull: false,
      done: [...compaction.done, done],
    },
  };
}

/** After a failure, the next attempt is made when the conversation has grown by a quarter of the limit. */
export function withFailure(
  state: CompactionState,
  kind: CompactionFailed['kind'],
  tokens: number,
): CompactionState {
  const notBelow = kind === 'budget' ? Number.MAX_SAFE_INTEGER : tokens + state.settings.at / 4;
  return { ...state, notBelow, failures: state.failures + 1 };
}

/** After an answer that brought the conversation to so many tokens, which only the first one of a segment asks for. */
export function withAnswer(state: CompactionState, tokens: () => number): CompactionState {
  return state.base === null ? { ...state, base: tokens() } : state;
}

/** After a request for which there was no room in the window, where the last one that fitted had so many tokens. */
export function withFullWindow(state: CompactionState, tokens: number): CompactionState {
  return { ...state, isWindowFull: true, window: tokens };
}

function segmentAfter(conversation: Conversation, { how, cut, text, turn }: ContextCompacted): Conversation {
  const [block] = turn?.content ?? [];
  if (how === 'summarize') return summarizedSegment(conversation, cut, text);
  if (how === 'server' && block !== undefined) return compactedSegment(conversation, cut, block, text);
  return cutSegment(conversation, cut, text);
}
