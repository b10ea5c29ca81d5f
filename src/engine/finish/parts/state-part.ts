/** What the result says of the state that the events add up to. */

import { unverifiedPaths } from '../../../domain/changes/verified-patch.ts';
import { reviewPart } from '../../../domain/findings/review.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import { type RunState, usesOf } from '../../../domain/run/state.ts';
import { judgeReports } from '../../../domain/run/verify-baseline.ts';

/** The part known from the events so far. */
export function statePart(state: RunState) {
  return {
    superseded: [...state.superseded],
    iterations: state.iterations,
    compactions: state.compaction.done.map((one) => ({ ...one, costUsd: one.costUsd ?? 'unknown' })),
    failedCompactions: state.compaction.failures,
    models: usesOf(state),
    review: reviewPart(state.review, state.changes.net()),
    tokens: state.usage,
    costUsd: state.costUsd ?? 'unknown',
    estimated: state.isEstimated,
    unexplained: state.changes.unexplained(),
    putBack: [...state.putBack]
      .map(([path, by]) => ({ path, by }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    verify: [...state.reports],
    unverified: unverifiedPaths(state.verified, state.changes.net()),
    preexistingFailures: judgeReports(state.reports, state.verifyBaseline).preexisting.map(
      ({ command }) => command,
    ),
    // Also of work that failed a verify command or was still being looked at.
    summary: 'summary' in state.phase ? state.phase.summary : '',
    aliases: { ...state.aliases },
    answer: state.phase.at === 'ended' && state.phase.how === 'done' ? state.answer : null,
  } satisfies Partial<RunResult>;
}
