/** How the events of compaction change the state of a run, apart from its bill. */

import type { CountedContext } from '../budget/next-request.ts';
import { type Conversation, noUsage } from '../conversation/conversation.ts';
import { compactedSegment, cutSegment, summarizedSegment } from '../conversation/segments.ts';
import type { CompactionFailed, CompactionState, ContextCompacted } from './compaction.ts';

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
