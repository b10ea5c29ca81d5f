/** Compaction: a conversation that has grown long continues in a new, shorter segment. Its events and its state. */

import * as z from 'zod';
import { SpentTokens } from '../budget/caps.ts';
import { LlmTurn, type Usage } from '../conversation/conversation.ts';
import { ProviderFailureKind } from '../run/limits.ts';

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
export const KEPT_MESSAGES = 6;

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
