/** Errors in the words of a command line and in the inputs of a workflow step. */

import { misuse } from './entry.ts';

/** What each code means, and what to do. */
export const COMMAND_LINE = {
  ERR_SEVERAL_PROBLEMS: misuse(
    'There are several errors. Look up the code of each, in the lines above or in the reason.',
  ),
  ERR_NO_COMMAND: misuse('The command line names no command. `patchsmith --help` lists them.'),
  ERR_UNKNOWN_COMMAND: misuse(
    'There is no such command. Use the suggested one; `patchsmith --help` lists all.',
  ),
  ERR_UNKNOWN_FLAG: misuse(
    'There is no such flag. Use the suggested one; `patchsmith help COMMAND` lists all.',
  ),
  ERR_FLAG_NOT_TAKEN: misuse(
    'This command does not take the flag, or only with another. Drop it, or add the one that the message names.',
  ),
  ERR_FLAG_WITHOUT_VALUE: misuse(
    'The flag needs a value. Write `--flag VALUE`, or `--flag=VALUE` if the value starts with a dash.',
  ),
  ERR_FLAG_REPEATED: misuse('The flag takes one value. Give it once.'),
  ERR_OPERAND_MISSING: misuse('The command needs an argument, such as a run. Add it.'),
  ERR_UNEXPECTED_WORD: misuse(
    'An argument belongs to no flag and no operand. Quote values with spaces; give the task with `--message` or `--plan`.',
  ),
  ERR_UNKNOWN_TEMPLATE: misuse('`patchsmith init` has no such template. Use one that the message lists.'),
  ERR_UNKNOWN_SHELL: misuse(
    '`patchsmith completion` does not support this shell. Use one that the message lists.',
  ),
  ERR_UNKNOWN_INPUT: misuse('The action has no such input. Use the suggested one; docs/action.md lists all.'),
  ERR_INPUT_NOT_TAKEN: misuse(
    'The mode of this step does not take the input. Drop it, or choose another `mode`.',
  ),
  ERR_INPUT_MISSING: misuse('An input that the mode or another input needs is missing. Set it.'),
  ERR_NO_IDENTITY_TOKEN: misuse(
    'A login without a key needs an identity token. Give the job `permissions: id-token: write`.',
  ),
  ERR_NOT_IN_ACTIONS: misuse(
    'This only works in a GitHub Actions job of a repository. Use it in a workflow.',
  ),
} as const;
