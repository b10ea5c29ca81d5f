/** The one place that decides whether a run goes on. */

import { capAfter, nextRequest } from '../budget/next-request.ts';
import type { Interruption, Limits, StopReason } from './limits.ts';
import type { RunState } from './state.ts';

/** Null means go on. Checked before every step of the loop, so that no call starts beyond a limit. */
export function stopReason(state: RunState, limits: Limits): StopReason | null {
  const usedMs = state.now - state.startedAt;
  if (state.interruption?.cause === 'signal')
    return { why: 'interrupted', signal: state.interruption.signal };
  if (state.unready !== null) return { why: 'unready', reason: state.unready };
  // Nothing that looks like success may rest on changes that were not examined.
  if (state.overChanges !== null) return { why: 'limit', ...state.overChanges };
  // Finished work stays finished, even when the clock runs out while the last event is written.
  if (state.phase.at === 'ended') return endOfWork(state);
  if (state.interruption?.cause === 'deadline' || usedMs >= limits.deadlineMs) {
    return deadlinePassed(state, limits);
  }
  if (state.providerFailure?.kind === 'too_large') return contextFull(state);
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
  const next = nextRequest(state, limits);
  // A verification that failed has said what there is to say: the last answer could not fix it.
  if (next.status === 'none' || (next.status === 'last_turn' && state.phase.at === 'fix')) {
    return { why: 'limit', ...next.cap };
  }
  if (state.iterations >= limits.maxIterations) {
    return { why: 'limit', limit: 'iterations', value: limits.maxIterations, used: state.iterations };
  }
  return null;
}

/** The reason for a run that was cut short, whatever else it had reached by then. */
export function stopOfInterruption(state: RunState, interruption: Interruption, limits: Limits): StopReason {
  return interruption.cause === 'signal'
    ? { why: 'interrupted', signal: interruption.signal }
    : deadlinePassed(state, limits);
}

function deadlinePassed(state: RunState, { deadlineMs }: Limits): StopReason {
  const { phase, now, startedAt } = state;
  const awaited = state.awaited ?? (phase.at === 'model' ? "the model's answer" : null);
  const passed = { why: 'deadline', valueMs: deadlineMs, usedMs: now - startedAt } as const;
  return awaited === null ? passed : { ...passed, awaited };
}

function endOfWork(state: RunState): StopReason | null {
  if (state.phase.at !== 'ended') return null;
  const { how, summary } = state.phase;
  switch (how) {
    case 'done':
      return { why: 'completed', summary };
    case 'blocked':
      // What is missing is missing for want of tokens or money.
      if (state.lastTurn !== null) return { why: 'limit', ...capAfter(state, state.lastTurn) };
      return { why: 'blocked', by: 'model', reason: summary };
    case 'refused':
      return { why: 'blocked', by: 'refusal', reason: summary };
    case 'context_full':
      return contextFull(state);
  }
}

/** Only the API knows the size of the window; what is known here is the last prompt that fitted. */
function contextFull({ lastPromptTokens }: RunState): StopReason {
  return { why: 'limit', limit: 'context_window', value: lastPromptTokens, used: lastPromptTokens };
}
