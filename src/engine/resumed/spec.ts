/** Resumes a killed run in its checkout or another one, starting with its unfinished work. */

import { rmSync } from 'node:fs';
import { reopenJournal } from '../../adapters/sinks/journal.ts';
import { clearScratch } from '../../adapters/storage/run-directory.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { beginReopening, type ReopenedWorkspace } from '../../adapters/workspace/reopen.ts';
import { writtenPaths } from '../../agent/interrupted-calls.ts';
import { absolutePath, isWithin } from '../../domain/changes/path.ts';
import { forbidsBelow, pathGuard, pathPolicy } from '../../domain/changes/path-policy.ts';
import { SeenLines } from '../../domain/conversation/seen-files.ts';
import { answeredCalls } from '../../domain/conversation/segments.ts';
import { wereCommandsUnderWay } from '../../domain/journal/undo.ts';
import { workTreeStates } from '../../domain/journal/work-tree-states.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import { advance } from '../../domain/run/fold/advance.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import { type RunOutcome, sandboxUnavailable, usageError } from '../../domain/run/outcome.ts';
import type { RunState } from '../../domain/run/state.ts';
import { warning } from '../../domain/warnings/warning.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { raceAbort } from '../../host/deadline.ts';
import type { Sandbox } from '../../ports.ts';
import { reopenServersOf } from '../mcp/open-servers.ts';
import { openProvider } from '../open/provider.ts';
import { recordedTools } from '../open/recorded-tools.ts';
import { endLeftoversOf } from '../open/verify-place.ts';
import { interruptedOutcome, type Stopped, stopped } from '../ready.ts';
import { changeLimits } from '../run-limits.ts';
import type { Admitted, BegunTaking, Located, OpenedRun, RunSpec, Settled } from '../run-spec.ts';
import type { Session } from '../session.ts';
import { callsOf, type RecordedRun } from './recorded-run.ts';
import { settleResumed } from './settle.ts';

/** How to resume a run. */
export interface ResumeOptions {
  /** Accept other people's changes in the work tree as part of the baseline. */
  readonly acceptChanges: boolean;
  /** Why the run stopped, if it is only brought into the checkout and must not continue. Default: it continues. */
  readonly stop?: StopReason;
}

/** If it stops before it is ready, the result in the run directory stays as it was. */
export function resumedRun(run: RecordedRun, options: ResumeOptions): RunSpec<ReopenedWorkspace> {
  return { locate: (session) => locate({ session, run, options }) };
}

interface Resuming {
  readonly session: Session;
  readonly run: RecordedRun;
  readonly options: ResumeOptions;
}

async function locate(resuming: Resuming): Promise<Located<ReopenedWorkspace> | Stopped> {
  const { session, run } = resuming;
  const { directory, events } = run;
  const [start] = events;
  const { settings, cwd, env } = session.input;
  const place = settings.repo === null ? start.root : absolutePath(cwd, settings.repo);
  const found = await findCheckout(place, env);
  if (found.status === 'failed') {
    const where = `The run worked in ${start.root}; --repo names another place.`;
    return stopped(usageError('ERR_NO_CHECKOUT', `${found.message} ${where}`));
  }
  const { checkout } = found;
  if (isWithin(directory.path, checkout.root)) {
    const what = `The run directory ${directory.path} lies in the work tree ${checkout.root}`;
    return stopped(usageError('ERR_RUN_DIRECTORY_IN_TREE', `${what}. Move it out.`));
  }
  const busy = await session.takeWorkTree(checkout);
  if (busy !== null) return stopped(usageError('ERR_WORK_TREE_BUSY', busy));
  return { status: 'located', checkout, directory, admit: () => admit(resuming, checkout) };
}

async function admit(resuming: Resuming, checkout: Checkout): Promise<Admitted<ReopenedWorkspace> | Stopped> {
  const { session, run } = resuming;
  const { settings, interrupt } = session.input;
  const [start] = run.events;
  const refusal = await whyShut(session);
  if (refusal !== null) return stopped(refusal);
  if (start.sandbox === 'none' && settings.sandbox === 'required') {
    const why = 'The run began without a sandbox, so it cannot continue in one';
    return stopped(
      sandboxUnavailable('ERR_SANDBOX_WEAKER', `${why}. Resume it with --sandbox off, or start a new run.`),
    );
  }
  const recorded = await recordedTools(session, start);
  if (recorded.status === 'failed') return stopped(usageError('ERR_RECORDED_TOOLS', recorded.message));
  const { tools } = recorded;
  if (start.fallback === null && settings.fallbackModel !== null) session.warn(NO_FALLBACK);
  const model = { provider: start.provider, model: start.model, settings: start.modelSettings };
  const admitted = {
    tools,
    permits: pathPolicy(start.plan, start.paths, settings),
    forbidsBelow: forbidsBelow(start.plan, start.paths, settings),
  };
  return {
    status: 'admitted',
    ...admitted,
    // The description of sandbox and network in the model's prompt has to stay true to the end.
    sandbox: {
      mode: start.sandbox === 'none' ? 'off' : 'required',
      hosts: { domains: start.allowedDomains, privateHosts: start.allowedPrivate },
    },
    verify: { kind: start.verifyIn, setup: start.setup.map(({ command }) => command) },
    // Even after the deadline a resumed run has to find out what it left behind.
    giveUp: interrupt,
    openProvider: () =>
      openProvider(session, model, { fallback: start.fallback, reviewer: start.review?.by ?? null }),
    begin: () => begin(resuming, checkout, admitted),
    whyNotIn: (sandbox) => whyWeaker(start, sandbox),
    settle: (opened) => settle(resuming, admitted, opened),
  };
}

