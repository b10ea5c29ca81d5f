/** When a conversation is compacted, and where it is cut. Pure, so that a replayed run decides alike. */

import { type CountedContext, conversationTokens, type Spending } from '../budget/next-request.ts';
import { type Conversation, noUsage } from '../conversation/conversation.ts';
import {
  compactedSegment,
  cutKeepingAtLeast,
  cutKeepingAtMost,
  cutSegment,
  cutsOf,
  summarizedSegment,
} from '../conversation/segments.ts';
import {
  type CompactionFailed,
  type CompactionSettings,
  type CompactionState,
  type ContextCompacted,
  DEFAULT_COMPACT_AT,
  KEPT_MESSAGES,
} from './compaction.ts';

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
