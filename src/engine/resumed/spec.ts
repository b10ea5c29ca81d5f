/** Resumes a killed run in its checkout or another one, starting with its unfinished work. */

import { rmSync } from 'node:fs';
import { reopenJournal } from '../../adapters/sinks/journal.ts';
import { clearScratch, isWritable } from '../../adapters/storage/run-directory.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { beginReopening, type ReopenedWorkspace } from '../../adapters/workspace/reopen.ts';
import { writtenPaths } from '../../agent/interrupted-calls.ts';
import { absolutePath, isWithin } from '../../domain/changes/path.ts';
import { SeenLines } from '../../domain/conversation/seen-files.ts';
import { answeredCalls } from '../../domain/conversation/segments.ts';
import { wereCommandsUnderWay, workTreeStates } from '../../domain/journal/recorded-changes.ts';
import { type RunStarted, SandboxLevel } from '../../domain/run/events.ts';
import { advance } from '../../domain/run/fold/advance.ts';
import type { StopReason } from '../../domain/run/limits.ts';
import {
  type RunOutcome,
  refused,
  type Stopped,
  sandboxUnavailable,
  stopped,
} from '../../domain/run/outcome.ts';
import type { RunState } from '../../domain/run/state.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { raceAbort } from '../../host/deadline.ts';
import type { Sandbox, Tool } from '../../ports.ts';
import { openServersOf } from '../mcp/open-servers.ts';
import { openProvider } from '../open/provider.ts';
import { recordedTools } from '../open/tools.ts';
import { whyMisplaced } from '../open-run.ts';
import { type Admit, type Admitted, interruptedOutcome, type OpenedRun, type Settled } from '../ready.ts';
import type { Session } from '../session.ts';
import { callsOf, type RecordedRun } from './recorded-run.ts';
import { settleResumed } from './settle.ts';

/** How to resume a run. */
interface ResumeOptions {
  /** Accept other people's changes in the work tree as part of the baseline. */
  readonly acceptChanges: boolean;
  /** Why the run stopped, if it is only brought into the checkout and must not continue. Default: it continues. */
  readonly stop?: StopReason;
}

/** If it stops before it is ready, the result in the run directory stays as it was. */
export function resumedRun(run: RecordedRun, options: ResumeOptions): Admit {
  return async (session) => {
    const located = await locate(session, run);
    return located.status === 'stopped' ? located : admit({ session, run, options }, located.checkout);
  };
}

interface Resuming {
  readonly session: Session;
  readonly run: RecordedRun;
  readonly options: ResumeOptions;
}

async function locate(
  session: Session,
  { directory, events: [start] }: RecordedRun,
): Promise<{ status: 'ok'; checkout: Checkout } | Stopped> {
  const { settings, cwd, env } = session.input;
  const found = await findCheckout(
    settings.repo === null ? start.root : absolutePath(cwd, settings.repo),
    env,
  );
  if (found.status === 'failed') {
    const where = `The run worked in ${start.root}; --repo names another place.`;
    return refused('ERR_NO_CHECKOUT', `${found.message} ${where}`);
  }
  const { checkout } = found;
  if (isWithin(directory.path, checkout.root)) {
    const what = `The run directory ${directory.path} lies in the work tree ${checkout.root}`;
    return refused('ERR_RUN_DIRECTORY_IN_TREE', `${what}. Move it out.`);
  }
  if (!isWritable(directory.path)) {
    const what = `The run directory ${directory.path} is not writable`;
    return refused('ERR_RUN_DIRECTORY', `${what}. Resume a copy of it.`);
  }
  const busy = await session.takeWorkTree(checkout);
  if (busy !== null) return refused('ERR_WORK_TREE_BUSY', busy);
  return whyMisplaced(session, checkout) ?? found;
}

