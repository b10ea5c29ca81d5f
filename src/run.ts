/**
 * The composition root: picks the adapters, drives the loop, hands the patch to the publishers, and decides the outcome.
 * Whatever happens, what exists is written and the last line says why the run ended.
 */

import { patchFilePublisher } from './adapters/publishers/patch-file.ts';
import { openLog } from './adapters/sinks/log.ts';
import { type RunDirectory, resultText } from './adapters/storage/run-directory.ts';
import { until } from './adapters/workspace/time-limit.ts';
import { AgenticLoop } from './agent/agentic-loop.ts';
import { ToolExecutor } from './agent/tool-executor.ts';
import { Verification } from './agent/verification.ts';
import { CutShort } from './domain/cut-short.ts';
import type { RunEvent } from './domain/events.ts';
import type { StopReason } from './domain/limits.ts';
import { machineFault } from './domain/machine-fault.ts';
import { decideOutcome, internalError, type RunOutcome, usageError } from './domain/outcome.ts';
import type { RunState } from './domain/state.ts';
import { stopOfInterruption } from './domain/stop-reason.ts';
import { succeeded } from './domain/tool.ts';
import { UnusableFile } from './domain/unusable-file.ts';
import type { PatchResult, ProvenPatch } from './ports.ts';
import { attributedPart } from './run/attributed-part.ts';
import { nestedPart } from './run/nested-part.ts';
import { prepare } from './run/prepare.ts';
import { interruptedOutcome, type Ready, type Stopped } from './run/prepared.ts';
import { closingWarnings, startedPart, statePart } from './run/report.ts';
import { reviewedPart } from './run/reviewed-part.ts';
import { absolutePath, type EarlierPart, type RunInput, Session } from './run/session.ts';
import { writeAhead } from './run/write-ahead.ts';

export type { RunInput } from './run/session.ts';

/** Does one run from plan to patch. Never rejects for what a run can meet; the outcome tells. */
export function runPatchsmith(input: RunInput): Promise<RunOutcome> {
  return runPrepared(input, prepare);
}

/** The same for a run that begins in another way than with a plan. */
export async function runPrepared(
  input: RunInput,
  prepareRun: Preparation,
  earlier: EarlierPart | null = null,
): Promise<RunOutcome> {
  const session = new Session(input, earlier);
  const ended = await perform(session, prepareRun).catch((error: unknown) => ({
    outcome: crashed(session, error),
    patch: null,
  }));
  await session.disarm();
  const concluded = conclude(session, ended.outcome);
  const outcome = (await writeDocument(session, ended.patch)) ?? concluded;
  session.sayGoodbye(outcome);
  return outcome;
}

/** Ends the sinks and writes the result. Where that fails, as on a full disk, the failure becomes the outcome. */
function conclude(session: Session, decided: RunOutcome): RunOutcome {
  let outcome = decided;
  const { sinks } = session;
  const steps = [
    () => session.end(),
    () => session.decide(outcome),
    ...sinks.map((sink) => () => sink.close(session.result)),
    () => session.writeResult(),
    () => session.letGo(),
  ];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      outcome = crashed(session, error);
      session.decide(outcome);
    }
  }
  return outcome;
}

interface Ended {
  readonly outcome: RunOutcome;
  readonly patch: ProvenPatch | null;
}

type Preparation = (session: Session) => Promise<Ready | Stopped>;

async function perform(session: Session, prepareRun: Preparation): Promise<Ended> {
  const ready = await until(session.endOfPreparation, () => prepareRun(session));
  if (ready.status === 'stopped') return { outcome: ready.outcome, patch: null };
  const { start, tools, permits, clock, interrupt, redact } = ready;
  const { state, seen } = ready.beginning;
  const sync = () => {
    for (const sink of session.sinks) sink.sync?.();
  };
  const { provider, workspace, sandbox, verifyPlace } = writeAhead(sync, ready);
  session.know({ ...startedPart({ ...start, base: state.base }), commandLimits: sandbox.limits });

  const executor = new ToolExecutor({
    tools,
    workspace,
    sandbox,
    seen,
    clock,
    redact,
    permits,
    maxOutputChars: start.toolSettings.maxOutputChars,
    interruptOf: ready.interruptOf,
  });
  const verification = new Verification({
    place: verifyPlace,
    workspace,
    redact,
    permits,
    timeoutMs: start.toolSettings.verifyTimeoutMs,
  });
  const loop = new AgenticLoop(state, {
    provider,
    executor,
    verification,
    limits: start.limits,
    clock,
    interrupt,
    overChanges: () => workspace.exceeded(),
    onProgress: (happening) => session.progress.onTurnProgress(happening),
  });
  const driven = await until(session.endOfLooks, () => drive(session, ready, loop));
  await session.close(sandbox);
  return until(session.endOfPatch, () => finish(session, ready, { ...driven, state: loop.state }));
}

