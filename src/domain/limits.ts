/** The fences of a run, and the one place that decides whether it goes on. */

import { z } from 'zod';
import { totalTokens } from './conversation.ts';
import type { RunState } from './state.ts';

/** Null is "no limit". */
export const Limits = z.strictObject({
  maxIterations: z.int().positive(),
  /** Of the whole run: input, output and cached tokens together. */
  maxTokens: z.int().positive().nullable(),
  maxCostUsd: z.number().positive().nullable(),
  deadlineMs: z.int().positive(),
  fixRounds: z.int().nonnegative(),
  /** Times in a row that an answer cut off by the output limit is continued. */
  maxTokensRecoveries: z.int().nonnegative(),
  /** Identical turns with identical results in a row that count as a stall. */
  stallTurns: z.int().min(2),
});
export type Limits = z.infer<typeof Limits>;

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
  z.strictObject({ cause: z.literal('signal'), signal: z.enum(['SIGINT', 'SIGTERM']) }),
  z.strictObject({ cause: z.literal('deadline') }),
]);
export type Interruption = z.infer<typeof Interruption>;

/** Why the loop ended. Numbers are in the unit of the limit: turns, tokens, USD, milliseconds. */
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
    limit: z.enum(['iterations', 'tokens', 'cost_usd', 'output_tokens', 'context_window']),
    value: z.number(),
    used: z.number(),
  }),
  z.strictObject({ why: z.literal('deadline'), valueMs: z.number(), usedMs: z.number() }),
  z.strictObject({ why: z.literal('interrupted'), signal: z.enum(['SIGINT', 'SIGTERM']) }),
  z.strictObject({ why: z.literal('provider'), kind: ProviderFailureKind, message: z.string() }),
]);
export type StopReason = z.infer<typeof StopReason>;

/** Null means: go on. Checked before every step of the loop, so that no call starts beyond a fence. */
export function stopReason(state: RunState, limits: Limits): StopReason | null {
  const usedMs = state.now - state.startedAt;
  if (state.interruption?.cause === 'signal')
    return { why: 'interrupted', signal: state.interruption.signal };
  // Work that is done stays done, also when the clock runs out while the last event is written.
  if (state.phase.at === 'ended') return endOfWork(state);
  if (state.interruption?.cause === 'deadline' || usedMs >= limits.deadlineMs) {
    return { why: 'deadline', valueMs: limits.deadlineMs, usedMs };
  }
  if (state.providerFailure) return { why: 'provider', ...state.providerFailure };
  if (state.phase.at === 'fix' && state.fixRoundsUsed >= limits.fixRounds) {
    return { why: 'verify_failed', commands: state.phase.failed.map((report) => report.command) };
  }
  if (state.phase.at === 'tools' || state.phase.at === 'verify') return null;
  if (state.cutOffsInARow > limits.maxTokensRecoveries) {
    return {
      why: 'limit',
      limit: 'output_tokens',
      value: limits.maxTokensRecoveries,
      used: state.cutOffsInARow,
    };
  }
  if (state.repeats >= limits.stallTurns) {
    return {
      why: 'blocked',
      by: 'stall',
      reason: `The same calls gave the same results ${state.repeats} times in a row.`,
    };
  }
  const tokens = totalTokens(state.usage);
  if (limits.maxTokens !== null && tokens >= limits.maxTokens) {
    return { why: 'limit', limit: 'tokens', value: limits.maxTokens, used: tokens };
  }
  if (limits.maxCostUsd !== null && state.costUsd !== null && state.costUsd >= limits.maxCostUsd) {
    return { why: 'limit', limit: 'cost_usd', value: limits.maxCostUsd, used: state.costUsd };
  }
  if (state.iterations >= limits.maxIterations) {
    return { why: 'limit', limit: 'iterations', value: limits.maxIterations, used: state.iterations };
  }
  return null;
}

function endOfWork(state: RunState): StopReason | null {
  if (state.phase.at !== 'ended') return null;
  const { how, summary } = state.phase;
  switch (how) {
    case 'done':
      return { why: 'completed', summary };
    case 'blocked':
      return { why: 'blocked', by: 'model', reason: summary };
    case 'refused':
      return { why: 'blocked', by: 'refusal', reason: summary };
    case 'context_full':
      return {
        why: 'limit',
        limit: 'context_window',
        value: state.lastPromptTokens,
        used: state.lastPromptTokens,
      };
  }
}
