/** Everything before the first token is spent: plan, principles, checkout, sandbox, baseline, setup commands, provider. */

import { readPlan } from '../adapters/plan/plan-file.ts';
import { readPrinciples } from '../adapters/plan/principles.ts';
import { obstacleTo } from '../adapters/storage/patch-file.ts';
import {
  type BegunWorkspace,
  beginWorkspace,
  disarmSandboxGitDir,
  findCheckout,
} from '../adapters/workspace/find-checkout.ts';
import { forbidsBelow, pathPolicy } from '../domain/changes/path-policy.ts';
import { type CommandReport, JOURNAL_VERSION, type RunStarted } from '../domain/run/events.ts';
import { type RunOutcome, usageError } from '../domain/run/outcome.ts';
import { openingOf } from '../domain/run/state.ts';
import { listed } from '../domain/text/listed.ts';
import { raceAbort } from '../host/deadline.ts';
import type { Sandbox, VerifyPlace, Workspace } from '../ports.ts';
import { systemPrompt, taskPrompt } from '../prompts.ts';
import { createTools, definitionsOf } from '../tools/registry.ts';
import { prefetchFirstTurn } from './open/prefetch-first-turn.ts';
import { loadHttpClient, modelChoiceOf, openProvider } from './open/provider.ts';
import { keptDomains, openContained } from './open/sandbox.ts';
import { notOpened, sandboxSettings, warnOfReadableSecrets } from './open/sandbox-settings.ts';
import { type CommandsBefore, type RanBefore, runBefore } from './open/setup-commands.ts';
import { whyNotUncontained } from './open/uncontained.ts';
import { verifyPlaceOf } from './open/verify-place.ts';
import { interruptedOutcome, newRun, type Ready, type Stopped, stopped, stoppedBefore } from './ready.ts';
import { absolutePath, changeLimits, type Session } from './session.ts';
import type { TrustedPlan } from './trust/plan.ts';

/** Stops with the outcome at the first thing that is not as it must be. */
export async function prepare(session: Session): Promise<Ready | Stopped> {
  const { settings, cwd, env, version } = session.input;
  // Its library is loaded while git is asked; what is wrong with it is told in its turn.
  const choice = modelChoiceOf(settings);
  const provision = openProvider(session, choice);
  provision.catch(() => undefined);
  const found = await findCheckout(absolutePath(cwd, settings.repo ?? '.'), env);
  const problem = await session.makeDirectory(found.status === 'ok' ? found.checkout.root : null);
  if (problem !== null || session.directory === null) return stopped(usageError(problem ?? ''));
  if (found.status === 'failed') return stopped(usageError(found.message));
  const { checkout } = found;
  const { directory } = session;

  const obstacle = settings.patch === null ? null : obstacleTo(absolutePath(cwd, settings.patch));
  if (obstacle !== null) return stopped(usageError(obstacle));
  const planned = await raceAbort(session.interrupt, planOf(session, checkout.root));
  if (planned === null || session.interrupt.aborted) return stopped(interruptedOutcome(session));
  if (planned.status === 'failed') return stopped(planned.outcome);
  const barred = await raceAbort(session.interrupt, beforeSpending(session));
  if (session.interrupt.aborted) return stopped(interruptedOutcome(session));
  if (barred !== null) return stopped(barred);
  const { plan } = planned;
  for (const note of planned.notes) session.warn(note);
  const principles = await readPrinciples({
    files: settings.principles,
    root: checkout.root,
    workingDirectory: settings.workingDirectory,
    cwd,
    revision: session.input.trust?.revision ?? null,
    maxBytes: settings.maxPrinciplesBytes,
  });
  if (principles.status === 'failed') return stopped(usageError(principles.message));
  for (const warning of principles.warnings) session.warn(warning);

  const paths = { allow: settings.allow, protect: settings.protect };
  const mayForbid = forbidsBelow(plan, paths);
  const { shadowGit, agentGit, scratch } = directory;
  const begun = beginWorkspace(checkout, {
    shadowDir: shadowGit,
    agentGitDir: agentGit,
    env,
    limits: changeLimits(session),
    isReadOnly: mayForbid,
  });
  const opening = Promise.all([
    provision,
    openContained(
      session,
      {
        mode: settings.sandbox,
        root: checkout.root,
        agentGit: begun.agentGit,
        scratchDir: scratch,
        ...sandboxSettings(session.input),
        onProving: () => loadHttpClient(choice),
      },
      settings.allowedDomains,
    ),
  ]);
  const both = await raceAbort(session.interrupt, opening);
  if (both === null) return stopped(interruptedOutcome(session));
  const [providing, opened] = both;
  if (providing.status === 'failed') {
    if (opened.status === 'ok') await session.close(opened.sandbox);
    return stopped(usageError(providing.message));
  }
  if (opened.status !== 'ok') return stopped(notOpened(opened));
  const { sandbox } = opened;
  for (const warning of opened.warnings) session.warn(warning);
  const uncontained = whyNotUncontained(session.input.trust, sandbox);
  if (uncontained !== null) {
    await session.close(sandbox);
    return stopped(uncontained);
  }
  warnOfReadableSecrets(session, sandbox);

  const verify = [...new Set([...plan.verify, ...settings.verify])];
  const baseline = plan.verifyBaseline || settings.verifyBaseline ? verify : null;
  const before = { setup: plan.setup, baseline, timeoutMs: settings.verifyTimeoutMs };
  const tools = createTools(settings);
  const workingDirectory = settings.workingDirectory ?? checkout.prefix;
  const { limits } = session;
  const allowedDomains = keptDomains(sandbox, settings.allowedDomains);
  const ask = (verifyBaseline: readonly CommandReport[]) => {
    const task = {
      principles: principles.principles,
      plan,
      paths,
      limits,
      verify,
      verifyIn: settings.verifyIn,
      verifyBaseline,
      workingDirectory,
    };
    return {
      system: systemPrompt({ sandbox: sandbox.level, allowedDomains }),
      tools: definitionsOf(tools),
      prompt: session.redact(taskPrompt(task)),
    };
  };
  // Where nothing has to run before the model is asked, it thinks while the baseline is taken.
  const headStart =
    plan.setup.length > 0 || baseline !== null
      ? null
      : prefetchFirstTurn(providing.provider, openingOf(ask([])), session.interrupt);
  const provider = headStart?.provider ?? providing.provider;
  const letGo = async () => {
    headStart?.cancel();
    await session.close(sandbox);
  };
  const placeIn = (workspace: Workspace) =>
    verifyPlaceOf({
      kind: settings.verifyIn,
      setup: plan.setup,
      checkout,
      workspace,
      shadowDir: shadowGit,
      scratchDir: scratch,
      shownAs: checkout.root,
      beside: opened.beside,
    });
  const disarm = () => disarmSandboxGitDir(checkout, directory);
  const settled = await settleIn(session, before, { begun, sandbox, placeIn, disarm }).catch(
    async (error: unknown) => {
      await letGo();
      throw error;
    },
  );
  if (settled.status !== 'ok') {
    await letGo();
    return stoppedBefore(session, settled);
  }
  const { workspace, verifyPlace, setup, verifyBaseline, changes } = settled;
  const { title, sha256, source } = plan;
  const start: RunStarted = {
    type: 'run.started',
    journalVersion: JOURNAL_VERSION,
    runId: session.runId,
    patchsmith: version,
    provider: provider.name,
    model: provider.model,
    sandbox: sandbox.level,
    allowedDomains,
    root: workspace.root,
    base: workspace.base(),
    plan: { title, sha256, source, allow: [...plan.allow], protect: [...plan.protect] },
    paths,
    principles: principles.principles.map(({ text: _, ...file }) => file),
    setup,
    setupChanges: changes,
    acceptSecrets: settings.acceptSecrets,
    verify,
    verifyIn: settings.verifyIn,
    verifyBaseline,
    includeForeign: settings.includeForeign,
    limits,
    toolSettings: {
      maxOutputChars: settings.maxToolOutput,
      commandTimeoutMs: settings.commandTimeoutMs,
      maxCommandTimeoutMs: settings.maxCommandTimeoutMs,
      verifyTimeoutMs: settings.verifyTimeoutMs,
    },
    modelSettings: choice.settings,
    ifNoChanges: settings.ifNoChanges,
    price: settings.price,
    ...ask(verifyBaseline ?? []),
  };
  return {
    status: 'ready',
    directory,
    start,
    beginning: newRun(start, session.startedAt, directory, session.redact),
    provider,
    workspace,
    sandbox,
    verifyPlace,
    tools,
    permits: pathPolicy(plan, paths),
    forbidsBelow: mayForbid,
    clock: session.input.now,
    interrupt: session.interrupt,
    redact: session.redact,
    sinks: [],
    judge: (outcome) => outcome,
  };
}

