/**
 * Brings the chosen attempt into the user's work tree. Its directory becomes that of the run, and the run is resumed in another
 * checkout of its base: its recorded changes are applied there, its setup commands run again, and its patch is made and proven
 * again. The model is not asked. If the process dies along the way, the run can be resumed.
 */

import { existsSync, renameSync, rmSync } from 'node:fs';
import { readJournal } from '../../adapters/storage/read-journal.ts';
import { runDirectoryAt } from '../../adapters/storage/run-directory.ts';
import { type Attempts, withAttemptHosts, withAttempts } from '../../domain/attempts/attempts.ts';
import { publishFailed, type RunOutcome, type Stopped, stopped } from '../../domain/run/outcome.ts';
import { continuing } from '../finish/crash.ts';
import { openRun } from '../open-run.ts';
import { recordedRun } from '../resumed/recorded-run.ts';
import { resumedRun } from '../resumed/spec.ts';
import { type OpenFor, runOpened } from '../run.ts';
import type { Session } from '../session.ts';
import type { AttemptsPlace, Made } from './make-attempt.ts';

/** The chosen attempt, and what to report about all of them. */
export interface Chosen extends AttemptsPlace {
  readonly status: 'chosen';
  readonly best: Made;
  readonly attempts: Attempts;
}

/** `session` is that of the whole run, whose locks are held. */
export async function bringIn(
  session: Session,
  { checkout, directory, best, attempts }: Chosen,
): Promise<RunOutcome> {
  const { input, startedAt, limits, result } = session;
  const { watcher } = input;
  const { path } = best.attempt;
  // If the process dies from here on, the run is resumed.
  session.recordAndSave({ attempts });
  takeOver(path, directory.path);
  const journal = await readJournal(directory.events);
  if (journal.status === 'failed') throw new Error(journal.message);
  const { deadlineMs } = limits;
  const run = await recordedRun(directory, journal, null, (start) => {
    return { ...start, limits: { ...start.limits, deadlineMs } };
  });
  const { stop } = run.state;
  const warnings = [...result.warnings, ...best.warnings];
  const spec = resumedRun(run, { acceptChanges: false, ...(stop === null ? {} : { stop }) });
  const open: OpenFor = async (session) => {
    // However this ends, the result lists what exists.
    session.directory = directory;
    const { network } = best.result;
    session.record({
      ...withAttempts(inPlace(best, directory), attempts),
      attempts,
      warnings,
      network: network && { ...network, hosts: withAttemptHosts(network.hosts, attempts) },
    });
    const opened = await openRun(session, spec);
    return opened.status === 'stopped' && !input.interrupt.aborted
      ? notApplied(opened, directory, continuing(session, directory.path, { repo: checkout.root }))
      : opened;
  };
  return runOpened(
    {
      ...input,
      // Observers already know that the work has begun, and where.
      ...(watcher === undefined
        ? {}
        : { watcher: { onStart() {}, onDirectory() {}, onResult: (result) => watcher.onResult(result) } }),
      terminal: null,
      settings: { ...input.settings, repo: checkout.root },
      startNotes: [],
      attempts,
      attemptsBeganAt: startedAt,
      holdsWorkTree: true,
    },
    open,
    { run, warnings, spentMs: input.now() - startedAt },
  );
}

/** The result of the attempt, with the current paths of its files. */
function inPlace({ result }: Made, directory: AttemptsPlace['directory']) {
  const { runId: _, status: __, patch, uncommittedPatch, ...others } = result;
  return {
    ...others,
    patch: patch && { ...patch, path: directory.patch },
    uncommittedPatch: uncommittedPatch && { ...uncommittedPatch, path: directory.uncommitted },
  };
}

/** The journal comes last: a directory without one contains no run. */
function takeOver(from: string, to: string): void {
  const [old, own] = [runDirectoryAt(from), runDirectoryAt(to)];
  const names = ['shadowGit', 'patch', 'uncommitted', 'report', 'events'] as const;
  for (const name of names) if (existsSync(old[name])) renameSync(old[name], own[name]);
  rmSync(from, { recursive: true, force: true });
}

function notApplied({ outcome }: Stopped, { patch }: AttemptsPlace['directory'], command: string): Stopped {
  const kept = existsSync(patch) ? ` Its patch is kept: ${patch}.` : '';
  return stopped(
    publishFailed(
      'ERR_ATTEMPT_NOT_APPLIED',
      `The chosen attempt could not be applied to the work tree: ${outcome.reason}${kept} Fix that, then continue with: ${command}`,
    ),
  );
}
