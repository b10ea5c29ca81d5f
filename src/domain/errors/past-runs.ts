/** Errors of the commands over runs that have been: resume, replay, undo, blame, show, report, clean. */

import { ends, misuse } from './entry.ts';

/** What each code means, and what to do. */
export const PAST_RUNS = {
  ERR_RUN_DIRECTORY: misuse(
    'The run directory holds a run, is in the work tree, or is not writable. Choose another with `--run-dir`.',
  ),
  ERR_RUN_DIRECTORY_IN_TREE: misuse('The run directory is in the work tree of the run. Move it out.'),
  ERR_RUN_NOT_FOUND: misuse(
    'There is no such run, or its directory cannot be used. `patchsmith runs` lists your runs.',
  ),
  ERR_RUN_BUSY: misuse('A process is still working in this run directory. Wait until it has ended.'),
  ERR_JOURNAL_UNREADABLE: misuse(
    'The journal is missing, damaged, or from another version. Start a new run; the changes are in the work tree.',
  ),
  ERR_RESULT_UNREADABLE: misuse(
    'The `result.json` is missing, damaged, or from another version. Use the version that wrote it, or copy the directory again.',
  ),
  ERR_PATCH_UNREADABLE: misuse(
    'The run has no patch, or not the one of its result. Name another run, or copy its directory again.',
  ),
  ERR_NOT_IN_PATCH: misuse('The path is not in the patch. Name one that the message lists.'),
  ERR_OTHER_CHECKOUT: misuse('The run worked in another checkout. Go there, or name it with `--repo`.'),
  ERR_NOT_RESUMABLE: misuse(
    'The run has ended, or its provider cannot continue it. Start a new run, or add the flags that the message names.',
  ),
  ERR_PERMISSIONS_WIDER: misuse(
    'The run had permissions that a run directory cannot grant. Repeat the flags that you agree to.',
  ),
  ERR_RECORDED_TOOLS: misuse(
    'The run had tools or a schema that this process lacks. Resume it from the program that started it.',
  ),
  ERR_CHANGED_BY_OTHERS: misuse(
    'Something else changed the work tree. Check the paths; `--accept-changes` takes them into the baseline.',
  ),
  ERR_CHANGES_NOT_TRANSFERRED: misuse(
    "The run's changes cannot be applied here. Resume it in its own checkout, or in a clean one of the same base.",
  ),
  ERR_NOT_REPLAYABLE: misuse(
    'The run did not finish, was killed along the way, or lacks its base. Its patch is proven; see docs/after-a-run.md.',
  ),
  ERR_REPLAY_DIVERGES: ends(
    'verify_failed',
    'The replay diverged from the recording. Use the same programs and ignored files; the message names the first difference.',
  ),
  ERR_REPLAY_OTHER_PATCH: ends(
    'verify_failed',
    'The replay made a different patch. Do not trust the recorded one.',
  ),
  ERR_UNDO_CONFLICT: misuse(
    'The work tree has changed since the run, and undo would lose something. Check the paths; `--force` restores what it can.',
  ),
  ERR_REPORT_UNWRITTEN: misuse(
    'The report cannot be written into the run directory. Copy that to a writable place.',
  ),
  ERR_NOT_REMOVED: misuse(
    '`patchsmith clean` could not remove some runs. Remove what the lines above name by hand.',
  ),
  ERR_TEMPLATE_UNWRITTEN: misuse(
    '`patchsmith init` could not write a file. Fix what the message names, and run it again; existing files are kept.',
  ),
} as const;
