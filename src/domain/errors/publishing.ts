/** Errors of publishing. */

import { ends, misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const PUBLISHING = {
  ERR_RUN_UNTRUSTED: misuse(
    'The run directory to publish is missing, damaged, or inconsistent.',
    'Publish the directory as the run left it.',
  ),
  ERR_RUN_NOT_ENDED: misuse('The run is still in progress.', 'Publish it after it has ended.'),
  ERR_NOTHING_TO_PUBLISH: misuse('The run has no patch.', 'Publish one that has.'),
  ERR_BASE_DIRTY: misuse(
    'The run started with uncommitted work, which GitHub does not have.',
    'Commit it, then run the plan again.',
  ),
  ERR_OTHER_ISSUE: misuse(
    'The run names another issue than the workflow does, or the issue of `--issue` cannot be commented on.',
    'Publish it without `--issue`, or name the right one.',
  ),
  ERR_BASE_BRANCH: misuse(
    'The base branch does not exist, or is the branch to be pushed.',
    'Name it with `--base`, and the other with `--branch`.',
  ),
  ERR_PATCH_TOO_LARGE: ends(
    'policy_violation',
    'The patch has more files or bytes than may be published.',
    'Raise `--max-patch-files` or `--max-patch-size`, or split the plan.',
  ),
  ERR_PROTECTED_PATH: ends(
    'policy_violation',
    'The patch changes files that publishing protects, such as workflows.',
    'Accept them with `--accept-protected GLOB`, or publish a draft with `--protected draft`.',
  ),
  ERR_BRANCH_MISSING: ends(
    'publish_failed',
    'The base branch does not exist on GitHub.',
    'Name one with `--base`.',
  ),
  ERR_REPOSITORY_CLOSED: ends(
    'publish_failed',
    'The repository is archived or disabled.',
    'Publish to another one.',
  ),
  ERR_BRANCH_NAME_TAKEN: ends(
    'publish_failed',
    'A branch is in the way of the new one: git stores branches like files.',
    'Rename it, or choose another name with `--branch`.',
  ),
  ERR_BRANCH_OF_OTHER_WORK: ends(
    'publish_failed',
    'The branch has work for another base or from another request, which would be replaced.',
    'Choose another branch with `--branch`, or build on that work with `--continue`.',
  ),
  ERR_GITHUB_REFUSED: ends(
    'publish_failed',
    'GitHub refuses a step of the publication, or would refuse it.',
    'Give the token the permission that the message names, or do what it says.',
  ),
  ERR_COMMIT_NOT_MADE: ends(
    'publish_failed',
    'The commit could not be created, pushed or signed.',
    'Do what the message says, and publish again; the patch is kept.',
  ),
  ERR_PATCH_CONFLICT: ends(
    'publish_failed',
    'The base has changed the same files, so the patch no longer applies.',
    'Run the plan again on the current base. The patch is kept.',
  ),
  ERR_PATCH_BROKEN: ends(
    'publish_failed',
    'The patch is not the one that the run proved.',
    'Do not trust the run directory; run the plan again.',
  ),
  ERR_LFS_MISSING: ends(
    'publish_failed',
    'The patch has Git LFS pointers whose contents GitHub does not have.',
    'Push the contents as the message says, then publish again.',
  ),
  ERR_MERGE_NOT_MADE: ends(
    'publish_failed',
    "The conflict of a pull request with its base cannot be resolved by a run, or the run's merge could not be reproduced.",
    'Merge the base by hand, or publish again if the message says so.',
  ),
  ERR_ROUND_NOT_RECORDED: ends(
    'publish_failed',
    'The round in which a pull request is continued could not be recorded, is one too many, or was not recorded before the run.',
    'Do what the message says: wait, raise the cap, or let a job with `mode: prepare` go before the run.',
  ),
  ERR_PULL_REQUEST_CLOSED: ends(
    'publish_failed',
    'The pull request of this plan was closed without being merged, and it stays closed.',
    'Reopen it and publish again, or use `--reopen always`.',
  ),
  ERR_PULL_REQUEST_INCOMPLETE: ends(
    'publish_failed',
    'The pull request was created, but not with all the labels, reviewers and other settings you asked for.',
    'Fix what the message names; publishing again sets them.',
  ),
  ERR_PULL_REQUEST_MOVED: ends(
    'publish_failed',
    'The pull request was closed, or its branch was replaced or changed by others, during the run.',
    'Publish again, or run the plan again.',
  ),
} as const;
