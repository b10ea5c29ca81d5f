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
    "Check out the base, or permit it with `--allow-untrusted-checkout` where the job is meant for outsiders' code; docs/trust.md.",
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
    'Set a sandbox up (`patchsmith doctor`), and `persist-credentials: false` for actions/checkout.',
  ),
  ERR_NO_STARTER: ends(
    'policy_violation',
    'The event does not say who triggered it.',
    'Start the run by another event.',
  ),
  ERR_BOT_NOT_ALLOWED: ends(
    'policy_violation',
    'A bot started this job that is not allowed to start runs.',
    'Name it with `--allow-bot`, if it may start runs.',
  ),
  ERR_NO_WRITE_ACCESS: ends(
    'policy_violation',
    'Whoever started this job has no write access to the repository.',
    'Let someone with write access start it.',
  ),
  ERR_AUTHOR_NOT_TRUSTED: ends(
    'policy_violation',
    'The text that is to be the plan was written, or last edited, by someone who may not ask for work.',
    'Let a collaborator ask for it, or widen `--trust-author`; docs/trust.md.',
  ),
  ERR_REFERENCE_INVALID: misuse(
    'An issue or a comment is named in a way that leads nowhere.',
    'Name it by its number or its address.',
  ),
  ERR_GITHUB_UNREADABLE: misuse(
    'GitHub does not give what the run has to read: an issue, a discussion, a pull request, its checks, or the permission of an account.',
    'Give the token the permission that the message names, or run it again later.',
  ),
  ERR_PLAN_INVISIBLE: misuse(
    'The issue or comment has no text that people can see, or is too long to be looked through.',
    'Write the plan into its visible text, or into a file.',
  ),
  ERR_NOT_OUR_PULL_REQUEST: ends(
    'policy_violation',
    'The pull request that is to be continued is closed, from a fork, not there, or not one of patchsmith.',
    'Continue an open pull request that patchsmith opened in this repository.',
  ),
  ERR_OTHER_HEAD_CHECKED_OUT: misuse(
    'Another commit is checked out than the head of the pull request that is to be continued.',
    'Check out its head with the whole history, as the message says.',
  ),
  ERR_MERGE_NOT_BEGUN: misuse(
    'The merge with the base, whose conflicts are to be resolved, could not be put into the work tree.',
    'Fix what the message names in the checkout, and run it again.',
  ),
  ERR_COMMITS_OF_OTHERS: ends(
    'publish_failed',
    'The branch of the pull request has commits by others, and nobody has asked patchsmith to build on them.',
    'Comment there with `/patchsmith` and what to do.',
  ),
} as const;
