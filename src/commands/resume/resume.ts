/** `patchsmith resume`: carries on a run that was killed, from its last recorded event. */

import { providerNamed } from '../../adapters/providers/registry.ts';
import { openRunDirectory } from '../../adapters/storage/find-run.ts';
import { readJournal } from '../../adapters/storage/read-journal.ts';
import { readResult } from '../../adapters/storage/run-directory.ts';
import { lockRun, runIsBusy } from '../../adapters/storage/run-lock.ts';
import { isWithin } from '../../domain/changes/path.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { openRun } from '../../engine/open-run.ts';
import { runOpened } from '../../engine/run.ts';
import type { EarlierPart, RunInput } from '../../engine/session.ts';
import { flagsToRepeat, withinToday } from './recorded-permissions.ts';
import { callsOf, type RecordedRun, stateOf } from './recorded-run.ts';
import { resumedRun } from './spec.ts';

/** Which run to carry on. */
export interface ResumeRequest {
  /** A run directory or the id of a run. */
  readonly run: string;
  /** Accept what others changed in the work tree as part of the baseline. */
  readonly acceptChanges: boolean;
}

/** `refused` has changed nothing. */
export type Resumed = { status: 'told'; outcome: RunOutcome } | { status: 'refused'; problems: string[] };

/**
 * The task and how it is done are recorded. What the run is permitted comes from the settings: where the journal asks for more
 * than they do it is refused, where they protect more they hold.
 */
export async function resumeRun(input: RunInput, { run, acceptChanges }: ResumeRequest): Promise<Resumed> {
  const found = await openRunDirectory(run, input);
  if (found.status === 'failed') return refused(found.message);
  const { directory } = found;
  const letGo = await lockRun(directory.path);
  if (letGo === null) return refused(runIsBusy(directory.path));
  try {
    const earlier = readResult(directory);
    if (earlier?.status === 'finished' && !ENDED_BY_THE_MACHINE.includes(earlier.outcome ?? '')) {
      const end = `${earlier.outcome} (exit ${earlier.exitCode})`;
      return refused(
        `The run ${earlier.runId} has ended: ${end}. Only a run that was killed, or that a machine failure ended, can be resumed.`,
      );
    }
    const read = readJournal(directory.events);
    if (read.status === 'failed') return refused(`${read.message} Start a new run with patchsmith run.`);
    const [recordedStart, ...rest] = read.events;
    const start = withinToday(recordedStart, input.settings);
    const recorded: RecordedRun = { directory, events: [start, ...rest], journalBytes: read.bytes };
    const obstacle = whyNot(recorded, input);
    if (obstacle !== null) return refused(obstacle);
    const before = earlierPartOf(recorded, earlier?.warnings ?? []);
    const spec = resumedRun(recorded, { acceptChanges });
    const outcome = await runOpened(input, (session) => openRun(session, spec), before);
    return { status: 'told', outcome };
  } finally {
    letGo();
  }
}

/** Outcomes of runs that have not come to their own end: with room on the disk they would have gone on. */
const ENDED_BY_THE_MACHINE: readonly string[] = ['internal_error', 'publish_failed'];

/** Null when the recorded run can be carried on. */
function whyNot(
  { directory, events: [start] }: RecordedRun,
  { settings, cwd, providers }: RunInput,
): string | null {
  const provider = providerNamed(start.provider, providers);
  if (provider === null)
    return `The run ${start.runId} was answered by the provider ${JSON.stringify(start.provider)}, which this patchsmith does not have.`;
  if (!provider.canResume)
    return `The answers of the run ${start.runId} come from ${start.provider}, so nothing is lost by running it again with patchsmith run --provider ${start.provider}.`;
  const { root, plan, paths, acceptSecrets, verify, setup } = start;
  const given = [
    root,
    plan.allow,
    plan.protect,
    paths,
    acceptSecrets,
    verify,
    setup.map(({ command }) => command),
  ];
  if (JSON.stringify(given).includes('***'))
    return `The journal of the run ${start.runId} has *** in place of a secret in its paths, globs or commands. Start a new run.`;
  if (settings.repo === null && !isWithin(cwd, start.root))
    return `The run worked in ${start.root}, not in ${cwd}. Go there, or name another checkout of the same base with --repo.`;
  const flags = flagsToRepeat(start, settings);
  return flags.length === 0
    ? null
    : `The run was allowed things that are not allowed here, and a run directory cannot grant them. Repeat the flags that you agree to: patchsmith resume ${directory.path} ${flags.join(' ')}`;
}

function earlierPartOf(run: RecordedRun, warnings: readonly string[]): EarlierPart {
  const { runId, limits, verifyBaseline } = run.events[0];
  const { now, startedAt } = stateOf(run);
  return {
    runId,
    limits,
    spentMs: Math.max(0, now - startedAt),
    warnings,
    verifyBaseline,
    calls: callsOf(run.events),
  };
}

function refused(problem: string): Resumed {
  return { status: 'refused', problems: [problem] };
}