const NO_FALLBACK = warning(
  'WARN_FALLBACK_NOT_ADDED',
  'The run was begun without --fallback-model, and goes on without one: it cannot be added afterwards.',
);

/** Null if the run may be resumed by this caller. */
async function whyShut(session: Session): Promise<RunOutcome | null> {
  if (session.input.trust === undefined) return null;
  const { passGate } = await import('../trust/gate.ts');
  const gate = await raceAbort(session.interrupt, passGate(session));
  if (gate === null || session.interrupt.aborted) return interruptedOutcome(session);
  return gate.status === 'shut' ? gate.outcome : null;
}

/** Null when the sandbox contains at least as much as when the run began. */
function whyWeaker(start: RunStarted, { level }: Sandbox): RunOutcome | null {
  if (start.sandbox !== 'namespaces+seccomp' || level === start.sandbox) return null;
  return sandboxUnavailable(
    'ERR_SANDBOX_WEAKER',
    `The run began with ${start.sandbox}, and here is only ${level}.`,
  );
}

type Rules = Pick<Admitted, 'tools' | 'permits' | 'forbidsBelow'>;

/** Ends what the killed process left running, so that nothing changes while the work tree is examined. */
async function begin(
  { session, run }: Resuming,
  checkout: Checkout,
  { tools, forbidsBelow: isReadOnly }: Rules,
): Promise<BegunTaking<ReopenedWorkspace>> {
  const { directory, events } = run;
  await endLeftoversOf(directory);
  clearScratch(directory);
  const places = {
    shadowDir: directory.shadowGit,
    sandboxGitDir: directory.sandboxGitDir,
    env: session.input.env,
    isReadOnly,
    guard: pathGuard(events[0].plan, events[0].paths, session.input.settings),
    limits: changeLimits(session, session.limits),
    keepsBase: session.input.settings.keepBase,
  };
  return beginReopening(checkout, places, {
    base: run.state.base,
    states: workTreeStates(events),
    written: writtenPaths(callsOf(events), tools),
    ...checkedOutBy(events[0]),
    mayHavePlanted: wereCommandsUnderWay(run) ? 'remove' : null,
  });
}

/** A run on a merge began with the merge that it made from the head of its pull request. */
function checkedOutBy({ followUp }: RunStarted): { checkedOut?: string } {
  return followUp === null || followUp.merge === null ? {} : { checkedOut: followUp.head };
}

async function settle(
  { session, run, options }: Resuming,
  { tools, permits }: Pick<Rules, 'tools' | 'permits'>,
  { sandbox, taken, verifyPlace, own }: OpenedRun<ReopenedWorkspace>,
): Promise<Settled | Stopped> {
  const { directory, events, journalBytes } = run;
  const [start] = events;
  if (start.sandbox === 'none')
    session.warn(
      warning('WARN_NO_SANDBOX', 'COMMANDS RUN WITHOUT A SANDBOX, as they did when the run began.'),
    );
  const unsettled = { session, run, reopened: taken, sandbox, verifyPlace, tools, permits, ...options };
  const settled = await settleResumed(unsettled);
  if (settled.status === 'stopped') return settled;
  const { serverTools } = start.toolSettings;
  const root = taken.workspace.root;
  const places = { sandbox, scratchDir: directory.scratch, root, own, events };
  const servers = await reopenServersOf(session, serverTools, places);
  if (servers.status === 'stopped') return servers;
  session.directory = directory;
  session.printName(directory);
  session.input.watcher?.onDirectory(directory);
  const { redact } = session;
  return {
    status: 'settled',
    start,
    tools: [...tools.filter(({ name }) => !serverTools.some((tool) => tool.name === name)), ...servers.tools],
    servers: servers.used,
    restServers: servers.rest,
    sinks: [servers.counter],
    beginning: {
      first: settled.first,
      state: advance(settled.state, settled.first),
      actions: [
        ...settled.actions,
        ...(options.stop === undefined ? [] : [{ type: 'run.stopped' as const, stop: options.stop }]),
      ],
      seen: seenBy(run, settled.state),
      openJournal() {
        // The result now says that the run continues, and the patch of its earlier end is void.
        rmSync(directory.patch, { force: true });
        return reopenJournal(directory.events, journalBytes, redact);
      },
    },
  };
}

/** What the results that are still in the conversation show. */
function seenBy({ events }: RecordedRun, { conversation, phase }: RunState): SeenLines {
  const seen = new SeenLines();
  for (const event of events) {
    if (event.type === 'tool.completed') for (const note of event.seen ?? []) seen.recall(note, event.call);
  }
  const open = phase.at === 'tools' ? phase.calls.map(({ id }) => id) : [];
  if (conversation.segment > 0) seen.forgetAllBut(new Set([...answeredCalls(conversation), ...open]));
  return seen;
}
