/** Errors that keep a run from beginning: the checkout, the task, and what it needs of the machine. */

import { ends, misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const BEGINNING = {
  ERR_NO_CHECKOUT: misuse(
    'The folder is not a checkout that git can use: it does not exist, may not be entered, is not in a repository, is bare, or git is missing.',
    'Run patchsmith in a checkout, or name one with `--repo`; the message says what is wrong.',
  ),
  ERR_WORK_TREE_BUSY: misuse(
    'Another run is working in this checkout, here or in another container. While it does, the git dir has a socket `patchsmith-*.sock`.',
    'Wait for it, or work in another checkout.',
  ),
  ERR_NO_SNAPSHOT: misuse(
    'The initial state of the work tree could not be captured.',
    'Fix what the message names in the checkout, then run it again.',
  ),
  ERR_LINKED_OUTSIDE: misuse(
    'A file of the work tree is a hard link to a file outside of it, which commands could change, and it cannot be replaced by a copy; or a closed folder cannot be searched for such files.',
    'Install dependencies without hard links, such as with the setting `package-import-method=copy` of pnpm, or move what the message names out of the work tree. Open a closed folder with the command in the message.',
  ),
  ERR_UNWRITABLE: misuse(
    'The work tree, or the path given with `--patch`, is not writable.',
    'Make it writable, or choose another place; `--preflight off` lets a run start in a work tree that is not writable.',
  ),
  ERR_OWN_PROGRAM: misuse(
    'patchsmith is installed where commands of the run could change it.',
    'Install it elsewhere, such as with `npm install --global patchsmith`.',
  ),
  ERR_LOGIN_IN_TREE: misuse(
    'A cloud credentials file is in the work tree, where the model could read it.',
    'Move it out of the checkout, and set the variable that the message names to its new path.',
  ),
  ERR_UNUSABLE_FILE: misuse(
    'A file that a run needs to read is not a regular file, such as a pipe, a device or an endless file.',
    'Replace it with a regular file, or remove it.',
  ),
  ERR_PLAN_UNREADABLE: misuse(
    'The plan cannot be read, or has no task.',
    'Fix what the message names; docs/plans.md describes the format.',
  ),
  ERR_PRINCIPLES_UNREADABLE: misuse(
    'A principles file that was named cannot be read.',
    'Name another one with `--principles`, or fix what the message names.',
  ),
  ERR_ANSWER_SCHEMA: misuse(
    'The file given with `--output-schema` is not a usable JSON Schema.',
    'Fix what the message names; docs/answers.md says what a schema may have.',
  ),
  ERR_COMMAND_CANNOT_FAIL: misuse(
    'A setup or verify command always succeeds, or waits in a way that overlooks failures, so it would prove nothing; or it is too long to tell.',
    'Write it so that its exit code reflects the result; wait for each process by its id. Put long scripts into files.',
  ),
  ERR_SETUP_FAILED: misuse(
    'A setup command failed, left processes behind, or needs a program that is missing.',
    'Read its output in `result.json`, or run it by hand; `patchsmith check` tries it without asking a model.',
  ),
  ERR_PROGRAM_MISSING: misuse(
    'A verify command needs a program, or packages, that commands cannot see.',
    'Install it, make it visible to commands with `--mount` or `--cache`, or let a setup command install it.',
  ),
  ERR_MCP_SERVER: misuse(
    'A required MCP server is not available, or may not be started.',
    'Do as the message says; a server with `required: false` is optional.',
  ),
  ERR_SANDBOX_REFUSED: misuse(
    'The sandbox cannot be created with these settings, for example because a mount does not exist.',
    'Change the setting that the message names.',
  ),
  ERR_SANDBOX_UNAVAILABLE: ends(
    'sandbox_unavailable',
    'A sandbox is required, and this machine cannot provide one.',
    'Do what the message says; `patchsmith doctor` says what is missing, and docs/sandbox.md how to get it. `--sandbox off` runs commands without one.',
  ),
  ERR_SANDBOX_UNCOVERED: ends(
    'sandbox_unavailable',
    'A repository in the work tree cannot be hidden, so commands could change what your git executes.',
    'Move it out of the work tree, or update bubblewrap.',
  ),
  ERR_SANDBOX_WEAKER: ends(
    'sandbox_unavailable',
    'The run started in a different sandbox than is available here.',
    'Resume it where it started, or start a new run.',
  ),
  ERR_TOOL_FAILS_INSIDE: ends(
    'verify_failed',
    '`patchsmith doctor` found programs that work on this machine but not in the sandbox.',
    'Make more of the machine visible to commands with `--mount`.',
  ),
  ERR_NOT_READY: misuse(
    '`patchsmith check` found several problems that would stop a run.',
    'Fix each failed line as it says.',
  ),
} as const;
