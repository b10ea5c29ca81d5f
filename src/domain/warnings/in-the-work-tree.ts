/** Warnings about files and repositories of the work tree. */

/** What each code means, and what to do. */
export const TREE_WARNINGS = {
  WARN_UNREADABLE:
    'A file or folder cannot be read, and counts as unchanged. Make it readable if the plan is about it.',
  WARN_REPOSITORY_LEFT_OUT:
    'A folder is a separate repository, and not part of the run. If the plan is about it, run it there.',
  WARN_GIT_FOLDER_INSIDE:
    'A folder of this repository also has a `.git`; its files are included. Remove that `.git` if it is not intended.',
  WARN_NAME_NOT_ACCEPTED: 'git does not accept the name of a file, which is left out. Rename it.',
  WARN_SUBMODULES_LEFT_OUT:
    'Submodules are separate repositories, and not part of the run. If the plan is about their files, run it there.',
  WARN_LFS_POINTER: 'The patch has the pointer of a Git LFS file. Push the content with `git lfs push`.',
  WARN_FILTER_NOT_RUN:
    'A filter in `.gitattributes` is a program of the repository and was not run. Compare the file with what git would store.',
  WARN_NOT_CONVERTED:
    'A file cannot be converted as its attributes require, and is stored as it is. Fix it, or its line in `.gitattributes`.',
  WARN_MORE_ABOUT_FILES:
    'Not all warnings about files are listed. Something created many unusual files: check the work tree.',
  WARN_OVER_LIMIT:
    'A changed file exceeds the limits, and is not in the patch. Raise the limit, or use ignored folders.',
  WARN_SET_ID_CLEARED:
    "Commands made files that run with their owner's rights; these bits were cleared. Find out which command does that, and why.",
  WARN_SET_ID_LEFT:
    "Commands made files that run with their owner's rights, and these bits could not be cleared. `chmod ug-s PATH`.",
  WARN_GIT_DIR_REMOVED:
    'A git dir that a command made was removed, since it could name programs. Let tests use a temporary folder.',
  WARN_SPECIAL_REMOVED:
    'A pipe, socket or device named like a rule file (.gitignore, .gitattributes) was removed, since git would wait for it. Find out what makes it.',
  WARN_GIT_DIR_KEPT:
    'A git dir that appeared or moved may be yours, and was kept. Check its configuration and hooks before you use git.',
  WARN_GIT_DIR_UNSEARCHED:
    'A folder cannot be searched for git dirs of commands. Check it before you use git there.',
  WARN_HARD_LINKS_COPIED:
    'Hard links to files outside were replaced by copies, so that commands cannot change those. `package-import-method=copy` (pnpm) or `UV_LINK_MODE=copy` (uv) saves the time.',
  WARN_OPENED_AGAIN: 'A command closed a file or folder. It was reopened, so that nothing can hide there.',
  WARN_LOOK_CUT_SHORT:
    'The run ended before it had examined all; the result lacks what the message names. Check it, or `patchsmith resume`.',
  WARN_BASE_NOT_KEPT:
    'The base could not be copied into the run directory, so a replay needs this checkout. Fix what the message names.',
  WARN_FRESH_CHECKOUT_LACKS:
    'The fresh checkout has no submodules and no Git LFS files. Fetch them by a setup command, or use `--verify-in worktree`.',
  WARN_FRESH_CHECKOUT_CHANGED:
    'Commands changed files in the fresh checkout, which are not in the patch. If they belong there, say so in the plan.',
} as const;
