/**
 * One run from its first line to its last: it is opened, the loop is driven over the real ports, and the run is finished.
 * Whatever happens, what exists is written, and the last line says why the run ended.
 */

import { clearScratchAhead } from '../adapters/storage/run-directory.ts';
import { AgenticLoop } from '../agent/agentic-loop.ts';
import type { ModelUse } from '../domain/fallback.ts';
import { proofLine } from '../domain/report/result-lines.ts';
import type { RunEvent } from '../domain/run/events.ts';
import type { RunOutcome, Stopped } from '../domain/run/outcome.ts';
import type { RunState } from '../domain/run/state.ts';
import { pluralize } from '../domain/text/words.ts';
import { inParts, type Until } from '../files/time-limit.ts';
import { acting } from './acting.ts';
import { crashed, doneValue, tryStep } from './finish/crash.ts';
import { endRun, loadReport } from './finish/end.ts';
import type { Ended, LoopEnd } from './finish/finish.ts';
import { knownPart, startedPart } from './finish/result.ts';
import { freshRun } from './fresh/spec.ts';
import { changedLinks } from './open/sandbox-settings.ts';
import { openRun } from './open-run.ts';
import type { Ready } from './ready.ts';
import type { RunInput } from './run-input.ts';
import { type EarlierPart, Session } from './session.ts';
import { tracesOf } from './traces.ts';

/** Runs from plan to patch. Never rejects for anything a run can run into; that is in the outcome. */
export function runPatchsmith(input: RunInput): Promise<RunOutcome> {
  return runOpened(input, (session) => openRun(session, freshRun));
}

/** The same for a run that does not start from a plan. `earlier` is null for a run that is not resumed. */
export function runOpened(
  input: RunInput,
  open: OpenFor,
  earlier: EarlierPart | null = null,
): Promise<RunOutcome> {
  return inParts(async (until) => {
    const session = new Session(input, earlier);
    const ended = await perform(session, open, until).catch((error: unknown) => ({
      outcome: crashed(session, error),
      patch: null,
    }));
    return endRun(session, ended);
  });
}

/** Opens what the loop needs, or says why not. */
export type OpenFor = (session: Session) => Promise<Ready | Stopped>;

async function perform(session: Session, open: OpenFor, until: Until): Promise<Ended> {
  const { progress } = session;
  await progress.start();
  const opening = { label: 'getting ready', isOuter: true };
  const ready = await until(session.times.endOfPreparation, () =>
    progress.during(opening, () => open(session)),
  );
  if (ready.status === 'stopped') return { outcome: ready.outcome, patch: null };
  const { start, beginning } = ready;
  const sync = () => {
    for (const sink of session.sinks) sink.sync?.();
  };
  const ports = acting(ready, { sync, progress });
  const { base, superseded } = beginning.state;
  session.record({
    ...startedPart({ ...start, base }),
    superseded: [...superseded],
    commandLimits: ports.sandbox.limits,
  });
  const loop = new AgenticLoop(beginning.state, {
    ...ready,
    ...ports,
    seen: beginning.seen,
    folder: start.workingDirectory,
    toolSettings: start.toolSettings,
    takeHosts: (isLast) => session.asked.take(isLast),
    watchVerify: () => (report) => progress.verified(report),
  });
  progress.follow(() => loop.state);
  session.follow(() => knownPart(session, loop.state, changedLinks(session)));
  // What only the end needs is loaded while the model works, before any command runs.
  const finishing = import('./finish/finish.ts');
  finishing.catch(() => undefined);
  loadReport().catch(() => undefined);
  const driven = await until(session.times.endOfLooks, () => drive(session, ready, loop));
  await proven(session, ready, driven);
  await ready.close();
  // No command runs any more.
  const clearing = clearScratchAhead(ready.directory);
  session.input.attempt?.onWorked(session.result.warnings);
  const { finish } = await finishing;
  const ending = { label: 'making and reviewing the patch' };
  const ended = await until(session.times.endOfPatch, () =>
    progress.during(ending, () => finish(session, ready, driven)),
  );
  await clearing;
  return ended;
}

