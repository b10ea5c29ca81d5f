/** The verdict on a replay: whether it went the recorded way to the recorded patch. */

import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { sameBytes } from '../../adapters/storage/same-bytes.ts';
import { describeDivergence } from '../../domain/journal/divergence.ts';
import type { RunEvent } from '../../domain/run/events.ts';
import { done, type RunOutcome, verifyFailed } from '../../domain/run/outcome.ts';
import { pluralize } from '../../domain/text/pluralize.ts';
import type { ProvenPatch } from '../../ports.ts';
import type { ReplayTracker } from './tracker.ts';

/** What a replay is judged by. */
export interface ReplayedRun {
  readonly run: RunDirectory;
  readonly events: readonly RunEvent[];
  readonly follower: ReplayTracker;
  readonly signal: AbortSignal;
}

/** A replay succeeds when it goes the recorded way to the recorded patch, whatever the run's outcome was. */
export function judgeReplay(
  decided: RunOutcome,
  patch: ProvenPatch | null,
  { run, events, follower, signal }: ReplayedRun,
): RunOutcome {
  if (signal.aborted || decided.name === 'publish_failed') return decided;
  const [first, ...more] = follower.divergences();
  const same = sameBytes(run.patch, patch?.bytes ?? null);
  if (first) {
    const others =
      more.length > 0
        ? ` ${pluralize(more.length, 'more event')} ${more.length === 1 ? 'differs' : 'differ'} too.`
        : '';
    const both = same ? 'The patch is the same.' : 'The patch differs.';
    return verifyFailed(`The replay diverges at ${describeDivergence(first)}.${others} ${both}`);
  }
  if (!same) {
    return verifyFailed(`The replay followed the recording but made a different patch than ${run.patch}.`);
  }
  const bytes = patch?.bytes.length ?? 0;
  return done(
    `${pluralize(events.length, 'event')} replayed to the same patch, byte for byte (${pluralize(bytes, 'byte')}).`,
  );
}
