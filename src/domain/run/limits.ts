/** The limits of a run, and the reasons it can end. */

import * as z from 'zod';
import { ExceededChangeLimit } from './change-limits.ts';
import { StopSignal } from './exit-code.ts';

/** Null is "no limit". */
export const Limits = z.strictObject({
  maxIterations: z.int().positive(),
  /** For the whole run: input, output and cached tokens together. */
  maxTotalTokens: z.int().positive().nullable(),
  maxCostUsd: z.number().positive().nullable(),
  deadlineMs: z.int().positive(),
  fixRounds: z.int().nonnegative(),
  /** How many times in a row an answer cut off by the output limit is continued. */
  maxTokensRecoveries: z.int().nonnegative(),
  maxChangedFiles: z.int().positive(),
  /** Maximum bytes of changed files that are recorded, in total and per file. */
  maxChangedBytes: z.int().positive(),
  maxChangedFileBytes: z.int().positive(),
  /** Number of identical turns with identical results in a row that count as a stall. */
  stallTurns: z.int().min(2),
});
export type Limits = z.infer<typeof Limits>;

/** The same for every run; there is no setting for it. */
export const MAX_RECOVERIES = 3;
/** Number of turns in a row with the same calls and the same results after which a run ends. */
export const MAX_STALL_TURNS = 5;

/** Why a provider could not answer, by class. */
export const ProviderFailureKind = z.enum([
  'authentication',
  'billing',
  'permission',
  'not_found',
  'invalid_request',
  'too_large',
  'rate_limit',
  'outage',
  'stream',
  'recording',
]);
export type ProviderFailureKind = z.infer<typeof ProviderFailureKind>;

/** What stops a run from outside. */
export const Interruption = z.discriminatedUnion('cause', [
  z.strictObject({ cause: z.literal('signal'), signal: StopSignal }),
  z.strictObject({ cause: z.literal('deadline') }),
]);
export type Interruption = z.infer<typeof Interruption>;

/** Why the loop ended. Numbers are in the unit of the limit: turns, tokens, USD, milliseconds, files, bytes, entries. */
export const StopReason = z.discriminatedUnion('why', [
  z.strictObject({ why: z.literal('completed'), summary: z.string() }),
  z.strictObject({ why: z.literal('verify_failed'), commands: z.array(z.string()) }),
  z.strictObject({
    why: z.literal('blocked'),
    by: z.enum(['model', 'refusal', 'stall']),
    reason: z.string(),
  }),
  z.strictObject({
    why: z.literal('limit'),
    limit: z.enum([
      ...(['iterations', 'tokens', 'cost_usd', 'output_tokens', 'context_window'] as const),
      ...ExceededChangeLimit.shape.limit.options,
    ]),
    value: z.number(),
    used: z.number(),
    /** Of tokens and cost: what the next request could have come to, so that it was not made. */
    needed: z.number().exactOptional(),
    folder: ExceededChangeLimit.shape.folder,
  }),
  z.strictObject({
    why: z.literal('deadline'),
    valueMs: z.number(),
    usedMs: z.number(),
    /** What the run was waiting for, as the end of a sentence; absent if it was nothing in particular. */
    awaited: z.string().exactOptional(),
  }),
  z.strictObject({ why: z.literal('interrupted'), signal: StopSignal }),
  /** A command before the work failed. `reason` is a sentence for people. */
  z.strictObject({ why: z.literal('unready'), reason: z.string() }),
  z.strictObject({ why: z.literal('provider'), kind: ProviderFailureKind, message: z.string() }),
]);
export type StopReason = z.infer<typeof StopReason>;
