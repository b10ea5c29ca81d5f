/** Errors about who asked for the work and whose code it is. */

import { ends, misuse } from './entry.ts';

/** What each code means, and what to do. */
export const TRUST = {
  ERR_EVENT_UNREADABLE: misuse(
    'The event of this job cannot be read. Leave `GITHUB_EVENT_NAME` and `GITHUB_EVENT_PATH` as the runner sets them.',
  ),
  ERR_UNTRUSTED_CHECKOUT: ends(
    'policy_violation',
    'A job with secrets has checked out code of an outsider. Check out the base, or pass `--allow-untrusted-checkout` on purpose; see docs/trust.md.',
  ),
  ERR_RULES_UNKNOWN: misuse(
    "It is unknown whose rules apply to an outsider's code. Name a commit with `--rules-from`.",
  ),
  ERR_RULES_MISSING: misuse(
    'The commit whose rules apply is not in this checkout. Fetch it: `fetch-depth: 0` for actions/checkout.',
  ),
  ERR_UNCONTAINED: misuse(
    'Commands would run without a sandbox on code of an outsider, or near credentials. Set up a sandbox (`patchsmith doctor`), and `persist-credentials: false`.',
  ),
  ERR_NO_STARTER: ends(
    'policy_violation',
    'The event does not say who triggered it. Start the run from another event.',
  ),
  ERR_BOT_NOT_ALLOWED: ends('policy_violation', 'A bot started this job. Pass `--allow-bot` if it may.'),
  ERR_NO_WRITE_ACCESS: ends(
    'policy_violation',
    'The account that started this job has no write access. Have someone start it who has.',
  ),
  ERR_AUTHOR_NOT_TRUSTED: ends(
    'policy_violation',
    'The text was written or last edited by someone who may not request work. Have a collaborator do it, or extend `--trust-author`; see docs/trust.md.',
  ),
  ERR_REFERENCE_INVALID: misuse('There is no such issue or comment. Pass its number or URL.'),
  ERR_GITHUB_UNREADABLE: misuse(
    'GitHub does not return what the run has to read. Give the token the permission that the message names, or try later.',
  ),
  ERR_PLAN_INVISIBLE: misuse(
    'The issue or comment has no visible text, or is too long. Write the plan visibly, or into a file.',
  ),
  ERR_NOT_OUR_PULL_REQUEST: ends(
    'policy_violation',
    "The pull request is closed, missing, from a fork, or not patchsmith's. Continue an open one that it opened here.",
  ),
  ERR_OTHER_HEAD_CHECKED_OUT: misuse(
    'The checked-out commit is not the head of the pull request. Check that out, with its whole history.',
  ),
  ERR_MERGE_NOT_BEGUN: misuse(
    'The merge with the base could not be put into the work tree. Fix what the message names.',
  ),
  ERR_COMMITS_OF_OTHERS: ends(
    'publish_failed',
    'The branch has commits by others. Comment there with `/patchsmith` and what to do, to build on them.',
  ),
} as const;
