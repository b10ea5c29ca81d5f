/** `patchsmith completion SHELL`: prints the script with which a shell completes command lines. */

import { done, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { Command } from '../command.ts';
import { SCRIPTS } from './scripts.ts';
import { completedCommands, SHELLS } from './words.ts';

/** Resolves with null when it is printed, else with why it is not. */
export async function printCompletion(
  shell: string,
  commands: readonly Command[],
  print: (document: string) => Promise<RunOutcome | null>,
): Promise<RunOutcome> {
  const known = SHELLS.find((name) => name === shell);
  if (known === undefined)
    return usageError(
      'ERR_UNKNOWN_SHELL',
      `No completion for ${JSON.stringify(shell)}. Supported shells: ${SHELLS.join(', ')}.`,
    );
  return (await print(SCRIPTS[known](completedCommands(commands)))) ?? done(`The completion for ${known}.`);
}
