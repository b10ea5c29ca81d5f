/** How a new run begins: with a plan and the principles, a baseline, and the commands that run before the work. */

import { join } from 'node:path';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { beginWorkspace } from '../../adapters/workspace/open.ts';
import { forbidsBelow, type PathGuard, pathGuard, pathPolicy } from '../../domain/changes/path-policy.ts';
import { awaitedBefore } from '../../domain/conversation/awaited.ts';
import { isTaken } from '../../domain/journal/base.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import { done, usageError } from '../../domain/run/outcome.ts';
import { openingOf } from '../../domain/run/state.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import type { Sandbox } from '../../ports.ts';
import { baselinePart, openedPart } from '../finish/result.ts';
import { NO_SERVERS, openServersOf } from '../mcp/open-servers.ts';
import { whyNotRunnable } from '../open/preflight.ts';
import {
  fallbackOf,
  type ModelChoice,
  modelChoiceOf,
  openProvider,
  openUnasked,
  type Providing,
  preloadProvider,
  reviewOf,
} from '../open/provider.ts';
import { keptHosts } from '../open/sandbox.ts';
import { runBefore } from '../open/setup-commands.ts';
import { whyNoSetupEnv, whyNotInSandbox } from '../open/setup-secrets.ts';
import { interruptedOutcome, newRun, type Stopped, stopped } from '../ready.ts';
import { changeLimits } from '../run-limits.ts';
import type {
  Admitted,
  BegunTaking,
  Located,
  OpenedRun,
  RunSpec,
  Settled,
  TakenWorkspace,
} from '../run-spec.ts';
import type { Session } from '../session.ts';
import type { Reuse, ReuseParts } from './checked-work.ts';
import { compactionOf, firstRequest, hostsOf, type Orientation, prefetch } from './first-request.ts';
import { namedProgramsIn } from './named-programs.ts';
import { beginOrientation } from './orientation.ts';
import { settledPart, taskPart } from './started-parts.ts';
import { takeCheckout } from './take-checkout.ts';
import { readTask, type Task } from './task.ts';

/** The run of `patchsmith run` and `patchsmith demo`. */
export const freshRun: RunSpec = { locate };

/** The requested model, whose library loads while git runs. Anything wrong with it is reported in due order. */
interface Model {
  readonly choice: ModelChoice;
  readonly providing: Promise<Providing>;
}

/** What all stages after the first know. */
interface PlacedRun {
  readonly session: Session;
  readonly checkout: Checkout;
  readonly directory: RunDirectory;
  readonly model: Model;
}

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
    settle: (opened) => mergeAndSettle(place, task, { ...opened, ...known }),
  };
}

