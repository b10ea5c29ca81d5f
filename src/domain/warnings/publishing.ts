/** Warnings of `publish` and `prepare`. */

import { warns } from './entry.ts';

/** Codes with their meaning and what to do. */
export const PUBLISHING_WARNINGS = {
  WARN_DOCUMENT_UNWRITTEN: warns(
    'The publication is done, and its `publish.json` could not be written.',
    'Take the document from stdout (`--output json`).',
  ),
  WARN_OTHER_BASE: warns(
    'The pull request goes into another branch than the one that the change was made for.',
    'Pass `--base`, as the message shows.',
  ),
  WARN_CHECKS_NOT_STARTED: warns(
    'GitHub starts no workflows for a pull request that the token of a workflow has opened.',
    'Close and reopen it, or publish with the token of a GitHub App; docs/publishing.md.',
  ),
  WARN_PULL_REQUEST_INCOMPLETE: warns(
    'The pull request is there without labels, reviewers, assignees or the like that were asked for.',
    'Do as the message says, and publish again.',
  ),
  WARN_NOT_A_DRAFT: warns(
    'The pull request should be a draft, and GitHub does not let it be turned into one.',
    'Turn it into a draft yourself, for the reasons that the message gives.',
  ),
  WARN_TEXT_LEFT: warns(
    'The text of the pull request is left as people made it.',
    "Nothing; the run's own account is in its result.",
  ),
  WARN_THREAD_NOT_RESOLVED: warns(
    'A review thread was answered and could not be marked as resolved.',
    'Give the token the permission that the message names, or leave `--resolve-threads` out.',
  ),
  WARN_LABEL_NOT_SET: warns(
    'The label that shows the state of the work could not be set on the issue.',
    'Give the token `issues: write`.',
  ),
  WARN_NO_COMMENT: warns(
    'The comment on the issue was not made: GitHub refused it, or the plan came from no issue of this repository.',
    'Do as the message says, or set `--comment`.',
  ),
  WARN_LFS_UNKNOWN: warns(
    'Whether GitHub has the contents of files of Git LFS could not be asked.',
    'Push them, in case: `git lfs push`.',
  ),
} as const;
