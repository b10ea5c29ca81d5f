/** Errors that keep a run from beginning: the checkout, the task, and what it needs of the machine. */

import { ends, misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const BEGINNING = {
  ERR_NO_CHECKOUT: misuse(
    'The folder is not a checkout that git can use: it does not exist, may not be entered, is not in a repository, is bare, or git is missing.',
    'Run patchsmith in a checkout, or name one with `--repo`; the message says what is in the way.',
  ),
  ERR_WORK_TREE_BUSY: misuse(
    'Another run works in this checkout, here or in another container. While it does, its git dir has a socket `patchsmith-*.sock`.',
    'Wait for it, or work in another checkout.',
  ),
  ERR_NO_SNAPSHOT: misuse(
    'The state of the work tree that the run is to begin with could not be taken.',
    'Fix what the message names in the checkout, then run it again.',
  ),
  ERR_UNWRITABLE: misuse(
    'The work tree, or the place of `--patch`, cannot be written to.',
    'Make it writable, or choose another place; `--preflight off` lets a run begin in a work tree that it cannot write to.',
  ),
  ERR_OWN_PROGRAM: misuse(
    'patchsmith itself is installed where commands of the run could change it.',
    'Install it elsewhere, such as with `npm install --global patchsmith`.',
  ),
  ERR_LOGIN_IN_TREE: misuse(
    'A file with which a cloud logs in lies in the work tree, where the model could read it.',
    'Move it out of the checkout, and let the variable that the message names have its new place.',
  ),
  ERR_UNUSABLE_FILE: misuse(
    'A file that a run needs to read is something else, such as a pipe, a device or a file without end.',
    'Replace it by a plain file, or remove it.',
  ),
  ERR_PLAN_UNREADABLE: misuse(
    'The plan cannot be read, or has no task.',
    'Fix what the message names; docs/plans.md describes the form.',
  ),
  ERR_PRINCIPLES_UNREADABLE: misuse(
    'A file of principles that was named cannot be read.',
    'Name another one with `--principles`, or fix what the message names.',
  ),
  ERR_ANSWER_SCHEMA: misuse(
    'The file of `--output-schema` is no JSON Schema that can be used.',
    'Fix what the message names; docs/answers.md says what a schema may have.',
  ),
  ERR_COMMAND_CANNOT_FAIL: misuse(
    'A setup or verify command ends well whatever happens in it, so it would prove nothing.',
    'Write it so that its exit code is that of the work.',
  ),
  ERR_SETUP_FAILED: misuse(
    'A command before the work failed, left processes behind, or needs a program that is not there.',
    'Read its output in `result.json`; run it by hand; `patchsmith check` tries it without asking a model.',
  ),
  ERR_PROGRAM_MISSING: misuse(
    'A verify command needs a program, or packages, that commands do not see.',
    'Install it, show it to commands with `--mount` or `--cache`, or let a setup command make it.',
  ),
  ERR_MCP_SERVER: misuse(
    'An MCP server that the run needs is not there, or may not be started.',
    'Do as the message says; a server with `required: false` may be missing.',
  ),
  ERR_SANDBOX_REFUSED: misuse(
    'The sandbox cannot be made as the settings ask for it, such as with a mount that does not exist.',
    'Change the setting that the message names.',
  ),
  ERR_SANDBOX_UNAVAILABLE: ends(
    'sandbox_unavailable',
    'A sandbox is required, and this machine does not give one.',
    'Do what the message says; `patchsmith doctor` says what is missing, and docs/sandbox.md how to get it. `--sandbox off` runs commands without one.',
  ),
  ERR_SANDBOX_UNCOVERED: ends(
    'sandbox_unavailable',
    'A repository in the work tree cannot be covered, so commands could change what your git runs.',
    'Move it out of the work tree, or update bubblewrap.',
  ),
  ERR_SANDBOX_WEAKER: ends(
    'sandbox_unavailable',
    'The run began in another sandbox than is to be had here.',
    'Resume it where it began, or start a new run.',
  ),
  ERR_TOOL_FAILS_INSIDE: ends(
    'verify_failed',
    '`patchsmith doctor` found programs that work on this machine and not in the sandbox.',
    'Show commands more of the machine with `--mount`.',
  ),
  ERR_NOT_READY: misuse(
    '`patchsmith check` found more than one thing that a run could not do without.',
    'Fix the lines that failed, each as it says.',
  ),
} as const;
