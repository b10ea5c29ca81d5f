/** Errors in the words of a command line and in the inputs of a workflow step. */

import { misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const COMMAND_LINE = {
  ERR_SEVERAL_PROBLEMS: misuse(
    'More than one thing is wrong. Each has a code of its own: on a terminal, in a line above the last one; in a JSON document, in the reason.',
    'Look up these codes.',
  ),
  ERR_NO_COMMAND: misuse('The command line names no command.', 'Name one: `patchsmith --help` lists them.'),
  ERR_UNKNOWN_COMMAND: misuse(
    'There is no command of this name.',
    'Use the name that the message suggests; `patchsmith --help` lists them all.',
  ),
  ERR_UNKNOWN_FLAG: misuse(
    'There is no flag of this name.',
    'Use the name that the message suggests; `patchsmith help COMMAND` lists the flags of a command.',
  ),
  ERR_FLAG_NOT_TAKEN: misuse(
    'The flag exists, and this command does not take it, or only together with another one.',
    'Leave it out, or add the flag that the message names.',
  ),
  ERR_FLAG_WITHOUT_VALUE: misuse(
    'The flag needs a value and has none.',
    'Write `--flag VALUE`, or `--flag=VALUE` where the value begins with a dash.',
  ),
  ERR_FLAG_REPEATED: misuse('The flag takes one value and was given several.', 'Give it once.'),
  ERR_OPERAND_MISSING: misuse(
    'The command needs a word after its name, such as the run that it is about.',
    'Add it as the message shows.',
  ),
  ERR_UNEXPECTED_WORD: misuse(
    'A word belongs neither to a flag nor to the command.',
    'Quote values with spaces; give the task with `--message` or `--plan`.',
  ),
  ERR_UNKNOWN_TEMPLATE: misuse(
    '`patchsmith init` has no template of this name.',
    'Take one of those that the message lists.',
  ),
  ERR_UNKNOWN_SHELL: misuse(
    '`patchsmith completion` knows no shell of this name.',
    'Take one of those that the message lists.',
  ),
  ERR_UNKNOWN_INPUT: misuse(
    'The action has no input of this name.',
    'Use the name that the message suggests; docs/action.md lists them all.',
  ),
  ERR_INPUT_NOT_TAKEN: misuse(
    'The input exists, and the mode of this step does not take it.',
    'Leave it out, or choose another `mode`.',
  ),
  ERR_INPUT_MISSING: misuse(
    'An input that goes with another one, or that the mode needs, was not given.',
    'Give it as the message says.',
  ),
  ERR_NO_IDENTITY_TOKEN: misuse(
    'A login without a key was asked for, and this job may not ask for an identity token.',
    'Give the job `permissions: id-token: write`.',
  ),
  ERR_NOT_IN_ACTIONS: misuse(
    'What was asked for only works in a job of GitHub Actions, and this is not one, or it names no repository.',
    'Use it in a workflow.',
  ),
} as const;