/** Tries the tests of the patch while there is a sandbox. */
async function proven(session: Session, ready: Ready, end: LoopEnd): Promise<void> {
  const { proveTests } = await import('./finish/prove-tests.ts');
  const label = 'trying the tests of the patch without the rest of it';
  const tried = await tryStep(() =>
    session.progress.during({ label }, () => proveTests(session, ready, end)),
  );
  const testProof = doneValue(tried) ?? null;
  session.record({ testProof });
  if (testProof !== null) session.progress.note(`tests ${proofLine(testProof)}`);
}

/** Runs the loop to its end. An early end is kept as a value, so that the work so far is still written. */
async function drive(session: Session, ready: Ready, loop: AgenticLoop): Promise<LoopEnd> {
  const { first, state, actions } = ready.beginning;
  let { stop, seq } = state;
  const accept = (event: RunEvent) => {
    seq = event.seq;
    for (const sink of session.sinks) sink.accept(event);
    if (event.type === 'run.stopped') stop = event.stop;
    warnOfEvent(session, event, loop.state.models);
  };
  const followed = await tryStep(async () => {
    session.writeResult();
    await openSinks(session, ready, () => loop.state);
    session.input.watcher?.onStart();
    accept(first);
    session.asked.onNew(() => {
      // An event on its way here comes first, and the loop asks for the hosts before the next one.
      if (seq < loop.state.seq || loop.state.stop !== null) return;
      // What a sink throws here, it throws again for the next event.
      void tryStep(async () => {
        for (const event of loop.asked()) accept(event);
      });
    });
    for await (const event of loop.run(actions)) accept(event);
  });
  if (followed.status !== 'cut_short') return { stop, state: loop.state, driven: followed };
  session.warn(
    'WARN_LOOK_CUT_SHORT',
    'There was not enough time to scan the whole work tree: the last changes are not recorded and not in the patch.',
  );
  const ended = await tryStep(async () => {
    for (const event of loop.cutShort(session.interrupt.reason)) accept(event);
  });
  return { stop, state: loop.state, driven: ended.status === 'done' ? followed : ended };
}

/** The journal comes first: an event that is not on disk has not happened. */
async function openSinks(session: Session, ready: Ready, stateNow: () => RunState): Promise<void> {
  const { sinks, beginning } = ready;
  session.sinks = [
    beginning.openJournal(),
    session.progress,
    ...session.sinks,
    session.reported,
    ...sinks,
    ...(await tracesOf(session, ready, stateNow)),
  ];
}

/** Warns of what an event says to people who do not read all lines. `first` is the model that the run began with. */
function warnOfEvent(session: Session, event: RunEvent, [first]: readonly ModelUse[]): void {
  if (event.type === 'model.replaced') {
    const { why, reason, to } = event;
    const what = why === 'refusal' ? 'refused' : 'could not be reached';
    session.warn(
      'WARN_MODEL_REPLACED',
      `${first?.provider}/${first?.model} ${what}: ${to.provider}/${to.model} takes over in a separate conversation. ${reason}`,
    );
  } else if (event.type === 'review.failed' && !event.again)
    session.warn('WARN_NOT_REVIEWED', `The work was not reviewed: ${event.message}`);
  else if (event.type === 'compaction.failed')
    session.warn(
      'WARN_NOT_COMPACTED',
      `The conversation could not be compacted and continues as it is: ${event.message}`,
    );
  else if (event.type === 'context.compacted' && event.how === 'cut')
    session.warn(
      'WARN_CUT_WITHOUT_SUMMARY',
      `${pluralize(event.cut - 1, 'message')} of the conversation dropped without a summary, since the model's window is full.`,
    );
}
