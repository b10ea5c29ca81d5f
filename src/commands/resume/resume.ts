/** `patchsmith resume`: continues a run that was killed or has stopped, from its last recorded event. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { providerNamed } from '../../adapters/providers/registry.ts';
import { openRunDirectory } from '../../adapters/storage/find-run.ts';
import { readJournal } from '../../adapters/storage/read-journal.ts';
import { readResult } from '../../adapters/storage/read-result.ts';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { lockRun, runIsBusy } from '../../adapters/storage/run-lock.ts';
import type { SettingKey } from '../../config/schema.ts';
import { isWithin } from '../../domain/changes/path.ts';
import { type Problem, problem } from '../../domain/errors/problem.ts';
import { flagsToContinue, resumeCommand, whyStillStopped } from '../../domain/journal/continuation.ts';
import type { SupersededEnd } from '../../domain/run/events.ts';
import { advance } from '../../domain/run/fold/advance.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { openRun } from '../../engine/open-run.ts';
import { type RecordedRun, recordedRun, resumption } from '../../engine/resumed/recorded-run.ts';
import { resumedRun } from '../../engine/resumed/spec.ts';
import { runOpened } from '../../engine/run.ts';
import type { RunInput } from '../../engine/run-input.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import type { Given } from '../command.ts';
import { readRunParts, typedFor } from '../inputs.ts';
import { namedRun, readUntil } from '../work.ts';
import { flagsToRepeat, withinToday } from './recorded-permissions.ts';

/** Starts `patchsmith resume` with the given flags and variables. */
export async function startResume(
  context: HostContext,
  { operands, flags, switches, problems }: Given,
): Promise<CommandOutcome> {
  const parts = await readRunParts(context, flags, problems, true);
  if (parts.settings === null || parts.problems.length > 0)
    return { status: 'refused', problems: parts.problems };
  const { settings, sources, keyless, othersKeyless } = parts;
  const { repo, quiet } = settings;
  const named = await namedRun(context, operands[0], { repo, quiet });
  if (named.status === 'refused') return named;
  const acceptChanges = switches.has('accept-changes');
  const typed = {
    ...typedFor('resume', flags, context.redact),
    ...(acceptChanges ? { 'accept-changes': true } : {}),
  };
  const given = (Object.keys(sources) as SettingKey[]).filter((key) => sources[key].from !== 'default');
  const lacking = [...keyless, ...othersKeyless];
  return resumeRun({ ...parts.input, typed }, { run: named.run, acceptChanges, given, lacking });
}

/** Which run to resume. */
interface ResumeRequest {
  /** A run directory or the id of a run. */
  readonly run: string;
  /** Accept other people's changes in the work tree as part of the baseline. */
  readonly acceptChanges: boolean;
  /** Settings given by a flag or a variable: limits among them replace the recorded ones. */
  readonly given: readonly SettingKey[];
  /** Keys that the settings need and that are not there. */
  readonly lacking: readonly Problem[];
}

/**
 * The task and how it is done come from the recording. What the run is permitted comes from the settings: a journal that
 * requests more is refused, and settings that protect more apply.
 */
export async function resumeRun(input: RunInput, request: ResumeRequest): Promise<CommandOutcome> {
  const { settings, now } = input;
  const begunAt = now();
  const reading = <T>(read: () => Promise<T>) => readUntil(input, settings.deadlineMs, read);
  const found = await reading(() => openRunDirectory(request.run, input));
  if (found.status === 'stopped') return found;
  if (found.status === 'failed') return refused('ERR_RUN_NOT_FOUND', found.message);
  const { directory } = found;
  const letGo = await lockRun(directory.path);
  if (letGo === null) return refused('ERR_RUN_BUSY', runIsBusy(directory.path));
  try {
    const read = await reading(() => readRecorded(directory, input, request));
    if (read.status !== 'ok') return read;
    const { recorded, earlier } = read;
    const ended = whyEnded(recorded, earlier, input);
    if (ended !== null) return refused('ERR_NOT_RESUMABLE', ended);
    const obstacle = whyNot(recorded, input);
    if (obstacle !== null) return { status: 'refused', problems: [obstacle] };
    // Which key it takes depends on the provider, which may have to be repeated first.
    if (request.lacking.length > 0) return { status: 'refused', problems: [...request.lacking] };
    // Otherwise the next end judges the work again.
    const isOfTheMachine = ENDED_BY_THE_MACHINE.includes(earlier?.outcome ?? null);
    const warnings = isOfTheMachine ? (earlier?.warnings ?? []) : [];
    const { state } = recorded;
    const spec = resumedRun(recorded, { acceptChanges: request.acceptChanges });
    const again = { ...input, attempts: earlier?.attempts ?? null };
    const spentMs = Math.max(0, state.now - state.startedAt) + now() - begunAt;
    const part = { run: recorded, warnings, spentMs };
    const outcome = await runOpened(again, (session) => openRun(session, spec), part);
    return { status: 'printed', outcome };
  } finally {
    letGo();
  }
}

