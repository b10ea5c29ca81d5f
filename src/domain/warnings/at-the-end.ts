/** Warnings about the patch, and about what the run leaves. */

import { warns } from './entry.ts';

/** Codes with their meaning and what to do. */
export const ENDING_WARNINGS = {
  WARN_SECOND_LOOK: warns(
    'The patch changes something that deserves a second look, such as a workflow, a lock file or the number of tests.',
    'Read these files first; `flags` in `result.json` has all of them.',
  ),
  WARN_UNCOMMITTED_WORK: warns(
    'The run started with uncommitted work, or in the middle of a merge, and the patch applies on top of that.',
    'Apply the patches in the order that the message names. `publish` only accepts runs that started with committed work.',
  ),
  WARN_UNCOMMITTED_NOT_KEPT: warns(
    'The uncommitted work that the run started with, or large files in it, could not be stored as a patch.',
    'Keep the work tree: the patch needs it.',
  ),
  WARN_PUT_BACK: warns(
    'Commands changed paths that `allow` and `protect` forbid, and these changes were reverted.',
    'Relax the rules if the change is wanted.',
  ),
  WARN_NOT_PUT_BACK: warns(
    'A command changed a path that `allow` and `protect` forbid, and the change could not be reverted.',
    'Revert it yourself, with `git checkout -- PATH`.',
  ),
  WARN_MAY_HAVE_CHANGED: warns(
    'Existing files can no longer be examined.',
    'Make their folders accessible, and check them.',
  ),
  WARN_MADE_BY_OTHERS: warns(
    'Files were changed during the run by verify commands or other programs, and are not in the patch.',
    'Commit or discard them yourself.',
  ),
  WARN_HIDDEN_SINCE: warns(
    'Files that the run made are hidden by a later ignore rule, and are not in the patch.',
    'Check that rule; `git status --ignored` shows the files.',
  ),
  WARN_TAKEN_WHOLE: warns(
    'Files that git used to ignore are in the patch as new ones, including their contents from before the run.',
    'Check them for anything that should not be published.',
  ),
  WARN_NO_LONGER_IGNORED: warns(
    'Files that git ignored are no longer ignored. They are not in the patch, but `git add --all` would add them.',
    'Check them before you add files to git.',
  ),
  WARN_IGNORED_CHANGES: warns(
    'Ignored files changed, such as build output, or empty folders and pipes were made: they are not in the patch.',
    'Nothing to do, unless the plan needs one of them in the repository.',
  ),
  WARN_NOT_BY_TOOL_CALLS: warns(
    'Some lines of the patch were made by setup commands or other programs, not by a call of the model.',
    '`patchsmith blame` shows which lines.',
  ),
  WARN_REPOSITORY_CHANGED: warns(
    'Files of another repository in the work tree, or of a submodule, changed. They are not in the patch.',
    'Look at them there, with `git status`.',
  ),
  WARN_TOO_LARGE_TO_PUBLISH: warns(
    'The patch is larger than `publish` accepts.',
    'Raise `--max-patch-files` or `--max-patch-size` for `publish`, or split the plan.',
  ),
  WARN_NO_REPORT: warns(
    'The report of the run could not be written. The run itself is complete.',
    'Fix what the message names, then run `patchsmith report`.',
  ),
  WARN_LEFT_BEHIND: warns(
    'Something that the run should have removed still exists, such as its scratch folder or git settings that commands wrote.',
    'Remove what the message names.',
  ),
  WARN_RUN_DIRECTORY_LARGE: warns(
    'The run directory could not be cleaned up, and is larger than necessary.',
    '`patchsmith clean` removes old runs.',
  ),
} as const;
