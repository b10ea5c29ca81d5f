/** Errors in the words of a command line and in the inputs of a workflow step. */

import { misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const COMMAND_LINE = {
  ERR_SEVERAL_PROBLEMS: misuse(
    'There are several errors. Each has its own code: on a terminal, in a line above the last one; in a JSON document, in the reason.',
    'Look up these codes.',
  ),
  ERR_NO_COMMAND: misuse('The command line names no command.', 'Name one: `patchsmith --help` lists them.'),
  ERR_UNKNOWN_COMMAND: misuse(
    'There is no command with this name.',
    'Use the name that the message suggests; `patchsmith --help` lists them all.',
  ),
  ERR_UNKNOWN_FLAG: misuse(
    'There is no flag with this name.',
    'Use the name that the message suggests; `patchsmith help COMMAND` lists the flags of a command.',
  ),
  ERR_FLAG_NOT_TAKEN: misuse(
    'The flag exists, but this command does not accept it, or only together with another one.',
    'Leave it out, or add the flag that the message names.',
  ),
  ERR_FLAG_WITHOUT_VALUE: misuse(
    'The flag needs a value and has none.',
    'Write `--flag VALUE`, or `--flag=VALUE` if the value starts with a dash.',
  ),
  ERR_FLAG_REPEATED: misuse('The flag takes one value and was given several.', 'Give it once.'),
  ERR_OPERAND_MISSING: misuse(
    'The command needs an argument, such as a run.',
    'Add it as the message shows.',
  ),
  ERR_UNEXPECTED_WORD: misuse(
    'An argument belongs neither to a flag nor to the command.',
    'Quote values with spaces; give the task with `--message` or `--plan`.',
  ),
  ERR_UNKNOWN_TEMPLATE: misuse(
    '`patchsmith init` has no template with this name.',
    'Use one that the message lists.',
  ),
  ERR_UNKNOWN_SHELL: misuse(
    '`patchsmith completion` does not support this shell.',
    'Use one that the message lists.',
  ),
  ERR_UNKNOWN_INPUT: misuse(
    'The action has no input with this name.',
    'Use the name that the message suggests; docs/action.md lists them all.',
  ),
  ERR_INPUT_NOT_TAKEN: misuse(
    'The input exists, but the mode of this step does not accept it.',
    'Leave it out, or choose another `mode`.',
  ),
  ERR_INPUT_MISSING: misuse(
    'An input that another one requires, or that the mode needs, is missing.',
    'Set it as the message says.',
  ),
  ERR_NO_IDENTITY_TOKEN: misuse(
    'A login without a key was requested, but this job may not request an identity token.',
    'Give the job `permissions: id-token: write`.',
  ),
  ERR_NOT_IN_ACTIONS: misuse(
    'This only works in a GitHub Actions job, and this is not one, or it names no repository.',
    'Use it in a workflow.',
  ),
} as const;
