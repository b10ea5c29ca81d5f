/** Brings another checkout of the same base to the state of the run. */

import { revertChanges } from '../../adapters/workspace/restore/restore.ts';
import { moveBeginning } from '../../adapters/workspace/unwalked/unseen-changes.ts';
import { type PathChange, sameState } from '../../domain/changes/change.ts';
import { changesRecorded, workTreeStates } from '../../domain/journal/change-events.ts';
import type { RunAction } from '../../domain/run/events.ts';
import { usageError } from '../../domain/run/outcome.ts';
import { runBefore } from '../open/setup-commands.ts';
import { type Stopped, stopped, stoppedBefore } from '../ready.ts';
import type { OpenedRun } from '../run-spec.ts';
import type { Session } from '../session.ts';
import type { RecordedRun } from './recorded-run.ts';

/** The other checkout. */
interface Transfer extends Pick<OpenedRun, 'workspace' | 'sandbox' | 'verifyPlace'> {
  /** How it, being as the base in these paths, differs from the state of the run (`before`). */
  readonly lacking: readonly PathChange[];
}

/**
 * The setup commands run again, since the ignored files they made are missing here; then every recorded change is applied.
 * Anything else that setup commands changed is recorded as unattributed.
 */
export async function transferChanges(
  session: Session,
  run: RecordedRun,
  { lacking, ...places }: Transfer,
): Promise<{ status: 'ok'; actions: RunAction[] } | Stopped> {
  const [start] = run.events;
  const { workspace } = places;
  const { root } = workspace;
  const states = workTreeStates(run.events);
  const stores = { root, shadowDir: run.directory.shadowGit };
  const notPut = (failure: string) =>
    stopped(
      usageError('ERR_CHANGES_NOT_TRANSFERRED', `The run's changes cannot be applied to ${root}: ${failure}`),
    );
  // A merge is there before its setup commands run, as when the run began.
  const merged = lacking.filter(({ path }) => !states.has(path));
  const unmerged = merged.length === 0 ? null : await revertChanges(stores, merged);
  if (unmerged !== null) return notPut(unmerged);
  if (merged.length > 0) await workspace.capture('all');

  const setup = start.setup.map(({ command }) => command);
  const { verifyTimeoutMs: timeoutMs } = start.toolSettings;
  const ran = await runBefore(session, { setup, verify: [], baseline: null, timeoutMs }, places);
  if (ran.status !== 'ok') return stoppedBefore(session, ran);

  // The ignored files that they have just made are there as they would be before the work.
  moveBeginning(run.directory.shadowGit);
  const wanted = new Map(lacking.map(({ path, before }) => [path, before]));
  for (const { path } of ran.changes) {
    const state = states.get(path);
    if (state !== undefined) wanted.set(path, state);
  }
  const changes = [...wanted].map(([path, before]) => ({ path, before, after: null }));
  const failure = await revertChanges(stores, changes);
  if (failure !== null) return notPut(failure);

  const now = new Map((await workspace.capture('all')).map(({ path, after }) => [path, after]));
  for (const [path, state] of wanted) {
    if (now.has(path) && !sameState(now.get(path) ?? null, state))
      return stopped(
        usageError(
          'ERR_CHANGES_NOT_TRANSFERRED',
          `${path} cannot be restored in ${root}: its content reads differently there.`,
        ),
      );
  }
  const others = ran.changes.filter(({ path }) => !wanted.has(path));
  return { status: 'ok', actions: changesRecorded(others, { by: 'outside' }, run.state.iterations) };
}