interface ReadRun {
  readonly status: 'ok';
  readonly recorded: RecordedRun;
  /** The result until the run continues, or null. */
  readonly earlier: RunResult | null;
}

async function readRecorded(
  directory: RunDirectory,
  { settings }: RunInput,
  { given }: ResumeRequest,
): Promise<ReadRun | RefusedResume> {
  const read = await readJournal(directory.events);
  const attempts = join(directory.path, 'attempts');
  if (read.status === 'failed' && !existsSync(directory.events) && existsSync(attempts))
    return refused(
      'ERR_NOT_RESUMABLE',
      `No attempt of this run has been chosen. Continue one in the work tree: ${resumeCommand(join(attempts, '1'), {})} --repo DIR, or publish it when it has ended.`,
    );
  if (read.status === 'failed')
    return refused('ERR_JOURNAL_UNREADABLE', `${read.message} Start a new run with patchsmith run.`);
  const earlier = readResult(directory);
  const recorded = await recordedRun(directory, read, earlier && endOf(earlier), (start) =>
    withinToday(start, settings, given),
  );
  return { status: 'ok', recorded, earlier };
}

/** Outcomes of runs that did not end by themselves: with enough disk space they would have continued. */
const ENDED_BY_THE_MACHINE: readonly (string | null)[] = ['internal_error', 'publish_failed'];

/** Null when the run has something left to do within its limits, or lacks its end. */
function whyEnded(recorded: RecordedRun, earlier: RunResult | null, input: RunInput): string | null {
  if (earlier?.status !== 'finished' || ENDED_BY_THE_MACHINE.includes(earlier.outcome)) return null;
  const stopped = recorded.state;
  const still = whyStillStopped(stopped, advance(stopped, resumption(recorded, stopped, input.now())));
  if (still === null) return null;
  const { runId, outcome, exitCode, reason } = earlier;
  const flags = flagsToContinue(still, recorded.events[0].limits);
  const end = `The run ${runId} has ended: ${outcome} (exit ${exitCode}).`;
  return flags === null
    ? `${end} Only a run that was killed, or that a signal, a limit, the provider or a machine failure ended, can be resumed.`
    : `${end} ${oneLine(reason, MAX_REASON)} To continue, it needs more: ${commandWith(recorded, input, flags)}`;
}

/** The command as it would be accepted, with what was typed now. `more` are limits to raise. */
function commandWith(
  { directory, events: [start] }: RecordedRun,
  { settings, cwd, typed = {} }: RunInput,
  more: readonly string[],
): string {
  const raised = more.map((flag) => flag.split(' ', 1)[0]);
  const repeated = flagsToRepeat(start, settings).filter((flag) => !raised.includes(flag.split(' ', 1)[0]));
  const isElsewhere = settings.repo === null && !isWithin(cwd, start.root);
  return resumeCommand(directory.path, isElsewhere ? { ...typed, repo: start.root } : typed, [
    ...repeated,
    ...more,
  ]);
}

/** Characters of a run's own reason that are passed on. */
const MAX_REASON = 2_000;

function endOf({ outcome, exitCode, reason }: RunResult): SupersededEnd {
  return { outcome, exitCode, reason };
}

/** Null when the recorded run can be resumed. */
function whyNot(recorded: RecordedRun, input: RunInput): Problem | null {
  const [start] = recorded.events;
  const { settings, cwd, providers } = input;
  const provider = providerNamed(start.provider, providers);
  if (provider === null)
    return problem(
      'ERR_NOT_RESUMABLE',
      `The run ${start.runId} was answered by the provider ${JSON.stringify(start.provider)}, which this patchsmith does not have.`,
    );
  if (!provider.canResume)
    return problem(
      'ERR_NOT_RESUMABLE',
      `The answers of the run ${start.runId} come from ${start.provider}, so just run it again with patchsmith run --provider ${start.provider}.`,
    );
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
    return problem(
      'ERR_NOT_RESUMABLE',
      `The journal of the run ${start.runId} has *** instead of a secret in its paths, globs or commands. Start a new run.`,
    );
  if (settings.repo === null && !isWithin(cwd, start.root))
    return problem(
      'ERR_OTHER_CHECKOUT',
      `The run worked in ${start.root}, not in ${cwd}. Go there, or name another checkout of the same base with --repo.`,
    );
  return flagsToRepeat(start, settings).length === 0
    ? null
    : problem(
        'ERR_PERMISSIONS_WIDER',
        `The run had permissions that are not granted here, and a run directory cannot grant them. Repeat the flags that you agree to: ${commandWith(recorded, input, [])}`,
      );
}

type RefusedResume = Extract<CommandOutcome, { status: 'refused' }>;

function refused(code: Problem['code'], message: string): RefusedResume {
  return { status: 'refused', problems: [problem(code, message)] };
}
