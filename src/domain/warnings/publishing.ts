/** Warnings of `publish` and `prepare`. */

import { warns } from './entry.ts';

/** Codes with their meaning and what to do. */
export const PUBLISHING_WARNINGS = {
  WARN_DOCUMENT_UNWRITTEN: warns(
    'The publication succeeded, but its `publish.json` could not be written.',
    'Take the document from stdout (`--output json`).',
  ),
  WARN_OTHER_BASE: warns(
    'The pull request targets a branch other than the one that the change was made for.',
    'Pass `--base`, as the message shows.',
  ),
  WARN_CHECKS_NOT_STARTED: warns(
    "GitHub starts no workflows for a pull request that was opened with a workflow's token.",
    'Close and reopen it, or publish with the token of a GitHub App; see docs/publishing.md.',
  ),
  WARN_PULL_REQUEST_INCOMPLETE: warns(
    'The pull request lacks labels, reviewers, assignees or the like that were requested.',
    'Do as the message says, and publish again.',
  ),
  WARN_NOT_A_DRAFT: warns(
    'The pull request should be a draft, but GitHub does not let it be converted to one.',
    'Convert it to a draft yourself, for the reasons that the message gives.',
  ),
  WARN_TEXT_LEFT: warns(
    'People have edited the text of the pull request, so it was left as it is.',
    "Nothing to do; the run's own account is in its result.",
  ),
  WARN_THREAD_NOT_RESOLVED: warns(
    'A review thread was answered but could not be marked as resolved.',
    'Give the token the permission that the message names, or leave `--resolve-threads` out.',
  ),
  WARN_LABEL_NOT_SET: warns(
    'The label that shows the state of the work could not be set on the issue.',
    'Give the token `issues: write`.',
  ),
  WARN_NO_COMMENT: warns(
    'No comment was made on the issue: GitHub refused it, or the plan did not come from an issue of this repository.',
    'Do as the message says, or set `--comment`.',
  ),
  WARN_LFS_UNKNOWN: warns(
    'It is unknown whether GitHub has the contents of files of Git LFS.',
    'Push them to be sure: `git lfs push`.',
  ),
} as const;
