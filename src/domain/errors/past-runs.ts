/** Errors of the commands over runs that have been: resume, replay, undo, blame, show, report, clean. */

import { ends, misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const PAST_RUNS = {
  ERR_RUN_DIRECTORY: misuse(
    'The run directory cannot be created there: it already holds a run, is in the work tree, or is not writable.',
    'Choose another one with `--run-dir`.',
  ),
  ERR_RUN_DIRECTORY_IN_TREE: misuse(
    'The run directory is in the work tree that the run should continue in.',
    'Move it out.',
  ),
  ERR_RUN_NOT_FOUND: misuse(
    'There is no run with this name, its directory cannot be used, or the checkout has no last run.',
    'Name its run directory; `patchsmith runs` lists your runs.',
  ),
  ERR_RUN_BUSY: misuse('A process is still working in this run directory.', 'Wait until it has ended.'),
  ERR_JOURNAL_UNREADABLE: misuse(
    'The journal of the run is missing, damaged, or from another version.',
    'Start a new run; what it changed is in the work tree.',
  ),
  ERR_RESULT_UNREADABLE: misuse(
    'The `result.json` of the run is missing, damaged, or from another version.',
    'Use the version of patchsmith that wrote it, or copy the directory again.',
  ),
  ERR_PATCH_UNREADABLE: misuse(
    'The run has no patch, or its patch is not the one that the result describes.',
    'Name a run that ended with a patch, or copy its directory again.',
  ),
  ERR_NOT_IN_PATCH: misuse("The path is not in the run's patch.", 'Name one that the message lists.'),
  ERR_OTHER_CHECKOUT: misuse(
    'The run worked in a different checkout.',
    'Go there, or name the checkout with `--repo`.',
  ),
  ERR_NOT_RESUMABLE: misuse(
    'The run has ended, or its provider cannot continue it.',
    'Start a new run, or resume with the flags that the message names.',
  ),
  ERR_PERMISSIONS_WIDER: misuse(
    'The run had permissions that are not granted here, and a run directory cannot grant them.',
    'Repeat the flags that you agree to, as the message shows.',
  ),
  ERR_RECORDED_TOOLS: misuse(
    'The run had tools, or a schema for its answer, that this process does not have.',
    'Resume it from the program that started it, or start a new run.',
  ),
  ERR_CHANGED_BY_OTHERS: misuse(
    'Something changed in the work tree that the run did not do.',
    'Check the paths; `--accept-changes` takes them into the baseline.',
  ),
  ERR_CHANGES_NOT_TRANSFERRED: misuse(
    "The run's changes cannot be applied to this checkout.",
    'Resume it in its own checkout, or in a clean one of the same base.',
  ),
  ERR_NOT_REPLAYABLE: misuse(
    'The run cannot be replayed: it did not finish, was killed along the way, or its base is not available.',
    'Use the patch, which was proven when the run ended; docs/after-a-run.md says what a replay needs.',
  ),
  ERR_REPLAY_DIVERGES: ends(
    'verify_failed',
    'The replay diverged from the recording.',
    'The message names the first difference; use the same programs and ignored files as the run.',
  ),
  ERR_REPLAY_OTHER_PATCH: ends(
    'verify_failed',
    'The replay followed the recording but made a different patch.',
    'Do not trust the recorded patch.',
  ),
  ERR_UNDO_CONFLICT: misuse(
    'The work tree has changed since the run, so undo would lose something.',
    'Check the paths; `--force` restores what it can.',
  ),
  ERR_REPORT_UNWRITTEN: misuse(
    'The report cannot be written into the run directory.',
    'Copy the run directory to a writable place.',
  ),
  ERR_NOT_REMOVED: misuse(
    '`patchsmith clean` could not remove some of the runs.',
    'Remove what the lines above name by hand.',
  ),
  ERR_TEMPLATE_UNWRITTEN: misuse(
    '`patchsmith init` could not write a file.',
    'Fix what the message names, then run it again: existing files are kept.',
  ),
} as const;
