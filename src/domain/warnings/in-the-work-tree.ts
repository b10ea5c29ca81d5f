/** Warnings about files and repositories of the work tree. */

import { warns } from './entry.ts';

/** Codes with their meaning and what to do. */
export const TREE_WARNINGS = {
  WARN_UNREADABLE: warns(
    'A file or folder of the work tree cannot be read, and counts as unchanged.',
    'Make it readable, if the plan is about it.',
  ),
  WARN_REPOSITORY_LEFT_OUT: warns(
    'A folder is a separate repository, so its files are not part of the run.',
    'Run the plan there, if it is about them.',
  ),
  WARN_GIT_FOLDER_INSIDE: warns(
    'A folder with files of this repository also has a git folder. Its files are included.',
    'Nothing to do if that is intended; otherwise remove that `.git`.',
  ),
  WARN_NAME_NOT_ACCEPTED: warns('A file has a name that git does not accept, and is left out.', 'Rename it.'),
  WARN_SUBMODULES_LEFT_OUT: warns(
    'Submodules are repositories of their own, so their files are not part of the run.',
    'Run the plan in the submodule, if it is about its files.',
  ),
  WARN_LFS_POINTER: warns(
    'A file of Git LFS is in the patch as the pointer that git stores.',
    'Push its content with `git lfs push`; `publish` says whether GitHub has it.',
  ),
  WARN_FILTER_NOT_RUN: warns(
    'A file has a filter in `.gitattributes`, which is a program of the repository and was not run.',
    'Compare the file in the patch with what your git would store.',
  ),
  WARN_NOT_CONVERTED: warns(
    'A file cannot be converted as its attributes require, for example from its encoding, and is stored as it is on disk.',
    'Fix the file, or its line in `.gitattributes`.',
  ),
  WARN_MORE_ABOUT_FILES: warns(
    'There are more warnings about files than are listed.',
    'Check the work tree: something created a large number of unusual files.',
  ),
  WARN_OVER_LIMIT: warns(
    'A file changed but is not in the patch, because it exceeds the limits of the run.',
    'Raise the limit, or let commands write to ignored folders.',
  ),
  WARN_SET_ID_CLEARED: warns(
    'Commands made files that run with the rights of their owner. These bits were cleared.',
    'Find out which command does that, and why.',
  ),
  WARN_SET_ID_LEFT: warns(
    'Commands made files that run with the rights of their owner, and these bits could not be cleared.',
    'Clear them: `chmod ug-s PATH`.',
  ),
  WARN_GIT_DIR_REMOVED: warns(
    'A command made a git dir in the work tree, whose configuration could name programs. It was removed.',
    'Let tests create their repositories in a temporary folder.',
  ),
  WARN_SPECIAL_REMOVED: warns(
    'A pipe, socket or device had the name of a rule file (.gitignore, .gitattributes), where git would wait for it. It was removed.',
    'Find out which command makes it, and why.',
  ),
  WARN_GIT_DIR_KEPT: warns(
    'A git dir appeared or moved within reach of commands and may be yours, so it was kept.',
    'Check its configuration and hooks before you use git there.',
  ),
  WARN_GIT_DIR_UNSEARCHED: warns(
    'A folder cannot be searched for git dirs that commands may have made.',
    'Check it before you use git there.',
  ),
  WARN_HARD_LINKS_COPIED: warns(
    "Files of the work tree were hard links to files outside of it, such as of pnpm's store. They were replaced by copies, so that commands cannot change the others.",
    'Nothing to do. To save the time of copying, install with `package-import-method=copy` (pnpm) or `UV_LINK_MODE=copy` (uv).',
  ),
  WARN_OPENED_AGAIN: warns(
    'A command made a file or folder inaccessible. Access was restored, so that nothing can hide there.',
    'Nothing to do.',
  ),
  WARN_LOOK_CUT_SHORT: warns(
    'The run had to end before it had examined the whole work tree, its ignored files or its other repositories.',
    'What the message names is missing from the result; check the work tree, or continue with `patchsmith resume`.',
  ),
  WARN_BASE_NOT_KEPT: warns(
    'The base could not be copied into the run directory, so the run can be replayed only with this checkout.',
    'Fix what the message names.',
  ),
  WARN_FRESH_CHECKOUT_LACKS: warns(
    'Submodules and files of Git LFS are not in the fresh checkout that verify commands ran in (`--verify-in checkout`).',
    'Let a setup command fetch them, or use `--verify-in worktree`.',
  ),
  WARN_FRESH_CHECKOUT_CHANGED: warns(
    'Setup or verify commands changed files in the fresh checkout. These changes are not in the patch.',
    'If the files belong in the repository, let the plan say how to create them.',
  ),
} as const;
