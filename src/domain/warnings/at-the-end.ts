/** Warnings about the patch, and about what the run leaves. */

import { warns } from './entry.ts';

/** Codes with their meaning and what to do. */
export const ENDING_WARNINGS = {
  WARN_SECOND_LOOK: warns(
    'The patch changes something that deserves a second look, such as a workflow, a lock file or the number of tests.',
    'Read these files first; `flags` in `result.json` has all of them.',
  ),
  WARN_UNCOMMITTED_WORK: warns(
    'The run began with uncommitted work, or in the middle of a merge, and the patch applies on top of that.',
    'Apply the patches in the order that the message names. `publish` takes only a run that began with committed work.',
  ),
  WARN_UNCOMMITTED_NOT_KEPT: warns(
    'The uncommitted work that the run began with, or large files of it, could not be kept as a patch.',
    'Keep the work tree: the patch needs it.',
  ),
  WARN_PUT_BACK: warns(
    'Commands changed paths that `allow` and `protect` forbid, and these were put back.',
    'Widen the rules if the change is wanted.',
  ),
  WARN_NOT_PUT_BACK: warns(
    'A command changed a path that `allow` and `protect` forbid, and it could not be put back.',
    'Put it back yourself, with `git checkout -- PATH`.',
  ),
  WARN_MAY_HAVE_CHANGED: warns(
    'Files that were there before cannot be examined any more.',
    'Make their folders accessible, and look at them.',
  ),
  WARN_MADE_BY_OTHERS: warns(
    'Files changed while the run went on, by verify commands or by something outside, and are not in the patch.',
    'Commit or discard them yourself.',
  ),
  WARN_HIDDEN_SINCE: warns(
    'Files that the run made are hidden by an ignore rule that was written later, and are not in the patch.',
    'Look at that rule; `git status --ignored` shows the files.',
  ),
  WARN_TAKEN_WHOLE: warns(
    'Files that git ignored before are in the patch as new ones, with what they held before the run.',
    'Look for what should not be published in them.',
  ),
  WARN_NO_LONGER_IGNORED: warns(
    'Files that git ignored are not ignored any more. The patch has none of them, and `git add --all` would take them.',
    'Look at them before you add files to git.',
  ),
  WARN_IGNORED_CHANGES: warns(
    'Files changed that ignore rules keep out of the patch, such as build results.',
    'Nothing, unless the plan needs one of them in the repository.',
  ),
  WARN_NOT_BY_TOOL_CALLS: warns(
    'Lines of the patch were made by setup commands or from outside, and not by a call of the model.',
    '`patchsmith blame` shows which lines.',
  ),
  WARN_REPOSITORY_CHANGED: warns(
    'Files of another repository in the work tree, or of a submodule, changed. They are not in the patch.',
    'Look at them there, with `git status`.',
  ),
  WARN_TOO_LARGE_TO_PUBLISH: warns(
    'The patch is larger than `publish` takes.',
    'Raise `--max-patch-files` or `--max-patch-size` for `publish`, or split the plan.',
  ),
  WARN_NO_REPORT: warns(
    'The report of the run could not be written. The run itself is whole.',
    'Fix what the message names, then `patchsmith report`.',
  ),
  WARN_LEFT_BEHIND: warns(
    'Something that the run should have removed is still there, such as its scratch folder or git settings that commands wrote.',
    'Remove what the message names.',
  ),
  WARN_RUN_DIRECTORY_LARGE: warns(
    'The run directory could not be tidied, and takes more room than it needs.',
    '`patchsmith clean` removes old runs.',
  ),
} as const;