/** The programs that the commands name, and whether they are there; null if the check should not look them up. */
async function programsOf({ input, interrupt }: Session, { plan, verify }: Task, sandbox: Sandbox) {
  if (input.settings.preflight === 'off') return null;
  return namedProgramsIn(sandbox, [...plan.setup, ...verify], interrupt);
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

/** A check writes nothing to the checkout. */
async function mergeAndSettle(
  place: PlacedRun,
  task: Task,
  opened: OpenedRun<TakenWorkspace> & Orientation,
): Promise<Settled | Stopped> {
  const { env, isCheck = false, whyNotFrom } = place.session.input;
  const facts = task.plan.followUp?.facts;
  if (facts === undefined || facts.merge === null || isCheck) {
    const base = opened.taken.workspace.base();
    const refusal = isTaken(base) ? (whyNotFrom?.(base) ?? null) : null;
    if (refusal === null || !isTaken(base)) return settle(place, task, opened);
    place.session.record(baselinePart(base));
    return stopped(refusal);
  }
  const { putMerge } = await import('../continued/merge.ts');
  const { workspace } = opened.taken;
  const { shadowGit: shadowDir } = place.directory;
  const put = await putMerge({ facts: { ...facts, merge: facts.merge }, workspace, shadowDir, env });
  if (put.status === 'failed') return stopped(usageError('ERR_MERGE_NOT_BEGUN', put.message));
  const settled = await settle(place, task, opened);
  if (settled.status === 'stopped') await put.takeBack();
  return settled;
}

async function settle(
  { session, checkout, directory, model }: PlacedRun,
  task: Task,
  {
    provider,
    sandbox,
    taken: { workspace },
    verifyPlace,
    own,
    orientation,
  }: OpenedRun<TakenWorkspace> & Orientation,
): Promise<Settled | Stopped> {
  const { settings, isCheck = false } = session.input;
  session.stage = 'setup';
  const opened = {
    patchsmith: session.input.version,
    ...taskPart(task),
    provider: provider.name,
    model: provider.model,
    sandbox: sandbox.level,
    base: workspace.base(),
  };
  session.progress.banner(opened);
  session.recordAndSave(openedPart(opened));
  const reuse = await reuseOf({ session, checkout }, task, { opened, workspace });
  const commands = {
    known: isCheck ? null : ((await reuse?.known()) ?? null),
    setup: task.plan.setup,
    verify: task.verify,
    baseline: isCheck ? task.verify : task.baseline,
    timeoutMs: settings.verifyTimeoutMs,
  };
  const ran = await runBefore(session, commands, { workspace, sandbox, verifyPlace });
  // What setup commands install is there by now.
  if (isCheck) session.programs = await programsOf(session, task, sandbox);
  const { changes } = ran;
  const awaited = awaitedBefore(ran);
  if (changes === null) return stopped(interruptedOutcome(session, { unknown: NOT_LOOKED_AT, awaited }));
  // If there is something to undo, the run has a journal that says so.
  const isUnchanged = changes.length === 0;
  if (ran.status === 'interrupted' && isUnchanged) return stopped(interruptedOutcome(session, { awaited }));
  if (ran.status === 'failed' && isUnchanged) return stopped(usageError('ERR_SETUP_FAILED', ran.message));
  const places = { sandbox, scratchDir: directory.scratch, root: workspace.root, own };
  const servers = ran.status === 'ok' ? await openServersOf(session, places) : NO_SERVERS;
  if (servers.status === 'stopped') return servers;
  const equipped = { ...task, tools: [...task.tools, ...servers.tools] };
  if (isCheck && isUnchanged) {
    await reuse?.keep({ setup: ran.setup, verify: ran.verifyBaseline ?? [] });
    return stopped(READY);
  }
  const { verifyBaseline } = ran;
  const unready =
    ran.status === 'failed' ? ran.message : ran.status === 'ok' && isCheck ? READY.reason : null;
  const start: RunStarted = {
    ...opened,
    ...settledPart(session, task, { ...ran, changes }, servers.recorded),
    ...(unready === null ? {} : { unready }),
    ...keptHosts(sandbox, settings),
    root: session.input.attempt?.root ?? workspace.root,
    modelSettings: model.choice.settings,
    compaction: compactionOf(settings),
    fallback: fallbackOf(settings, session.input.providers),
    review: reviewOf(settings, session.input.providers),
    ...firstRequest(session, equipped, { sandbox, orientation, verifyBaseline: verifyBaseline ?? [] }),
  };
  return {
    status: 'settled',
    start,
    tools: equipped.tools,
    servers: servers.used,
    sinks: [servers.counter],
    beginning: newRun(start, session.startedAt, directory, session.redact),
    ...(isCheck && ran.status === 'ok' ? { judge: () => READY } : {}),
  };
}

/** A run that was stopped during setup. */
const NOT_LOOKED_AT = 'what setup commands changed was not looked at: see git status';

/** The end of a check that found nothing wrong. */
const READY = done('Everything that a run needs before its first request is in place.');

/** Null if there are no commands before the work. */
async function reuseOf(
  { session, checkout }: Pick<PlacedRun, 'session' | 'checkout'>,
  task: Task,
  {
    opened,
    workspace,
  }: Pick<ReuseParts, 'workspace'> & { opened: Pick<RunStarted, 'patchsmith' | 'sandbox' | 'base'> },
): Promise<Reuse | null> {
  const { base } = opened;
  const has = session.input.isCheck === true || task.baseline !== null || task.plan.setup.length > 0;
  if (!has || !isTaken(base)) return null;
  const { beginReuse } = await import('./checked-work.ts');
  return beginReuse(session, { task, checkout, workspace, opened: { ...opened, base } });
}
