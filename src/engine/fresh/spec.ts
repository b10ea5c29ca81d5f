/** How a new run begins: with a plan and the principles, a baseline, and the commands that run before the work. */

import { join } from 'node:path';
import { providerNamed } from '../../adapters/providers/registry.ts';
import { findProgram } from '../../adapters/sandboxes/command/shell.ts';
import { searchPath } from '../../adapters/sandboxes/visible/toolchains.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { beginWorkspace } from '../../adapters/workspace/open.ts';
import { absolutePath } from '../../domain/changes/path.ts';
import { orientation } from '../../domain/conversation/orientation.ts';
import type { Environment } from '../../domain/environment.ts';
import { KNOWN_PROGRAMS } from '../../domain/packages.ts';
import { refused, type Stopped, stopped, usageError } from '../../domain/run/outcome.ts';
import type { Sandbox } from '../../ports.ts';
import { whyNotRunnable } from '../open/preflight.ts';
import { modelChoiceOf, openProvider, openUnasked } from '../open/provider.ts';
import { whyNoSetupEnv, whyNotInSandbox } from '../open/setup-commands.ts';
import { whyMisplaced } from '../open-run.ts';
import type { Admit, Admitted } from '../ready.ts';
import type { Session } from '../session.ts';
import { hostsOf, settleFresh, taskPart } from './settle.ts';
import { readTask } from './task.ts';

/** The run of `patchsmith run` and `patchsmith demo`. */
export const freshRun: Admit = async (session) => {
  const { settings, attempt, isCheck = false } = session.input;
  const choice = modelChoiceOf(settings);
  const providing = (isCheck ? openUnasked : openProvider)(session, choice);
  providing.catch(() => undefined);
  const taken = await takeCheckout(session);
  if (taken.status === 'stopped') return taken;
  const { checkout } = taken;
  const task = await readTask(session, checkout);
  if (task.status === 'stopped') return task;
  const { plan, paths, tools } = task;
  const refusal = whyNoSetupEnv(session, plan.setup);
  if (refusal !== null) return stopped(refusal);
  session.record(taskPart(task));
  session.stage = 'sandbox';
  // A copy has no history that could be asked.
  const root = attempt?.root ?? checkout.root;
  const orient = isCheck ? null : beginOrientation(join(root, task.workingDirectory), session.input.env);
  return {
    ...taken,
    tools,
    rules: [plan, paths],
    sandbox: {
      mode: settings.sandbox,
      hosts: settings,
      folder: task.workingDirectory,
      onProving: () => providerNamed(choice.provider, session.input.providers)?.preload?.(),
      ...(attempt && { shownAs: attempt.root }),
    },
    verify: { kind: settings.verifyIn, setup: plan.setup },
    openProvider: () => providing,
    // The sandbox is opened while the baseline is taken.
    begin: async (places) => beginWorkspace(checkout, places),
    async settle(opened) {
      const orientation = await orient?.(opened.sandbox, hostsOf(opened.sandbox, settings));
      return settleFresh({ ...taken, session, choice, task, orientation }, opened);
    },
    // What setup commands make is looked up after them.
    async whyNotIn(sandbox) {
      const uncontained = whyNotInSandbox(session, sandbox);
      if (uncontained !== null) return uncontained;
      session.record({ sandbox: sandbox.level });
      const hopeless = plan.setup.length > 0 ? null : await whyNotRunnable(session, task.verify, sandbox);
      return hopeless === null ? null : usageError('ERR_PROGRAM_MISSING', hopeless);
    },
  };
};

/**
 * A checkout that no other run works in until this one has ended. The run directory comes first, so that whatever is wrong with the
 * checkout is kept there.
 */
export async function takeCheckout(
  session: Session,
): Promise<Pick<Admitted, 'status' | 'checkout' | 'directory'> | Stopped> {
  const { settings, cwd, env, attempt } = session.input;
  const found =
    attempt === undefined
      ? await findCheckout(absolutePath(cwd, settings.repo ?? '.'), env)
      : { status: 'ok' as const, checkout: attempt.checkout };
  const problem = await session.makeDirectory(found.status === 'ok' ? found.checkout.root : null);
  const { directory } = session;
  if (problem !== null || directory === null) return refused('ERR_RUN_DIRECTORY', problem ?? '');
  if (found.status === 'failed') return refused('ERR_NO_CHECKOUT', found.message);
  const { checkout } = found;
  const busy = await session.takeWorkTree(checkout);
  if (busy !== null) return refused('ERR_WORK_TREE_BUSY', busy);
  return whyMisplaced(session, checkout) ?? { status: 'ok', checkout, directory };
}

/**
 * Begins to examine the working directory, without executing anything from it. What it returns gives the text of `orientation`,
 * which is empty if nothing is known.
 */
function beginOrientation(
  folder: string,
  env: Environment,
): (sandbox: Sandbox, hosts: readonly string[]) => Promise<string> {
  const looking = lookAt(folder);
  // Errors are reported at the end.
  looking.catch(() => undefined);
  return async (sandbox, hosts) => {
    const { survey, files } = await looking;
    const path = searchPath(env);
    return orientation({
      files,
      project: survey.project && {
        ecosystem: survey.ecosystem?.name ?? '',
        manager: survey.project.manager.text,
        test: survey.project.test?.text ?? null,
        lint: survey.project.lint?.text ?? null,
        build: survey.project.build?.text ?? null,
      },
      programs: KNOWN_PROGRAMS.filter((name) => findProgram(name, path) !== null),
      hosts: sandbox.level === 'none' ? null : hosts,
    });
  };
}

/** Loaded while the sandbox is being opened. */
async function lookAt(folder: string) {
  const { surveyRepository, trackedFiles } = await import('../../adapters/survey/survey.ts');
  const tracked = trackedFiles(folder);
  const [survey, files] = await Promise.all([surveyRepository(folder, () => tracked), tracked]);
  return { survey, files };
}
