/** Everything before the first token is spent: plan, principles, checkout, sandbox, baseline, setup commands, provider. */

import { pathPolicy } from '../adapters/inputs/path-policy.ts';
import { readPlan } from '../adapters/inputs/plan-file.ts';
import { readPrinciples } from '../adapters/inputs/principles.ts';
import { createProvider } from '../adapters/providers/registry.ts';
import { openSandbox } from '../adapters/sandboxes/registry.ts';
import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import { findCheckout, openWorkspace } from '../adapters/workspace/checkout.ts';
import { runCommands } from '../agent/verification.ts';
import { JOURNAL_VERSION, type RunStarted } from '../domain/events.ts';
import { decideOutcome, type RunOutcome, sandboxUnavailable, usageError } from '../domain/outcome.ts';
import { describeEnd, succeeded } from '../domain/tool.ts';
import type { LlmProvider, Sandbox, Tool, Workspace } from '../ports.ts';
import { systemPrompt, taskPrompt } from '../prompts.ts';
import { createTools, definitionsOf } from '../tools/registry.ts';
import type { Session } from './session.ts';

export interface Ready {
  readonly status: 'ready';
  readonly directory: RunDirectory;
  readonly start: RunStarted;
  readonly provider: LlmProvider;
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly tools: readonly Tool[];
  readonly permits: (path: string) => boolean;
}

type Stopped = { status: 'stopped'; outcome: RunOutcome };

/** Stops with the outcome at the first thing that is not as it must be; nothing has been asked of the model by then. */
export async function prepare(session: Session): Promise<Ready | Stopped> {
  const { settings, cwd, env, stdin, apiKey, version } = session.input;
  const found = await findCheckout(settings.repo ?? cwd);
  const problem = session.makeDirectory(found.status === 'ok' ? found.checkout.root : null);
  if (problem !== null || session.directory === null) return stopped(usageError(problem ?? ''));
  if (found.status === 'failed') return stopped(usageError(found.message));
  const { checkout } = found;
  const { directory } = session;

  const read = await readPlan({ plan: settings.plan, message: settings.message, stdin, cwd });
  if (read.status === 'failed') return stopped(usageError(read.message));
  const { plan } = read;
  const workingDirectory = settings.workingDirectory ?? checkout.prefix;
  const principles = await readPrinciples({
    files: settings.principles,
    root: checkout.root,
    workingDirectory,
    cwd,
    maxBytes: settings.maxPrinciplesBytes,
  });
  if (principles.status === 'failed') return stopped(usageError(principles.message));

  const workspace = await openWorkspace(checkout, {
    shadowDir: directory.shadowGit,
    agentGitDir: directory.agentGit,
    env,
  });
  const opened = await openSandbox({
    mode: settings.sandbox,
    root: checkout.root,
    agentGit: workspace.agentGit,
    scratchDir: directory.scratch,
    hostEnv: env,
  });
  if (opened.status === 'unavailable') return stopped(sandboxUnavailable(opened.reason));
  const { sandbox } = opened;
  for (const warning of opened.warnings) session.warn(warning);

  const setup = await runCommands(plan.setup, session.interrupt, {
    sandbox,
    redact: session.redact,
    timeoutMs: settings.verifyTimeoutMs,
  });
  session.tell({ setup, sandbox: sandbox.level });
  const failed = setup.find((report) => !succeeded(report.end));
  const interrupted = interruptedOutcome(session);
  if (interrupted || failed) await sandbox.close();
  if (interrupted) return stopped(interrupted);
  if (failed) {
    return stopped(
      usageError(`The plan's setup command failed, ${describeEnd(failed.end)}: ${failed.command}`),
    );
  }
  const bySetup = await workspace.capture('all');
  if (bySetup.length > 0) {
    session.warn(
      `Setup commands changed ${bySetup
        .map((change) => change.path)
        .slice(0, 5)
        .join(', ')}; not in the patch.`,
    );
  }

  const provider = await createProvider(settings.provider, { settings, apiKey, cwd });
  if (provider.status === 'failed') return stopped(usageError(provider.message));
  const tools = createTools({
    defaultTimeoutMs: settings.commandTimeoutMs,
    maxTimeoutMs: settings.maxCommandTimeoutMs,
  });
  const verify = [...new Set([...plan.verify, ...settings.verify])];
  const start: RunStarted = {
    type: 'run.started',
    journalVersion: JOURNAL_VERSION,
    runId: session.runId,
    patchsmith: version,
    provider: provider.provider.name,
    model: provider.provider.model,
    sandbox: sandbox.level,
    base: workspace.base,
    plan: { title: plan.title, sha256: plan.sha256 },
    principles: principles.principles.map(({ path, sha256, bytes, truncated }) => ({
      path,
      sha256,
      bytes,
      truncated,
    })),
    setup,
    verify,
    limits: session.limits,
    price: settings.price,
    system: systemPrompt(),
    tools: definitionsOf(tools),
    prompt: session.redact(
      taskPrompt({
        principles: principles.principles,
        plan,
        limits: session.limits,
        verify,
        workingDirectory,
      }),
    ),
  };
  return {
    status: 'ready',
    directory,
    start,
    provider: provider.provider,
    workspace,
    sandbox,
    tools,
    permits: pathPolicy(plan),
  };
}

function stopped(outcome: RunOutcome): Stopped {
  return { status: 'stopped', outcome };
}

/** The outcome when a signal or the deadline came before the loop began. */
function interruptedOutcome({ interrupt, limits }: Session): RunOutcome | null {
  if (!interrupt.aborted) return null;
  const facts = {
    changedFiles: 0,
    verified: 0,
    ifNoChanges: 'ok',
    publishFailure: null,
    forbiddenPaths: [],
  } as const;
  const { cause, signal } = interrupt.reason;
  const { deadlineMs } = limits;
  return cause === 'signal'
    ? decideOutcome({ ...facts, stop: { why: 'interrupted', signal } })
    : decideOutcome({ ...facts, stop: { why: 'deadline', valueMs: deadlineMs, usedMs: deadlineMs } });
}
