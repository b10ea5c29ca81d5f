/** Errors about who asked for the work and whose code it is. */

import { ends, misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const TRUST = {
  ERR_EVENT_UNREADABLE: misuse(
    'It is unknown what started this job: its event cannot be read.',
    'Leave `GITHUB_EVENT_NAME` and `GITHUB_EVENT_PATH` as the runner sets them.',
  ),
  ERR_UNTRUSTED_CHECKOUT: ends(
    'policy_violation',
    "A job that has the repository's secrets has checked out code that an outsider may have written.",
    "Check out the base, or permit it with `--allow-untrusted-checkout` if the job is meant for outsiders' code; see docs/trust.md.",
  ),
  ERR_RULES_UNKNOWN: misuse(
    "It is unknown whose rules apply to an outsider's code.",
    'Name a commit with `--rules-from`.',
  ),
  ERR_RULES_MISSING: misuse(
    'The commit whose project file, principles and plan apply is not in this checkout.',
    'Fetch it: `fetch-depth: 0` for actions/checkout.',
  ),
  ERR_UNCONTAINED: misuse(
    'Commands would run without a sandbox where they must not: with code of an outsider, or within reach of credentials.',
    'Set up a sandbox (`patchsmith doctor`), and set `persist-credentials: false` for actions/checkout.',
  ),
  ERR_NO_STARTER: ends(
    'policy_violation',
    'The event does not say who triggered it.',
    'Start the run from another event.',
  ),
  ERR_BOT_NOT_ALLOWED: ends(
    'policy_violation',
    'This job was started by a bot that may not start runs.',
    'Add it with `--allow-bot` if it may start runs.',
  ),
  ERR_NO_WRITE_ACCESS: ends(
    'policy_violation',
    'The account that started this job has no write access to the repository.',
    'Have someone with write access start it.',
  ),
  ERR_AUTHOR_NOT_TRUSTED: ends(
    'policy_violation',
    'The text for the plan was written, or last edited, by someone who may not request work.',
    'Have a collaborator request it, or extend `--trust-author`; see docs/trust.md.',
  ),
  ERR_REFERENCE_INVALID: misuse(
    'The issue or comment was not found under the given name.',
    'Pass its number or its URL.',
  ),
  ERR_GITHUB_UNREADABLE: misuse(
    'GitHub does not return something that the run has to read: an issue, a discussion, a pull request, its checks, or the permission of an account.',
    'Give the token the permission that the message names, or run it again later.',
  ),
  ERR_PLAN_INVISIBLE: misuse(
    'The issue or comment has no visible text, or is too long to be checked.',
    'Write the plan into its visible text, or into a file.',
  ),
  ERR_NOT_OUR_PULL_REQUEST: ends(
    'policy_violation',
    'The pull request to continue is closed, from a fork, missing, or not made by patchsmith.',
    'Continue an open pull request that patchsmith opened in this repository.',
  ),
  ERR_OTHER_HEAD_CHECKED_OUT: misuse(
    'The checked-out commit is not the head of the pull request to continue.',
    'Check out its head with the whole history, as the message says.',
  ),
  ERR_MERGE_NOT_BEGUN: misuse(
    'The merge with the base could not be put into the work tree.',
    'Fix what the message names in the checkout, and run it again.',
  ),
  ERR_COMMITS_OF_OTHERS: ends(
    'publish_failed',
    'The branch of the pull request has commits by others, and no one asked patchsmith to build on them.',
    'Comment there with `/patchsmith` and what to do.',
  ),
} as const;
