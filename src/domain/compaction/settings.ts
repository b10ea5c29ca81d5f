/** The settings of compaction. Separate, so that reading settings loads no other part of it. */

import * as z from 'zod';

/** The number of messages at the end of a conversation that a compaction always leaves as they are. */
export const KEPT_MESSAGES = 6;

/** What shortens a conversation: nothing, a summary by the model, or the API's own compaction. */
export const COMPACTIONS = ['none', 'summarize', 'server'] as const;

/** Tokens of the conversation from which on it is compacted. */
export const DEFAULT_COMPACT_AT = 80_000;

/** The smallest `--max-messages`: the task, what is always kept, and one more. */
export const LEAST_MAX_MESSAGES = KEPT_MESSAGES + 2;

/** The settings of a run, recorded with it. */
export const CompactionSettings = z.strictObject({
  strategy: z.enum(COMPACTIONS),
  /** Tokens, as the provider counts the last request and its answer, cached ones included. */
  at: z.int().positive(),
  /** Most messages of a request; null is no limit. */
  maxMessages: z.int().positive().nullable(),
});
export type CompactionSettings = z.infer<typeof CompactionSettings>;
