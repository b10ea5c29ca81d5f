/** Errors of publishing. */

import { ends, misuse } from './entry.ts';

/** What each code means, and what to do. */
export const PUBLISHING = {
  ERR_RUN_UNTRUSTED: misuse(
    'The run directory is missing, damaged, or inconsistent. Publish it as the run left it.',
  ),
  ERR_RUN_NOT_ENDED: misuse('The run is still in progress. Publish it when it has ended.'),
  ERR_NOTHING_TO_PUBLISH: misuse('The run has no patch. Publish one that has.'),
  ERR_BASE_DIRTY: misuse(
    'The run started with uncommitted work, which GitHub does not have. Commit it, and run the plan again.',
  ),
  ERR_OTHER_ISSUE: misuse(
    'The run names another issue than the workflow, or the issue cannot be commented on. Correct or drop `--issue`.',
  ),
  ERR_BASE_BRANCH: misuse(
    'The base branch does not exist, or is the one to be pushed. Set `--base` and `--branch`.',
  ),
  ERR_PATCH_TOO_LARGE: ends(
    'policy_violation',
    'The patch has too many files or bytes. Raise `--max-patch-files` or `--max-patch-size`, or split the plan.',
  ),
  ERR_PROTECTED_PATH: ends(
    'policy_violation',
    'The patch changes protected files, such as workflows. Accept them with `--accept-protected GLOB`, or open a draft with `--protected draft`.',
  ),
  ERR_BRANCH_MISSING: ends(
    'publish_failed',
    'The base branch does not exist on GitHub. Name one with `--base`.',
  ),
  ERR_REPOSITORY_CLOSED: ends(
    'publish_failed',
    'The repository is archived or disabled. Publish to another.',
  ),
  ERR_BRANCH_NAME_TAKEN: ends(
    'publish_failed',
    'git cannot store the new branch beside an existing one (`a/b` beside `a`). Rename that, or set `--branch`.',
  ),
  ERR_BRANCH_OF_OTHER_WORK: ends(
    'publish_failed',
    'The branch has work for another base or request. Choose another with `--branch`, or build on it with `--continue`.',
  ),
  ERR_GITHUB_REFUSED: ends(
    'publish_failed',
    'GitHub refuses a step of the publication. Give the token the permission that the message names, or do what it says.',
  ),
  ERR_COMMIT_NOT_MADE: ends(
    'publish_failed',
    'The commit could not be created, pushed or signed. Do what the message says, and publish again; the patch is kept.',
  ),
  ERR_PATCH_CONFLICT: ends(
    'publish_failed',
    'The base has changed the same files; the patch is kept. Run the plan again on the current base.',
  ),
  ERR_PATCH_BROKEN: ends(
    'publish_failed',
    'The patch is not the one that the run proved. Do not trust the run directory; run the plan again.',
  ),
  ERR_LFS_MISSING: ends(
    'publish_failed',
    'GitHub lacks contents of Git LFS files in the patch. Push them as the message says, then publish again.',
  ),
  ERR_MERGE_NOT_MADE: ends(
    'publish_failed',
    'This conflict with the base cannot be resolved, or the merge could not be reproduced. Merge by hand, or publish again if the message says so.',
  ),
  ERR_ROUND_NOT_RECORDED: ends(
    'publish_failed',
    'The round of a pull request could not be recorded, is one too many, or was not recorded before. Wait, raise the cap, or let `mode: prepare` go first.',
  ),
  ERR_PULL_REQUEST_CLOSED: ends(
    'publish_failed',
    'The pull request of this plan was closed without being merged. Reopen it and publish again, or use `--reopen always`.',
  ),
  ERR_PULL_REQUEST_INCOMPLETE: ends(
    'publish_failed',
    'The pull request lacks labels, reviewers or other settings that you asked for. Fix what the message names, and publish again.',
  ),
  ERR_PULL_REQUEST_MOVED: ends(
    'publish_failed',
    'The pull request was closed, or others changed its branch, during the run. Publish again, or run the plan again.',
  ),
} as const;
