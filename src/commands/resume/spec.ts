/** Everything before a killed run goes on: its checkout, its sandbox, and what it left in the air. */

import { reopenJournal } from '../../adapters/sinks/journal.ts';
import { obstacleTo } from '../../adapters/storage/patch-file.ts';
import { clearScratch } from '../../adapters/storage/run-directory.ts';
import { disarmSandboxGitDir, findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { type Reopening, reopenWorkspace } from '../../adapters/workspace/reopen.ts';
import { settleInterrupted, writtenPaths } from '../../agent/interrupted-calls.ts';
import { enforcePolicy } from '../../agent/policy.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import { isWithin } from '../../domain/changes/path.ts';
import { forbidsBelow, pathPolicy } from '../../domain/changes/path-policy.ts';
import { SeenLines } from '../../domain/conversation/seen-files.ts';
import { wereCommandsUnderWay } from '../../domain/journal/undo.ts';
import { workTreeStates } from '../../domain/journal/work-tree-states.ts';
import type { RunAction, RunEvent } from '../../domain/run/events.ts';
import { sandboxUnavailable, usageError } from '../../domain/run/outcome.ts';
import { advance, type RunState } from '../../domain/run/state.ts';
import { listed } from '../../domain/text/listed.ts';
import { openProvider } from '../../engine/open/provider.ts';
import { openContained } from '../../engine/open/sandbox.ts';
import { notOpened, sandboxSettings, warnOfReadableSecrets } from '../../engine/open/sandbox-settings.ts';
import { whyNotUncontained } from '../../engine/open/uncontained.ts';
import { endLeftoversOf, verifyPlaceOf } from '../../engine/open/verify-place.ts';
import { interruptedOutcome, type Ready, type Stopped, stopped } from '../../engine/ready.ts';
import { absolutePath, changeLimits, type Session } from '../../engine/session.ts';
import { raceAbort } from '../../host/deadline.ts';
import type { Sandbox, Tool, VerifyPlace } from '../../ports.ts';
import { createTools } from '../../tools/registry.ts';
import { callsOf, type RecordedRun, stateOf } from './recorded-run.ts';
import { transferChanges } from './transfer-changes.ts';

/** Stops with the outcome at the first thing that is not as it must be; the run directory is as it was by then. */
export async function prepareResumed(
  session: Session,
  run: RecordedRun,
  { acceptChanges }: { acceptChanges: boolean },
): Promise<Ready | Stopped> {
  const { settings, cwd, env } = session.input;
  const { directory, events } = run;
  const [start] = events;
  const found = await findCheckout(
    settings.repo === null ? start.root : absolutePath(cwd, settings.repo),
    env,
  );
  if (found.status === 'failed')
    return stopped(
      usageError(`${found.message} The run worked in ${start.root}; --repo names another place.`),
    );
  const { checkout } = found;
  if (session.input.trust !== undefined) {
    const { passGate } = await import('../../engine/trust/gate.ts');
    const gate = await raceAbort(session.interrupt, passGate(session));
    if (gate === null || session.interrupt.aborted) return stopped(interruptedOutcome(session));
    if (gate.status === 'shut') return stopped(gate.outcome);
  }
  if (isWithin(directory.path, checkout.root))
    return stopped(
      usageError(`The run directory ${directory.path} lies in the work tree ${checkout.root}. Move it out.`),
    );
  const obstacle = settings.patch === null ? null : obstacleTo(absolutePath(cwd, settings.patch));
  if (obstacle !== null) return stopped(usageError(obstacle));

  await endLeftoversOf(directory);
  clearScratch(directory);
  const tools = createTools(start.toolSettings);
  const permits = pathPolicy(start.plan, start.paths, settings);
  const mayForbid = forbidsBelow(start.plan, start.paths, settings);
  const opening = Promise.all([
    openProvider(session, { provider: 'anthropic', model: start.model, settings: start.modelSettings }),
    reopenWorkspace(
      checkout,
      {
        shadowDir: directory.shadowGit,
        agentGitDir: directory.agentGit,
        env,
        isReadOnly: mayForbid,
        limits: changeLimits(session, session.limits),
      },
      {
        base: stateOf(run).base,
        states: workTreeStates(events),
        written: writtenPaths(callsOf(events), tools),
        mayHavePlanted: wereCommandsUnderWay(events) ? 'remove' : null,
      },
    ),
  ]);
  const both = await raceAbort(session.input.interrupt, opening);
  if (both === null) return stopped(interruptedOutcome(session));
  const [providing, reopened] = both;
  if (providing.status === 'failed') return stopped(usageError(providing.message));
  if (reopened.status === 'failed') return stopped(usageError(reopened.message));
  session.atEnd(() => disarmSandboxGitDir(checkout, directory));

  if (start.sandbox === 'none' && settings.sandbox === 'required') {
    const why = 'The run began without a sandbox, so it cannot continue in one';
    return stopped(sandboxUnavailable(`${why}. Resume it with --sandbox off, or start a new run.`));
  }
  // What the model was told of the sandbox and the network stays true to the end.
  const opened = await openContained(
    session,
    {
      mode: start.sandbox === 'none' ? 'off' : 'required',
      root: checkout.root,
      agentGit: reopened.workspace.agentGit,
      scratchDir: directory.scratch,
      ...sandboxSettings(session.input),
    },
    start.allowedDomains,
  );
  if (opened.status !== 'ok') return stopped(notOpened(opened));
  const { sandbox } = opened;
  if (start.sandbox === 'namespaces+seccomp' && sandbox.level !== start.sandbox) {
    await session.close(sandbox);
    return stopped(
      sandboxUnavailable(
        `The run began with sandbox level ${start.sandbox}, and only ${sandbox.level} is available here.`,
      ),
    );
  }
  const verifyPlace = verifyPlaceOf({
    kind: start.verifyIn,
    setup: start.setup.map(({ command }) => command),
    checkout,
    workspace: reopened.workspace,
    shadowDir: directory.shadowGit,
    scratchDir: directory.scratch,
    shownAs: checkout.root,
    beside: opened.beside,
  });
  const settled = await settle({
    session,
    run,
    reopened,
    sandbox,
    verifyPlace,
    tools,
    permits,
    acceptChanges,
  }).catch(async (error: unknown) => {
    await session.close(sandbox);
    throw error;
  });
  if (settled.status === 'stopped') {
    await session.close(sandbox);
    return settled;
  }
  for (const warning of opened.warnings) session.warn(warning);
  const uncontained = whyNotUncontained(session.input.trust, opened.sandbox);
  if (uncontained !== null) {
    await session.close(opened.sandbox);
    return stopped(uncontained);
  }
  warnOfReadableSecrets(session, sandbox);
  if (start.sandbox === 'none')
    session.warn('COMMANDS RUN WITHOUT A SANDBOX, as they did when the run began.');
  session.directory = directory;
  const { redact } = session;
  return {
    status: 'ready',
    directory,
    start,
    beginning: {
      first: settled.first,
      state: advance(settled.state, settled.first),
      actions: settled.actions,
      seen: seenBy(events),
      openJournal: () => reopenJournal(directory.events, run.journalBytes, redact),
    },
    provider: providing.provider,
    workspace: reopened.workspace,
    sandbox,
    verifyPlace,
    tools,
    permits,
    forbidsBelow: mayForbid,
    clock: session.input.now,
    interrupt: session.interrupt,
    redact,
    sinks: [],
    judge: (outcome) => outcome,
  };
}

interface Unsettled {
  readonly session: Session;
  readonly run: RecordedRun;
  readonly reopened: Extract<Reopening, { status: 'ok' }>;
  readonly sandbox: Sandbox;
  readonly verifyPlace: VerifyPlace;
  readonly tools: readonly Tool[];
  readonly permits: (path: string) => boolean;
  readonly acceptChanges: boolean;
}

interface Settled {
  readonly status: 'settled';
  readonly first: RunEvent;
  /** Before the first event. */
  readonly state: RunState;
  readonly actions: readonly RunAction[];
}

/** Puts every difference in the work tree down to a cause, and brings in what another checkout lacks. */
async function settle(unsettled: Unsettled): Promise<Settled | Stopped> {
  const { session, run, reopened, sandbox, verifyPlace, tools, permits, acceptChanges } = unsettled;
  const { workspace, found } = reopened;
  // Whoever stands elsewhere names the run's own checkout too. Where something is as in the base, it is a fresh one.
  const isOwn =
    workspace.root === run.events[0].root && !found.some(({ path }) => reopened.asInBase.has(path));
  const isOther = session.input.settings.repo !== null && !isOwn;
  const state = stateOf(run);
  // In another checkout nothing of what was under way can have left a trace.
  const settlement = settleInterrupted(state, isOther ? [] : found, { tools, permits });
  const foreign = isOther ? found.filter(({ path }) => !reopened.asInBase.has(path)) : settlement.foreign;
  if (foreign.length > 0 && !acceptChanges) return stopped(usageError(refusalOf(foreign, unsettled)));

  const brought: RunAction[] = [];
  if (isOther) {
    const lacking = found.filter(({ path }) => reopened.asInBase.has(path));
    const put = await transferChanges(session, {
      run,
      workspace,
      sandbox,
      verifyPlace,
      lacking,
      iteration: state.iterations,
    });
    if (put.status === 'stopped') return put;
    brought.push(...put.actions);
  }
  if (foreign.length > 0) {
    await workspace.rebase(foreign.filter(({ path }) => !state.changes.hasChanged(path)));
    session.warn(`Accepted into the baseline: ${named(foreign)}.`);
  }
  for (const changes of settlement.made) {
    brought.push(...(await enforcePolicy(changes, { workspace, permits })).actions);
  }
  const first: RunEvent = {
    type: 'run.resumed',
    patchsmith: session.input.version,
    base: workspace.base(),
    accepted: foreign,
    iteration: state.iterations,
    seq: state.seq + 1,
    at: session.startedAt,
  };
  return { status: 'settled', first, state, actions: [...brought, ...settlement.answers] };
}

function refusalOf(foreign: readonly PathChange[], { session, reopened, run }: Unsettled): string {
  const what = `${reopened.workspace.root} is not as the run left it: ${named(foreign)}`;
  const isFresh = foreign.every(({ path }) => reopened.asInBase.has(path));
  const fresh =
    isFresh && session.input.settings.repo === null
      ? `, or name it with --repo ${run.events[0].root} to apply the run's changes to it`
      : '';
  return `${what}. Restore what changed, or accept it into the baseline with --accept-changes${fresh}.`;
}

/** Paths that a sentence names. */
const MAX_NAMED = 20;

function named(changes: readonly PathChange[]): string {
  const names = changes.map(({ path, before, after }) => {
    return `${path} (${before === null ? 'new' : after === null ? 'deleted' : 'changed'})`;
  });
  return listed(names, MAX_NAMED, 'file');
}

function seenBy(events: readonly RunEvent[]): SeenLines {
  const seen = new SeenLines();
  for (const event of events) {
    if (event.type === 'tool.completed') for (const note of event.seen ?? []) seen.recall(note);
  }
  return seen;
}
