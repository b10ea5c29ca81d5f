/** The part of the result that follows from the events so far: at the end of a run, and when its process ends at once. */

import { withAttemptHosts, withAttempts } from '../../domain/attempts/attempts.ts';
import { unverifiedPaths } from '../../domain/changes/change.ts';
import { reviewPart } from '../../domain/findings/review.ts';
import { type Denials, withDenials } from '../../domain/review/denied.ts';
import { withLostRequest } from '../../domain/run/fold/advance.ts';
import { withAskedHosts } from '../../domain/run/fold/turn.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { type RunState, usesOf } from '../../domain/run/state.ts';
import { flakyAmong, judgeReports } from '../../domain/run/verify-baseline.ts';
import { changedLinks } from '../open/sandbox-settings.ts';
import type { Session } from '../session.ts';

/** What the events say so far, including the spending of other attempts. */
export function knownPart({ input }: Session, state: RunState, denied: Denials) {
  const spent = statePart(state);
  const { attempts = null } = input;
  return {
    ...(attempts === null ? spent : withAttempts(spent, attempts)),
    attempts,
    denied: [...denied.named],
    deniedCount: denied.count,
    durations: { totalMs: 0, modelMs: state.modelMs },
  } satisfies Partial<RunResult>;
}

/** What is known when the process ends at once. */
export function partSoFar(session: Session, state: RunState): Partial<RunResult> {
  return knownPart(session, state, allDenied(session, state));
}

/** Includes the hosts asked for after the last event, and hard links of mounts that were changed. The result lists those of the whole run, whichever process or attempt it was. */
export function allDenied(session: Session, state: RunState): Denials {
  const { attempts = null } = session.input;
  const { denied, hosts: own } = withAskedHosts(state, session.asked.pending);
  const hosts = attempts === null ? [...own] : withAttemptHosts(own, attempts);
  session.record({ network: { allowed: session.result.network?.allowed ?? null, hosts } });
  return withDenials(denied, changedLinks(session));
}

/** The part known from the events so far. A request without an end is estimated. */
function statePart(now: RunState) {
  const state = withLostRequest(now);
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
    verifyRounds: state.rounds.map(({ tree, reports }) => ({ tree, reports: [...reports] })),
    flaky: flakyAmong(state.rounds, state.verifyBaseline),
    unverified: unverifiedPaths(state.verified, state.changes.net()),
    preexistingFailures: judgeReports(state.reports, state.verifyBaseline).preexisting.map(
      ({ command }) => command,
    ),
    // Also of work that failed a verify command or was still being looked at.
    summary: 'summary' in state.phase ? state.phase.summary : '',
    answer: state.phase.at === 'ended' && state.phase.how === 'done' ? state.answer : null,
  } satisfies Partial<RunResult>;
}
