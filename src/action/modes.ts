/** What the step does in each mode. */

import { readResult } from '../adapters/storage/read-result.ts';
import { runDirectoryAt } from '../adapters/storage/run-directory.ts';
import type { Given } from '../commands/command.ts';
import { COMMANDS } from '../commands/registry.ts';
import { type RunAndPublishEnd, runAndPublish } from '../commands/run-and-publish.ts';
import type { RunResult } from '../domain/run/result.ts';
import { redactedStrings } from '../domain/secrets/redact.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';
import { sayEnd } from '../host/say.ts';
import type { InputsGiven } from './read-inputs.ts';
import type { ActionStep } from './step.ts';

/** Carries out the mode that the inputs select. Resolves with how it ended; rejects only for a bug. */
export async function carryOut(
  inputs: InputsGiven,
  context: HostContext,
  step: ActionStep,
): Promise<RunAndPublishEnd> {
  switch (inputs.mode) {
    case 'prepare':
    case 'run':
      return start(inputs.mode, context, given(inputs, inputs.mode));
    case 'resume': {
      const { operands: _none, flags, ...words } = given(inputs, 'resume');
      // The checkout is a fresh one, wherever the run began.
      const here = { ...words, operands: [inputs.runDir ?? ''], flags: { repo: context.cwd, ...flags } };
      return start('resume', context, here);
    }
    case 'publish': {
      step.beginPublication();
      const words = { ...given(inputs, 'publish'), operands: [inputs.runDir ?? ''] };
      const end = await start('publish', context, words);
      if (step.publication !== null && step.publication.runId !== null)
        tellRun(inputs.runDir ?? '', context, step);
      return end;
    }
    case 'run-and-publish':
      return runAndPublish({
        context,
        run: given(inputs, 'run'),
        publish: given(inputs, 'publish'),
        onPublishing: () => step.beginPublication(),
      });
  }
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

type StepCommand = 'prepare' | 'run' | 'resume' | 'publish';

async function start(name: StepCommand, context: HostContext, words: Given): Promise<CommandOutcome> {
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) throw new Error(`There is no command ${name}.`);
  const end = await command.start(context, words);
  return end.status === 'stopped' ? sayEnd(context, end.outcome) : end;
}

function given({ flags }: InputsGiven, command: StepCommand): Given {
  return { operands: [], flags: flags[command] ?? {}, switches: new Set(), problems: [] };
}
