/** Errors that keep a run from beginning: the checkout, the task, and what it needs of the machine. */

import { ends, misuse } from './entry.ts';

/** What each code means, and what to do. */
export const BEGINNING = {
  ERR_NO_CHECKOUT: misuse(
    'The folder is not a checkout that git can use. Run patchsmith in one, or name one with `--repo`.',
  ),
  ERR_WORK_TREE_BUSY: misuse(
    'Another run works in this checkout, perhaps in another container (`patchsmith-*.sock` in its git dir). Wait, or use another checkout.',
  ),
  ERR_NO_SNAPSHOT: misuse(
    'The initial state of the work tree could not be recorded. Fix what the message names.',
  ),
  ERR_LINKED_OUTSIDE: misuse(
    'A file of the work tree may be a hard link to one outside, and cannot be copied. Move it out, open closed folders, or install without hard links (pnpm: `package-import-method=copy`).',
  ),
  ERR_UNWRITABLE: misuse(
    'The work tree, or the path of `--patch`, is not writable. Make it writable, or start anyway with `--preflight off`.',
  ),
  ERR_OWN_PROGRAM: misuse(
    'Commands of the run could change the installed patchsmith. Install it elsewhere, such as with `npm install --global patchsmith`.',
  ),
  ERR_LOGIN_IN_TREE: misuse(
    'A cloud credentials file is in the work tree. Move it out, and set the variable to its new path.',
  ),
  ERR_UNUSABLE_FILE: misuse(
    'A file that the run needs is a pipe, a device or endless. Replace it with a regular file.',
  ),
  ERR_PLAN_UNREADABLE: misuse('The plan cannot be read, or has no task. See docs/plans.md.'),
  ERR_PRINCIPLES_UNREADABLE: misuse(
    'A principles file cannot be read. Fix it, or name another with `--principles`.',
  ),
  ERR_ANSWER_SCHEMA: misuse(
    'The file of `--output-schema` is not a usable JSON Schema. See docs/answers.md.',
  ),
  ERR_COMMAND_CANNOT_FAIL: misuse(
    'A setup or verify command always succeeds, overlooks failures, or is too long to tell. Let its exit code say the result, and wait for each process by id.',
  ),
  ERR_SETUP_FAILED: misuse(
    'A setup command failed, left processes, or lacks a program. Read its output in `result.json`, or try it with `patchsmith check`.',
  ),
  ERR_PROGRAM_MISSING: misuse(
    'Commands cannot see what a verify command needs. Install it in a setup command, or show it with `--mount` or `--cache`.',
  ),
  ERR_MCP_SERVER: misuse(
    'A required MCP server is not available, or may not be started. Fix it, or set `required: false`.',
  ),
  ERR_SANDBOX_REFUSED: misuse(
    'The sandbox cannot be created with these settings, such as a missing mount. Change the one that the message names.',
  ),
  ERR_SANDBOX_UNAVAILABLE: ends(
    'sandbox_unavailable',
    'A sandbox is required, but this machine has none. See `patchsmith doctor` and docs/sandbox.md; `--sandbox off` does without.',
  ),
  ERR_SANDBOX_UNCOVERED: ends(
    'sandbox_unavailable',
    'A repository in the work tree cannot be hidden from commands. Move it out, or update bubblewrap.',
  ),
  ERR_SANDBOX_WEAKER: ends(
    'sandbox_unavailable',
    'The run started in a sandbox that is not available here. Resume it where it started, or start a new run.',
  ),
  ERR_TOOL_FAILS_INSIDE: ends(
    'verify_failed',
    '`patchsmith doctor` found programs that do not work in the sandbox. Make more of the machine visible with `--mount`.',
  ),
  ERR_NOT_READY: misuse('`patchsmith check` found several problems. Fix each failed line as it says.'),
} as const;