/** Null when nothing speaks against it. */
async function beforeSpending({ input }: Session): Promise<RunOutcome | null> {
  return (await input.beforeSpending?.()) ?? null;
}

/** The plan, when whoever caused the run may do so. What is needed for that is loaded where something speaks for asking. */
async function planOf(session: Session, root: string): Promise<TrustedPlan> {
  const { settings, stdin, cwd, trust } = session.input;
  const { plan, message } = settings;
  const signal = session.interrupt;
  if (trust !== undefined) {
    const { readTrustedPlan } = await import('./trust/plan.ts');
    return readTrustedPlan(session, trust, root);
  }
  const read = await readPlan({ plan, message, stdin, cwd, root, signal });
  return read.status === 'ok'
    ? { ...read, notes: [] }
    : { status: 'failed', outcome: usageError(read.message) };
}

interface Settling {
  readonly begun: BegunWorkspace;
  readonly sandbox: Sandbox;
  readonly placeIn: (workspace: Workspace) => VerifyPlace;
  /** For the end of a run in which commands may have run. */
  readonly disarm: () => Promise<void>;
}

type Settled = RanBefore & { status: 'ok'; workspace: Workspace; verifyPlace: VerifyPlace };

/** Takes the baseline, and runs on it what has to run before the model is asked. */
async function settleIn(
  session: Session,
  commands: CommandsBefore,
  { begun, sandbox, placeIn, disarm }: Settling,
): Promise<Exclude<RanBefore, { status: 'ok' }> | Settled> {
  // A large work tree takes its time, and a run that is to stop does not wait for it.
  const workspace = await raceAbort(session.interrupt, begun.takeBaseline());
  if (workspace === null) return { status: 'interrupted' };
  session.atEnd(disarm);
  const open = session.input.settings.sandbox === 'required' ? (workspace.agentGit.uncovered ?? []) : [];
  if (open.length > 0) return { status: 'uncontained', message: whyUncovered(open) };
  const verifyPlace = placeIn(workspace);
  const ran = await runBefore(session, commands, { workspace, sandbox, verifyPlace });
  return ran.status === 'ok' ? { ...ran, workspace, verifyPlace } : ran;
}

function whyUncovered(folders: readonly string[]): string {
  const named = folders.map((folder) => JSON.stringify(`${folder}/.git`));
  return `${listed(named, 1)} cannot be hidden from commands: it is a link, has a name that is not UTF-8, or is beyond the first 64 repositories in the work tree. Move it out of the work tree, or accept that with --sandbox auto.`;
}
