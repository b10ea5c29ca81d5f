/** The part of the result that follows from the events so far: at the end of a run, and when its process ends at once. */

import { withAttemptHosts, withAttempts } from '../../domain/attempts/attempts.ts';
import type { Denials } from '../../domain/review/denied.ts';
import { withAskedHosts } from '../../domain/run/fold/egress.ts';
import type { RunResult } from '../../domain/run/result.ts';
import type { RunState } from '../../domain/run/state.ts';
import type { Session } from '../session.ts';
import { statePart } from './parts/state-part.ts';

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

/** What is known when the process ends at once. The cost of a request in progress is not. */
export function partSoFar(session: Session, state: RunState): Partial<RunResult> {
  const known = knownPart(session, state, allDenied(session, state));
  const isAsking = state.phase.at === 'model' || state.phase.at === 'review';
  return isAsking ? { ...known, costUsd: 'unknown', estimated: true } : known;
}

/** Includes the hosts asked for after the last event. The result lists those of the whole run, whichever process or attempt it was. */
export function allDenied(session: Session, state: RunState): Denials {
  const { attempts = null } = session.input;
  const { denied, hosts: own } = withAskedHosts(state, session.asked.pending);
  const hosts = attempts === null ? [...own] : withAttemptHosts(own, attempts);
  session.record({ network: { allowed: session.result.network?.allowed ?? null, hosts } });
  return denied;
}
