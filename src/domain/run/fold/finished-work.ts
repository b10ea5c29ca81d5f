/** After the model says that it is done: verification, then review, then the end. */

import { verifiedPatch } from '../../changes/change.ts';
import {
  hasObjections,
  type ReviewCompleted,
  type ReviewFailed,
  type ReviewState,
} from '../../findings/review.ts';
import type { VerifyCompleted } from '../events.ts';
import type { StopReason } from '../limits.ts';
import type { Phase, RunState } from '../state.ts';
import { judgeReports } from '../verify-baseline.ts';
import { withCharge } from './bill.ts';

/** What comes next once the model says that it is done. */
export function workDone(state: RunState, summary: string): Phase {
  return state.verify.length > 0 ? { at: 'verify', summary } : checkedWork(state, summary);
}

/** Work that passed what the runner checks by itself. Where nothing was changed there is nothing to review. */
function checkedWork({ review, changes }: RunState, summary: string): Phase {
  const isDue = review?.status === 'due' && changes.net().length > 0;
  return isDue ? { at: 'review', summary } : { at: 'ended', how: 'done', summary };
}

/** After the verify commands: a failure goes back to the model. */
export function afterVerify(state: RunState, { tree, reports, otherwise }: VerifyCompleted): RunState {
  const { failed } = judgeReports(reports, state.verifyBaseline);
  const summary = state.phase.at === 'verify' ? state.phase.summary : '';
  return {
    ...state,
    reports,
    rounds: [...state.rounds, { tree, reports }],
    verified: verifiedPatch(state.changes.net(), otherwise),
    phase: failed.length > 0 ? { at: 'fix', failed, summary } : checkedWork(state, summary),
  };
}

/** After a review: blocking findings go back to the model. */
export function afterFindings(state: RunState, event: ReviewCompleted): RunState {
  const charge = {
    ...withCharge(state, undefined, event.turn),
    modelMs: state.modelMs + event.turn.durationMs,
  };
  if (state.review === null || state.phase.at !== 'review') return charge;
  const { summary } = state.phase;
  const { findings, leftOut } = event;
  const patch = verifiedPatch(state.changes.net(), []);
  const review: ReviewState = { ...state.review, status: 'done', findings, leftOut, summary, patch };
  return {
    ...charge,
    review,
    phase: hasObjections(review) ? { at: 'objections', summary } : asFinished(state.phase),
  };
}

/** After a review that came to nothing: it is tried again, or the work ends without one. */
export function afterNoFindings(state: RunState, event: ReviewFailed): RunState {
  return {
    ...withCharge(state, event.spent, event.turn),
    review: state.review && {
      ...state.review,
      status: event.again ? 'due' : 'failed',
      reason: event.message,
    },
    phase: event.again ? state.phase : asFinished(state.phase),
  };
}

/** After the end of the run, which may be that of finished work that was about to be looked at once more. */
export function afterStop(state: RunState, stop: StopReason): RunState {
  if (stop.why !== 'completed') return { ...state, stop };
  return { ...state, stop, phase: { at: 'ended', how: 'done', summary: stop.summary } };
}

/** The end of the work where it was being reviewed; any other phase stays as it is. */
function asFinished(phase: Phase): Phase {
  return phase.at === 'review' ? { at: 'ended', how: 'done', summary: phase.summary } : phase;
}