/** Runs the loop to its end. A bug is kept as a value, so that the work so far is still written. */
async function drive(session: Session, ready: Ready, loop: AgenticLoop): Promise<Omit<LoopEnd, 'state'>> {
  const { first, state, actions } = ready.beginning;
  let { stop } = state;
  let isCutShort = false;
  const accept = (event: RunEvent) => {
    for (const sink of session.sinks) sink.accept(event);
    if (event.type === 'run.stopped') stop = event.stop;
  };
  try {
    session.writeResult();
    await openSinks(session, ready);
    session.input.watcher?.onStart();
    accept(first);
    try {
      for await (const event of loop.run(actions)) accept(event);
    } catch (error) {
      if (!(error instanceof CutShort)) throw error;
      isCutShort = true;
      session.warn(LOOK_CUT_SHORT);
      for (const event of loop.cutShort(session.interrupt.reason)) accept(event);
    }
    return { stop, crash: null, isCutShort };
  } catch (crash) {
    return { stop, crash, isCutShort };
  }
}

const LOOK_CUT_SHORT =
  'There was no time to look at the whole work tree before the end: what changed last is not recorded, and not in the patch.';

const NESTED_CUT_SHORT =
  'There was no time to look for changes in submodules and other repositories in the work tree.';

/** The journal comes first: what is not on disk has not happened. */
async function openSinks(session: Session, { directory, redact, sinks, beginning }: Ready): Promise<void> {
  const { input, progress } = session;
  session.sinks = [
    beginning.openJournal(),
    progress,
    await openLog(directory.log, input.settings.logLevel, redact),
    ...session.sinks,
    ...sinks,
  ];
}

interface LoopEnd {
  readonly stop: StopReason | null;
  readonly crash: unknown;
  /** The time was over before the last look at the work tree. */
  readonly isCutShort: boolean;
  readonly state: RunState;
}

/** Makes and publishes the patch, completes the result and decides. */
async function finish(session: Session, ready: Ready, { stop, state, ...end }: LoopEnd): Promise<Ended> {
  const { workspace, permits, directory } = ready;
  if (end.isCutShort || end.crash !== null) await sweep(session, ready);
  const net = state.changes.net();
  let { crash } = end;
  /** Why there is no patch although nothing is wrong with it; null while there was time for it. */
  let unmade = end.isCutShort && net.length === 0 ? 'there was no time to look at what changed' : null;
  session.know({ ...statePart(state), durations: { totalMs: 0, modelMs: state.modelMs } });
  const made = await workspace.makePatch(net).catch((error: unknown): PatchResult => {
    const fault = machineFault(error);
    if (error instanceof CutShort) unmade = 'there was no time to make the patch before the end';
    else if (fault === null) crash ??= error;
    return { status: 'failed', message: `The patch cannot be made: ${fault ?? String(error)}.` };
  });
  const proven = made.status === 'proven' ? made.patch : null;
  const reviewed = await reviewedPart(session, ready, { net, patch: proven }).catch((error: unknown) => {
    if (error instanceof CutShort) unmade = 'there was no time to look through the patch before the end';
    else crash ??= error;
    return { flags: [], secrets: [], withheld: 'Nobody has looked through the patch.' };
  });
  const { withheld, ...review } = reviewed;
  const patch = withheld === null ? proven : null;
  const { isKept, failure } =
    made.status === 'failed'
      ? { isKept: false, failure: made.message }
      : patch === null
        ? { isKept: false, failure: null }
        : await publish(session, directory, patch);
  const attributed = await attributedPart(ready, state, proven).catch((error: unknown) => {
    if (!(error instanceof CutShort)) crash ??= error;
    return null;
  });
  for (const warning of attributed?.warnings ?? []) session.warn(warning);
  const forbidden = net.map((change) => change.path).filter((path) => !permits(path));
  const beside = await nestedPart(ready).catch((error: unknown) => {
    if (error instanceof CutShort) session.warn(NESTED_CUT_SHORT);
    else crash ??= error;
    return null;
  });
  const forbiddenPaths = [
    ...new Set([...forbidden, ...(beside?.forbidden ?? []), ...state.stuck.keys()]),
  ].sort();

  const ignored = await workspace.ignoredWrites();
  for (const warning of [...workspace.warnings(), ...ready.verifyPlace.warnings()]) session.warn(warning);
  for (const warning of beside?.warnings ?? []) session.warn(warning);
  for (const warning of closingWarnings(state, ignored)) session.warn(warning);
  session.know({
    treeSha: proven?.tree ?? null,
    patch:
      patch && isKept ? { path: directory.patch, sha256: patch.sha256, bytes: patch.bytes.length } : null,
    changedFiles: proven?.files ?? [],
    provenance: attributed?.provenance ?? null,
    ...review,
    ...beside?.part,
    ignoredFiles: [...ignored.paths],
    ignoredFileCount: ignored.count,
    removedGitDirs: [...workspace.removedGitDirs()],
  });
  if (crash !== null || stop === null) return { outcome: crashed(session, crash), patch };
  const { interrupt, limits } = session;
  const outcome = decideOutcome({
    stop: unmade === null ? stop : stopOfInterruption(state, interrupt.reason, limits),
    changedFiles: proven?.files.length ?? 0,
    verified: state.reports.filter((report) => succeeded(report.end)).length,
    verifyIn: ready.start.verifyIn,
    unverified: session.result.unverified,
    preexisting: session.result.preexistingFailures.length,
    ifNoChanges: ready.start.ifNoChanges,
    withheld: unmade === null ? withheld : null,
    publishFailure: unmade === null ? failure : null,
    unmade,
    forbiddenPaths,
    hiddenPaths: [...state.hidden].sort(),
  });
  const judged = ready.judge(outcome, patch);
  const reason = judged.name === 'publish_failed' ? `${judged.reason} ${advice(session)}` : judged.reason;
  return { outcome: { ...judged, reason }, patch };
}

