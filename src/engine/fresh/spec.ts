/** How a new run begins: with a plan and the principles, a baseline, and the commands that run before the work. */

import { join } from 'node:path';
import { beginWorkspace } from '../../adapters/workspace/open.ts';
import { forbidsBelow, type PathGuard, pathGuard, pathPolicy } from '../../domain/changes/path-policy.ts';
import { openingOf } from '../../domain/run/state.ts';
import { whyNotRunnable } from '../open/preflight/runnable.ts';
import { modelChoiceOf, openProvider, openUnasked, preloadProvider } from '../open/provider.ts';
import { whyNoSetupEnv, whyNotInSandbox } from '../open/setup-secrets.ts';
import { type Stopped, stopped } from '../ready.ts';
import { changeLimits } from '../run-limits.ts';
import type { Admitted, BegunTaking, Located, RunSpec, TakenWorkspace } from '../run-spec.ts';
import type { Session } from '../session.ts';
import { firstRequest, hostsOf, prefetch } from './first-request.ts';
import { beginOrientation } from './orientation.ts';
import { type PlacedRun, programsOf, settleFresh } from './settle.ts';
import { taskPart } from './started-parts.ts';
import { takeCheckout } from './take-checkout.ts';
import { readTask } from './task.ts';

/** The run of `patchsmith run` and `patchsmith demo`. */
export const freshRun: RunSpec = { locate };

async function locate(session: Session): Promise<Located | Stopped> {
  const choice = modelChoiceOf(session.input.settings);
  const providing = (session.input.isCheck === true ? openUnasked : openProvider)(session, choice);
  providing.catch(() => undefined);
  const taken = await takeCheckout(session);
  if (taken.status === 'stopped') return taken;
  const { checkout, directory } = taken;
  const place = { session, checkout, directory, model: { choice, providing } };
  return { status: 'located', checkout, directory, admit: () => admit(place) };
}

async function admit(place: PlacedRun): Promise<Admitted | Stopped> {
  const { session, checkout, model } = place;
  const { settings, isCheck = false, whyNotFrom } = session.input;
  const task = await readTask(session, checkout);
  if (task.status === 'stopped') return task;
  const { plan, paths, tools, baseline } = task;
  const refusal = whyNoSetupEnv(session, plan.setup);
  if (refusal !== null) return stopped(refusal);
  session.record(taskPart(task));
  session.stage = 'sandbox';
  // A server may write to the work tree as soon as it runs.
  const hasServers = Object.keys(session.input.servers ?? {}).length > 0;
  const merges = (plan.followUp?.facts.merge ?? null) !== null;
  const isBaseAsked = whyNotFrom !== undefined;
  const waits = isCheck || isBaseAsked || hasServers || merges || plan.setup.length > 0 || baseline !== null;
  // A copy has no history that could be asked, and commands see it as the work tree.
  const root = session.input.attempt?.root ?? checkout.root;
  const folder = join(root, task.workingDirectory);
  const orient = isCheck ? null : beginOrientation(session, { root, folder });
  const known = { orientation: '' };
  return {
    status: 'admitted',
    tools,
    permits: pathPolicy(plan, paths),
    forbidsBelow: forbidsBelow(plan, paths),
    sandbox: {
      mode: settings.sandbox,
      hosts: { domains: settings.allowedDomains, privateHosts: settings.allowedPrivate },
      onProving: () => preloadProvider(session, model.choice),
      ...(orient === null ? {} : { lookup: orient.lookup }),
      ...shownAs(session),
    },
    verify: { kind: settings.verifyIn, setup: plan.setup },
    giveUp: session.interrupt,
    openProvider: () => model.providing,
    begin: async () =>
      begin(place, { isReadOnly: forbidsBelow(plan, paths), guard: pathGuard(plan, paths), waits }),
    whyNotIn: (sandbox) => whyNotInSandbox(session, sandbox),
    // What setup commands make is looked up after them.
    whyHopeless: async ({ sandbox, lookedUp }) => {
      session.record({ sandbox: sandbox.level });
      if (isCheck) session.programs = await programsOf(session, task, sandbox);
      const [refusal, orientation = ''] = await Promise.all([
        plan.setup.length > 0 ? null : whyNotRunnable(session, task.verify, sandbox),
        orient?.end({ sandbox, lookedUp, hosts: hostsOf(sandbox, settings) }),
      ]);
      known.orientation = orientation;
      return refusal;
    },
    // When nothing has to run before the model is asked, it works while the baseline is taken.
    prefetch: (provider, sandbox) =>
      waits
        ? null
        : prefetch(session, provider, openingOf(firstRequest(session, task, { sandbox, ...known }))),
    settle: (opened) => settleFresh(place, task, { ...opened, ...known }),
  };
}

/** Commands of an attempt see its copy in the place of the work tree. */
function shownAs({ input: { attempt } }: Session): { shownAs?: string } {
  return attempt === undefined ? {} : { shownAs: attempt.root };
}

/** The baseline takes time in a large work tree, so it is taken while other things are waited for. */
function begin(
  { session, checkout, directory }: PlacedRun,
  { waits, ...policy }: { isReadOnly: (folder: string) => boolean; guard: PathGuard; waits: boolean },
): BegunTaking<TakenWorkspace> {
  const { manyFiles, atStage } = session.input;
  const begun = beginWorkspace(checkout, {
    ...(manyFiles === undefined ? {} : { manyFiles }),
    ...(atStage === undefined ? {} : { atStage }),
    shadowDir: directory.shadowGit,
    sandboxGitDir: directory.sandboxGitDir,
    env: session.input.env,
    limits: changeLimits(session),
    ...policy,
    keepsBase: session.input.settings.keepBase,
  });
  return {
    sandboxGitDir: begun.sandboxGitDir,
    take: async () => ({
      status: 'ok',
      workspace: await (waits ? begun.takeBaseline() : begun.takeMeanwhile()),
    }),
  };
}
