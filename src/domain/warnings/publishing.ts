/** Warnings of `publish` and `prepare`. */

/** What each code means, and what to do. */
export const PUBLISHING_WARNINGS = {
  WARN_DOCUMENT_UNWRITTEN:
    'The publication succeeded, but `publish.json` could not be written. Take it from stdout (`--output json`).',
  WARN_OTHER_BASE:
    'The pull request targets another branch than the change was made for. Pass `--base`, as shown.',
  WARN_CHECKS_NOT_STARTED:
    "GitHub starts no workflows for a pull request of a workflow's token. Close and reopen it, or use a GitHub App; see docs/publishing.md.",
  WARN_PULL_REQUEST_INCOMPLETE:
    'The pull request lacks labels, reviewers or assignees that were requested. Do as the message says, and publish again.',
  WARN_NOT_A_DRAFT:
    'GitHub does not let the pull request become a draft. Convert it yourself, for the reasons given.',
  WARN_TEXT_LEFT:
    "People have edited the text of the pull request, so it was left. The run's own account is in its result.",
  WARN_THREAD_NOT_RESOLVED:
    'A review thread was answered but not resolved. Give the token the permission that the message names, or drop `--resolve-threads`.',
  WARN_LABEL_NOT_SET:
    'The label with the state of the work could not be set. Give the token `issues: write`.',
  WARN_NO_COMMENT:
    'GitHub refused the comment, or the plan came from no issue here. Do as the message says, or set `--comment`.',
  WARN_LFS_UNKNOWN:
    'It is unknown whether GitHub has the contents of Git LFS files. Push them to be sure: `git lfs push`.',
} as const;
