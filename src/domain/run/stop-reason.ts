/** The one place that decides whether a run continues. */

import { changedSinceReview } from '../findings/review.ts';
import { capAfter, nextRequest } from './budget.ts';
import type { Interruption, Limits, StopReason } from './limits.ts';
import type { RunState } from './state.ts';
import { judgeReports } from './verify-baseline.ts';

/** How many times in a row an answer that the output limit cut off is continued. */
const MAX_RECOVERIES = 3;
/** Number of turns in a row with the same calls and the same results after which a run ends. */
const MAX_STALL_TURNS = 5;

/** Null means continue. Checked before every step of the loop, so that no call starts beyond a limit. */
export function stopReason(state: RunState, limits: Limits): StopReason | null {
  const stop = reasonToStop(state, limits);
  // The cost or the failure of a review does not invalidate work that was finished before it.
  const summary = stop !== null && isForWant(stop, state) ? finishedBefore(state) : null;
  return summary === null ? stop : { why: 'completed', summary };
}

/** The model's summary of finished work that has neither changed nor failed since; null if there is none. */
function finishedBefore({ phase, review, changes, reports, verifyBaseline }: RunState): string | null {
  if (phase.at === 'review' || phase.at === 'objections') return phase.summary;
  // Calls in progress may still change something.
  if (review === null || !review.sentBack || phase.at === 'tools') return null;
  if (judgeReports(reports, verifyBaseline).failed.length > 0) return null;
  return changedSinceReview(review, changes.net())?.length === 0 ? review.summary : null;
}

/** An end for want of time, money or an answer: it says nothing about the work. */
function isForWant(stop: StopReason, { fallback, overChanges }: RunState): boolean {
  switch (stop.why) {
    case 'deadline':
      return true;
    case 'limit':
      return overChanges === null;
    // Another model may continue instead.
    case 'provider':
      return fallback === null;
    case 'blocked':
      return stop.by === 'stall' || (stop.by === 'refusal' && fallback === null);
    case 'completed':
    case 'interrupted':
    case 'unready':
    case 'verify_failed':
      return false;
  }
}

function reasonToStop(state: RunState, limits: Limits): StopReason | null {
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
  // A review is not a turn of the work, and checks the caps itself.
  if (['tools', 'verify', 'review'].includes(state.phase.at)) return null;
  if (state.cutOffsInARow > MAX_RECOVERIES) {
    return { why: 'limit', limit: 'output_tokens', value: MAX_RECOVERIES, used: state.cutOffsInARow };
  }
  if (state.repeats >= MAX_STALL_TURNS) {
    return {
      why: 'blocked',
      by: 'stall',
      reason: `The same calls gave the same results ${state.repeats} times in a row.`,
    };
  }
  const next = nextRequest(state, limits);
  // A failed verification or a review already says what is wrong, and one last answer could not fix it.
  const isSaid = state.phase.at === 'fix' || state.phase.at === 'objections';
  if (next.status === 'none' || (next.status === 'last_turn' && isSaid)) {
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
  const awaited = state.awaited ?? AWAITED_IN[phase.at] ?? null;
  const passed = { why: 'deadline', valueMs: deadlineMs, usedMs: now - startedAt } as const;
  return awaited === null ? passed : { ...passed, awaited };
}

/** Used if no event is more specific. */
const AWAITED_IN: Partial<Record<RunState['phase']['at'], string>> = {
  model: "the model's answer",
  tools: 'the calls of the last answer',
  verify: 'the verify commands',
  review: 'the review',
};

function endOfWork(state: RunState): StopReason | null {
  if (state.phase.at !== 'ended') return null;
  const { how, summary } = state.phase;
  switch (how) {
    case 'done':
      return { why: 'completed', summary };
    case 'blocked':
      // The work is incomplete for lack of tokens or money.
      if (state.lastTurn !== null) return { why: 'limit', ...capAfter(state, state.lastTurn) };
      return { why: 'blocked', by: 'model', reason: summary };
    case 'refused':
      return { why: 'blocked', by: 'refusal', reason: summary };
    case 'context_full':
      return contextFull(state);
  }
}

/** Only the API knows the size of the window; here only the last prompt that fitted is known. */
function contextFull({ lastPromptTokens }: RunState): StopReason {
  return { why: 'limit', limit: 'context_window', value: lastPromptTokens, used: lastPromptTokens };
}