async function admit(resuming: Resuming, checkout: Checkout): Promise<Admitted | Stopped> {
  const { session, run, options } = resuming;
  const { settings } = session.input;
  const { directory, events, state } = run;
  const [start] = events;
  const refusal = await whyShut(session);
  if (refusal !== null) return refusal;
  if (start.sandbox === 'none' && settings.sandbox === 'required') {
    const why = 'The run began without a sandbox, so it cannot continue in one';
    return stopped(
      sandboxUnavailable('ERR_SANDBOX_WEAKER', `${why}. Resume it with --sandbox off, or start a new run.`),
    );
  }
  const recorded = await recordedTools(session, start);
  if (recorded.status === 'failed') return refused('ERR_RECORDED_TOOLS', recorded.message);
  const { tools } = recorded;
  if (start.fallback === null && settings.fallbackModel !== null)
    session.warn(
      'WARN_FALLBACK_NOT_ADDED',
      'The run was begun without --fallback-model, and goes on without one: it cannot be added afterwards.',
    );
  const model = { provider: start.provider, model: start.model, settings: start.modelSettings };
  return {
    status: 'ok',
    checkout,
    directory,
    tools,
    rules: [start.plan, start.paths, settings],
    // The description of sandbox and network in the model's prompt has to stay true to the end.
    sandbox: {
      mode: start.sandbox === 'none' ? 'off' : 'required',
      hosts: start,
      folder: start.workingDirectory,
    },
    verify: { kind: start.verifyIn, setup: start.setup.map(({ command }) => command) },
    openProvider: () =>
      openProvider(session, model, { fallback: start.fallback, reviewer: start.review?.by ?? null }),
    async begin(places) {
      clearScratch(directory);
      const begun = beginReopening(checkout, places, {
        base: state.base,
        states: workTreeStates(events),
        written: writtenPaths(callsOf(events), tools),
        // A run on a merge began with the merge that it made from the head of its pull request.
        ...(start.followUp?.merge && { checkedOut: start.followUp.head }),
        newGitDirs: wereCommandsUnderWay(run) ? (options.acceptChanges ? 'accepted' : 'named') : null,
      });
      return {
        sandboxGitDir: begun.sandboxGitDir,
        async take() {
          const reopened = await begun.take();
          if (reopened.status === 'failed') return reopened;
          const { workspace } = reopened;
          return {
            status: 'ok',
            workspace,
            settle: (opened) => settle(resuming, { ...opened, reopened, tools }),
          };
        },
      };
    },
    whyNotIn: async (sandbox) => whyWeaker(start, sandbox),
  };
}

/** Null if the run may be resumed by this caller. */
async function whyShut(session: Session): Promise<Stopped | null> {
  if (session.input.trust === undefined) return null;
  const { passGate } = await import('../trust/gate.ts');
  const gate = await raceAbort(session.interrupt, passGate(session));
  if (gate === null || session.interrupt.aborted) return stopped(interruptedOutcome(session));
  return gate.status === 'stopped' ? gate : null;
}

/** Null when the sandbox contains at least as much as when the run began. */
function whyWeaker(start: RunStarted, { level }: Sandbox): RunOutcome | null {
  const best = SandboxLevel.options;
  if (best.indexOf(level) <= best.indexOf(start.sandbox)) return null;
  return sandboxUnavailable(
    'ERR_SANDBOX_WEAKER',
    `The run began with ${start.sandbox}, and here is only ${level}.`,
  );
}

async function settle(
  { session, run, options }: Resuming,
  opened: OpenedRun & { readonly reopened: ReopenedWorkspace; readonly tools: readonly Tool[] },
): Promise<Settled | Stopped> {
  const { directory, events, journalBytes } = run;
  const { sandbox, own, tools, workspace } = opened;
  const [start] = events;
  if (start.sandbox === 'none')
    session.warn('WARN_NO_SANDBOX', 'COMMANDS RUN WITHOUT A SANDBOX, as they did when the run began.');
  const settled = await settleResumed({ session, run, ...opened, ...options });
  if (settled.status === 'stopped') return settled;
  const { first, state, actions } = settled;
  const { serverTools } = start.toolSettings;
  const places = { sandbox, scratchDir: directory.scratch, root: workspace.root, own, isResumed: true };
  const servers = await openServersOf(session, places, serverTools);
  if (servers.status === 'stopped') return servers;
  session.directory = directory;
  session.printName(directory);
  session.input.watcher?.onDirectory(directory);
  const { stop } = options;
  return {
    status: 'settled',
    start,
    tools: [...tools.filter(({ name }) => !serverTools.some((tool) => tool.name === name)), ...servers.tools],
    ...servers.ready,
    beginning: {
      first,
      state: advance(state, first),
      actions: stop === undefined ? actions : [...actions, { type: 'run.stopped', stop }],
      seen: seenBy(run, state),
      openJournal() {
        // The result now says that the run continues, and the patch of its earlier end is void.
        rmSync(directory.patch, { force: true });
        return reopenJournal(directory.events, journalBytes, session.redact);
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
