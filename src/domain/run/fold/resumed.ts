/** After a stopped run is resumed. */

import type { EventPlace, RunResumed } from '../events.ts';
import type { Phase, RunState } from '../state.ts';

/** Forgets only what lay outside the run. Whatever else had stopped it stops it again, unless that has changed. */
export function afterResuming(before: RunState, event: RunResumed & EventPlace): RunState {
  const { stop, providerFailure } = before;
  const wasCapped = stop?.why === 'limit' && before.lastTurn !== null;
  const wasCutOff = stop?.why === 'limit' && stop.limit === 'output_tokens';
  return {
    ...before,
    seq: event.seq,
    now: event.at,
    // Who may only finish for want of tokens or money is not blocked by the work.
    phase:
      wasCapped && before.phase.at === 'ended' && before.phase.how === 'blocked'
        ? { at: 'model' }
        : withoutStoppedVerification(before.phase),
    base: event.base,
    limits: event.limits,
    superseded: event.supersedes ? [...before.superseded, event.supersedes] : before.superseded,
    startedAt: event.at - Math.max(0, before.now - before.startedAt),
    cutOffsInARow: wasCutOff ? 0 : before.cutOffsInARow,
    // There may be more to spend by now. Calls of the last answer stay those of a last answer.
    lastTurn: before.phase.at === 'tools' ? before.lastTurn : null,
    warnedOf: new Set(),
    interruption: null,
    overChanges: null,
    // A conversation that is too large for the model stays so.
    providerFailure: providerFailure?.kind === 'too_large' ? providerFailure : null,
    stop: null,
  };
}

/** An interrupted verification has shown nothing: it starts over and does not cost a fix round. */
function withoutStoppedVerification(phase: Phase): Phase {
  return phase.at === 'fix' && phase.failed.some(({ end }) => end.interrupted)
    ? { at: 'verify', summary: phase.summary }
    : phase;
}
