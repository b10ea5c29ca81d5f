/** Resumes a killed run in its checkout or another one, starting with its unfinished work. */

import { clearScratch, isWritable } from '../../adapters/storage/run-directory.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { beginReopening, type ReopenedWorkspace } from '../../adapters/workspace/reopen.ts';
import { writtenPaths } from '../../agent/interrupted-calls.ts';
import { absolutePath, isWithin } from '../../domain/changes/path.ts';
import { callsOf, wereCommandsUnderWay, workTreeStates } from '../../domain/journal/recorded-changes.ts';
import { type RunStarted, SandboxLevel } from '../../domain/run/events.ts';
import {
  type RunOutcome,
  refused,
  type Stopped,
  sandboxUnavailable,
  stopped,
} from '../../domain/run/outcome.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { raceAbort } from '../../host/deadline.ts';
import type { Sandbox } from '../../ports.ts';
import { openProvider } from '../open/provider.ts';
import { recordedTools } from '../open/tools.ts';
import { whyMisplaced } from '../open-run.ts';
import { type Admit, type Admitted, interruptedOutcome } from '../ready.ts';
import type { Session } from '../session.ts';
import type { RecordedRun } from './recorded-run.ts';
import { type ResumeOptions, settleResumed } from './settle.ts';

/** If it stops before it is ready, the result in the run directory stays as it was. */
export function resumedRun(run: RecordedRun, options: ResumeOptions): Admit {
  return async (session) => {
    const located = await locate(session, run);
    return located.status === 'stopped' ? located : admit(session, run, options, located.checkout);
  };
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

async function admit(
  session: Session,
  run: RecordedRun,
  options: ResumeOptions,
  checkout: Checkout,
): Promise<Admitted<ReopenedWorkspace> | Stopped> {
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
      return beginReopening(checkout, places, {
        base: state.base,
        states: workTreeStates(events),
        written: writtenPaths(callsOf(events), tools),
        // A run on a merge began with the merge that it made from the head of its pull request.
        ...(start.followUp?.merge && { checkedOut: start.followUp.head }),
        newGitDirs: wereCommandsUnderWay(run) ? (options.acceptChanges ? 'accepted' : 'named') : null,
      });
    },
    whyNotIn: async (sandbox) => whyWeaker(start, sandbox),
    settle: (opened, reopened) => settleResumed({ ...opened, session, run, reopened, tools, options }),
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
