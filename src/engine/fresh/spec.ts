/** How a new run begins: with a plan and the principles, a baseline, and the commands that run before the work. */

import { join } from 'node:path';
import { beginWorkspace } from '../../adapters/workspace/open.ts';
import { forbidsBelow, type PathGuard, pathGuard, pathPolicy } from '../../domain/changes/path-policy.ts';
import { whyNotRunnable } from '../open/preflight.ts';
import { modelChoiceOf, openProvider, openUnasked, preloadProvider } from '../open/provider.ts';
import { whyNoSetupEnv, whyNotInSandbox } from '../open/setup-secrets.ts';
import { type Stopped, stopped } from '../ready.ts';
import { changeLimits } from '../run-limits.ts';
import type { Admitted, BegunTaking, Located, RunSpec, TakenWorkspace } from '../run-spec.ts';
import type { Session } from '../session.ts';
import { hostsOf } from './first-request.ts';
import { beginOrientation } from './orientation.ts';
import { type PlacedRun, settleFresh } from './settle.ts';
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
  const { settings, isCheck = false } = session.input;
  const task = await readTask(session, checkout);
  if (task.status === 'stopped') return task;
  const { plan, paths, tools } = task;
  const refusal = whyNoSetupEnv(session, plan.setup);
  if (refusal !== null) return stopped(refusal);
  session.record(taskPart(task));
  session.stage = 'sandbox';
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
    begin: async () => begin(place, { isReadOnly: forbidsBelow(plan, paths), guard: pathGuard(plan, paths) }),
    whyNotIn: (sandbox) => whyNotInSandbox(session, sandbox),
    // What setup commands make is looked up after them.
    whyHopeless: async ({ sandbox, lookedUp }) => {
      session.record({ sandbox: sandbox.level });
      const [refusal, orientation = ''] = await Promise.all([
        plan.setup.length > 0 ? null : whyNotRunnable(session, task.verify, sandbox),
        orient?.end({ sandbox, lookedUp, hosts: hostsOf(sandbox, settings) }),
      ]);
      known.orientation = orientation;
      return refusal;
    },
    settle: (opened) => settleFresh(place, task, { ...opened, ...known }),
  };
}

/** Commands of an attempt see its copy in the place of the work tree. */
function shownAs({ input: { attempt } }: Session): { shownAs?: string } {
  return attempt === undefined ? {} : { shownAs: attempt.root };
}

/** The sandbox is opened while the baseline is taken. */
function begin(
  { session, checkout, directory }: PlacedRun,
  policy: { isReadOnly: (folder: string) => boolean; guard: PathGuard },
): BegunTaking<TakenWorkspace> {
  const begun = beginWorkspace(checkout, {
    shadowDir: directory.shadowGit,
    sandboxGitDir: directory.sandboxGitDir,
    env: session.input.env,
    limits: changeLimits(session),
    ...policy,
    keepsBase: session.input.settings.keepBase,
  });
  return {
    sandboxGitDir: begun.sandboxGitDir,
    take: async () => ({ status: 'ok', workspace: await begun.takeBaseline() }),
  };
}
