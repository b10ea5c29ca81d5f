/** What the step does in each mode. */

import { fetchByEnvironment } from '../adapters/network/machine-proxy.ts';
import { readResult, runDirectoryAt } from '../adapters/storage/run-directory.ts';
import type { Given } from '../commands/command.ts';
import { type PublishInputs, readPublishInputs } from '../commands/publish/start.ts';
import { COMMANDS } from '../commands/registry.ts';
import { publishable } from '../domain/github/publishing/policy.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { redactedStrings } from '../domain/secrets/redact.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';
import type { InputsGiven } from './inputs.ts';
import type { ActionStep } from './step.ts';

/** `decided` by more than one command, so that the last line is yet to be printed. */
type ModeEnd = CommandOutcome | { status: 'decided'; outcome: RunOutcome };

/** Carries out the mode that the inputs select. Resolves with how it ended; rejects only for a bug. */
export async function carryOut(inputs: InputsGiven, edge: HostContext, step: ActionStep): Promise<ModeEnd> {
  switch (inputs.mode) {
    case 'run':
      return start('run', edge, given(inputs, 'run'));
    case 'publish': {
      const end = await publish(inputs.runDir ?? '', { edge, step, words: given(inputs, 'publish') });
      if (step.publication !== null && step.publication.runId !== null)
        tellRun(inputs.runDir ?? '', edge, step);
      return end;
    }
    case 'run-and-publish':
      return runAndPublish(inputs, edge, step);
  }
}

interface Publishing {
  readonly edge: HostContext;
  readonly step: ActionStep;
  readonly words: Given;
}

function publish(runDir: string, { edge, step, words }: Publishing): Promise<CommandOutcome> {
  step.beginPublication();
  return start('publish', edge, { ...words, operands: [runDir] });
}

/** The outcome is the run's, unless its result should have been published and could not be. */
async function runAndPublish(inputs: InputsGiven, edge: HostContext, step: ActionStep): Promise<ModeEnd> {
  const words = given(inputs, 'publish');
  // Mistakes in it must be found before the run costs money.
  const ready = readPublishInputs(edge, words);
  if (ready.status === 'refused') return ready;
  // No call is made with the write token for someone who may not start a run.
  const beforeSpending = () => obstacleToPublishing(edge, ready);
  const ran = await start('run', { ...edge, beforeSpending }, given(inputs, 'run'));
  const { result, directory } = step;
  if (ran.status === 'refused' || result === null || directory === null) return ran;
  // Without a plan nothing was asked for, and a step that was interrupted should not go on.
  if (result.plan === null || edge.interrupt.aborted) return ran;
  const published = await publish(directory.path, { edge, step, words });
  const isDue = publishable(result, ready.settings.publishUnfinished).status === 'publish';
  const failed = published.status === 'refused' || published.outcome.exitCode !== 0;
  if (isDue && failed) return published;
  const isSame = published.status === 'told' && published.outcome.name === ran.outcome.name;
  // The last line has been printed already, and names the pull request.
  if (isSame && published.outcome.exitCode === ran.outcome.exitCode) return published;
  return { status: 'decided', outcome: ran.outcome };
}

/** Null if GitHub would permit the publication. A dry run changes nothing, and needs only read access. */
async function obstacleToPublishing(
  { interrupt: signal, version, env }: HostContext,
  { settings, repository, token }: PublishInputs & { status: 'ok' },
): Promise<RunOutcome | null> {
  if (settings.dryRun) return null;
  // Nothing else loads the libraries that talk to GitHub.
  const { openGitHub } = await import('../adapters/github/client.ts');
  const { preflightPublishing } = await import('../commands/publish/preflight.ts');
  const fetch = await fetchByEnvironment(env);
  const github = openGitHub({ apiUrl: settings.githubApiUrl, token, version, signal, fetch });
  return preflightPublishing({ github, repository, settings });
}

/** A run made by another job; its own paths mean nothing here. */
function tellRun(path: string, { cwd, redact }: HostContext, step: ActionStep): void {
  const directory = runDirectoryAt(path.startsWith('/') ? path : `${cwd}/${path}`);
  const result = readResult(directory);
  if (result === null) return;
  const patch = result.patch && { ...result.patch, path: directory.patch };
  step.onDirectory(directory);
  step.onResult(redactedStrings({ ...result, patch }, redact) as RunResult);
}

function start(name: 'run' | 'publish', edge: HostContext, words: Given): Promise<CommandOutcome> {
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) throw new Error(`There is no command ${name}.`);
  return command.start(edge, words);
}

function given({ flags }: InputsGiven, command: 'run' | 'publish'): Given {
  return { operands: [], flags: flags[command] ?? {}, switches: new Set(), problems: [] };
}
