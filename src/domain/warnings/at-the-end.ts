/** Warnings about the patch, and about what the run leaves. */

/** What each code means, and what to do. */
export const ENDING_WARNINGS = {
  WARN_SECOND_LOOK:
    'The patch changes a workflow, a lock file, the number of tests or the like. Read these files first (`flags` in `result.json`).',
  WARN_UNCOMMITTED_WORK:
    'The patch applies on top of uncommitted work or a merge. Apply both in the order given; `publish` needs committed work.',
  WARN_UNCOMMITTED_NOT_KEPT:
    'The uncommitted work at the start could not all be stored. Keep the work tree: the patch needs it.',
  WARN_PUT_BACK:
    'Changes of commands to paths that `allow` and `protect` forbid were reverted. Relax the rules if they are wanted.',
  WARN_NOT_PUT_BACK:
    "A command's change against `allow` and `protect` could not be reverted. Use `git checkout -- PATH`.",
  WARN_MAY_HAVE_CHANGED:
    'Existing files can no longer be examined. Make their folders accessible, and check them.',
  WARN_MADE_BY_OTHERS:
    'Verify commands or other programs changed files, which are not in the patch. Commit or discard them yourself.',
  WARN_HIDDEN_SINCE:
    'A later ignore rule hides files of the run, which are not in the patch. See `git status --ignored`.',
  WARN_TAKEN_WHOLE:
    'Files that git used to ignore are new in the patch, with their earlier contents. Check that all of it may be published.',
  WARN_NO_LONGER_IGNORED:
    'Files are no longer ignored. They are not in the patch, but `git add --all` would add them: check them first.',
  WARN_IGNORED_CHANGES:
    'Ignored files, empty folders or pipes changed; they are not in the patch. Act only if the repository needs one.',
  WARN_NOT_BY_TOOL_CALLS:
    'Setup commands or other programs made some lines of the patch. `patchsmith blame` shows which.',
  WARN_REPOSITORY_CHANGED:
    'Files of another repository or submodule changed, and are not in the patch. Look there with `git status`.',
  WARN_TOO_LARGE_TO_PUBLISH:
    'The patch is larger than `publish` accepts. Raise its `--max-patch-files` or `--max-patch-size`, or split the plan.',
  WARN_NO_REPORT:
    'The report could not be written; the run is complete. Fix what the message names, then `patchsmith report`.',
  WARN_LEFT_BEHIND: 'Something that the run should have removed still exists. Remove what the message names.',
  WARN_RUN_DIRECTORY_LARGE: 'The run directory could not be cleaned up. `patchsmith clean` removes old runs.',
} as const;