/** What a command has made must not wait for the user's git, however the run has ended. */
async function sweep(session: Session, { workspace }: Ready): Promise<void> {
  await workspace.sweep().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    session.warn(
      `Git dirs and set-uid bits that commands have made may be left in ${workspace.root}: ${why}`,
    );
  });
}

/**
 * The patch goes to the run directory and, with `--patch`, to the named file: to the one also where the other fails.
 * `isKept`: it is in the run directory. `failure` is null when all went well.
 */
async function publish(
  session: Session,
  directory: RunDirectory,
  patch: ProvenPatch,
): Promise<{ isKept: boolean; failure: string | null }> {
  const { settings, cwd } = session.input;
  const unkept = await patchFilePublisher(directory.patch).publish(patch);
  const unwritten =
    settings.patch === null
      ? null
      : await patchFilePublisher(absolutePath(cwd, settings.patch)).publish(patch);
  return { isKept: unkept === null, failure: unkept ?? unwritten };
}

/**
 * The one machine document on stdout. Events were written as they happened. The outcome when it cannot be written;
 * a reader that has gone away has wanted no more.
 */
async function writeDocument(session: Session, patch: ProvenPatch | null): Promise<RunOutcome | null> {
  const { stdout, settings } = session.input;
  if (settings.output === 'json') stdout.write(resultText(session.result, session.redact));
  if (settings.output === 'patch' && patch) stdout.write(patch.bytes);
  const failure = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
    stdout.write('', (error) => resolve(error ?? null)),
  );
  if (failure === null || failure.code === 'EPIPE' || settings.output === 'none') return null;
  const outcome = internalError(
    `The --output ${settings.output} document cannot be written: ${failure.message}.`,
  );
  session.decide(outcome);
  session.writeResult();
  return outcome;
}

function crashed(session: Session, error: unknown): RunOutcome {
  if (error instanceof CutShort) return interruptedOutcome(session);
  if (error instanceof UnusableFile) return usageError(error.message);
  if (session.hasLostDirectory())
    return internalError(
      `The run directory ${session.directory?.path} is gone. What was done is in the work tree.`,
    );
  const fault = machineFault(error);
  if (fault !== null) return internalError(`${fault}. ${advice(session)}`);
  const what = error instanceof Error ? error.message : String(error ?? 'the loop ended without a reason');
  return internalError(
    `${what}. This is a bug of patchsmith or a broken machine; please report it with the run's patchsmith.log.`,
  );
}

/** What to do when the machine is mended. A run whose answers are recorded is simply run again. */
function advice({ result, directory }: Session): string {
  return result.provider === 'anthropic' && directory !== null
    ? `Mend that, then carry on with: patchsmith resume ${directory.path}`
    : 'Mend that, then run it again.';
}
