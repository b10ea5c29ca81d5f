/** Errors that a run ends with once it has begun. */

import { ends } from './entry.ts';

/** Codes with their meaning and their fix. */
export const RUNNING = {
  ERR_PROVIDER_AUTHENTICATION: ends(
    'provider_error',
    'The provider does not accept the key or the login.',
    'Use a key that is valid for this provider and address.',
  ),
  ERR_PROVIDER_BILLING: ends(
    'provider_error',
    'The account at the provider has no credit left, or its spending limit is reached.',
    "Fix this in the provider's console, then run `patchsmith resume`.",
  ),
  ERR_PROVIDER_PERMISSION: ends(
    'provider_error',
    'The key may not use this model or this feature.',
    'Choose another model, or give the key the permission.',
  ),
  ERR_PROVIDER_NOT_FOUND: ends(
    'provider_error',
    'The provider has no such model, or the address is wrong.',
    'Check `--model` and `--base-url`.',
  ),
  ERR_PROVIDER_INVALID_REQUEST: ends(
    'provider_error',
    'The provider refuses the request, for example because the model does not support a setting.',
    'Change the setting that the message names.',
  ),
  ERR_PROVIDER_TOO_LARGE: ends(
    'provider_error',
    'The request is larger than the provider accepts.',
    'Split or narrow the plan, or use `--compaction`.',
  ),
  ERR_PROVIDER_RATE_LIMIT: ends(
    'provider_error',
    'The provider asked to wait, and the retries are used up.',
    'Continue later with `patchsmith resume`; run fewer at a time, or raise the limit at the provider.',
  ),
  ERR_PROVIDER_OUTAGE: ends(
    'provider_error',
    'The provider could not be reached, or kept failing until the retries were used up.',
    'Continue later with `patchsmith resume`, or name a `--fallback-model`.',
  ),
  ERR_PROVIDER_STREAM: ends(
    'provider_error',
    "An answer broke off, or does not follow the provider's format.",
    'Continue with `patchsmith resume`; if it happens again, check for a proxy in between.',
  ),
  ERR_PROVIDER_RECORDING: ends(
    'provider_error',
    'The recording or script has no answer that fits.',
    'Record it again, or correct the script; see docs/scripts.md.',
  ),
  ERR_SPENDING_UNREADABLE: ends(
    'provider_error',
    'The provider does not report what the organisation has spent.',
    'Use an admin key, or try again later.',
  ),
  ERR_BLOCKED: ends(
    'blocked',
    'The model says that it cannot or should not do the work.',
    'Read its reason; give the plan what is missing, or permit what was denied.',
  ),
  ERR_MODEL_REFUSED: ends(
    'blocked',
    'The model refused to answer.',
    'Reword the plan, or use another model.',
  ),
  ERR_NO_PROGRESS: ends(
    'blocked',
    'The model repeated the same calls with the same results.',
    'Read the last iterations in the report; say in the plan what it should do there.',
  ),
  ERR_LIMIT_ITERATIONS: ends(
    'limit_reached',
    'The run has had as many iterations as it may.',
    '`patchsmith resume` with a higher `--max-iterations`, or a smaller plan.',
  ),
  ERR_LIMIT_TOKENS: ends(
    'limit_reached',
    'The tokens of the run are used up, or the next request could take more than are left.',
    '`patchsmith resume` with a higher `--max-total-tokens`, or a smaller plan.',
  ),
  ERR_LIMIT_COST: ends(
    'limit_reached',
    'The money of the run is spent, or the next request could cost more than is left.',
    '`patchsmith resume` with a higher `--max-cost-usd`, or a smaller plan.',
  ),
  ERR_LIMIT_OUTPUT: ends(
    'limit_reached',
    "The model's answers were cut off several times in a row.",
    'Raise `--max-output-tokens`.',
  ),
  ERR_LIMIT_CONTEXT: ends(
    'limit_reached',
    "The conversation is too large for the model's context window.",
    'Split or narrow the plan, or use `--compaction`.',
  ),
  ERR_LIMIT_CHANGES: ends(
    'limit_reached',
    'The run changed more files or bytes than are recorded, or a folder has more entries than are looked through.',
    'Let commands write to ignored folders, or raise the limit that the message names.',
  ),
  ERR_LIMIT_DISK: ends(
    'limit_reached',
    'The run has taken as much of the disk as it may.',
    'Raise `--max-disk`, or let commands write less.',
  ),
  ERR_DEADLINE: ends('deadline', 'The deadline passed.', '`patchsmith resume` with a later `--deadline`.'),
  ERR_INTERRUPTED: ends(
    'interrupted',
    'A signal ended the work.',
    'Run it again, or continue with `patchsmith resume`; what was done so far is kept.',
  ),
  ERR_VERIFY_FAILED: ends(
    'verify_failed',
    'Verify commands still failed after the fix rounds were used up. The patch is kept.',
    'Read their output in `result.json` or the report.',
  ),
  ERR_NOT_REVIEWED: ends(
    'verify_failed',
    'A review was required (`--if-not-reviewed error`) but failed, or its blocking findings could not be sent back. The patch is kept.',
    'Read `review` in `result.json`, and run again, with more room or with another `--review-model`.',
  ),
  ERR_NO_CHANGE: ends(
    'no_change',
    'Nothing was changed, and `--if-no-changes error` counts that as a failure.',
    'Read what the model said; drop that setting if no change is fine.',
  ),
  ERR_FORBIDDEN_PATH: ends(
    'policy_violation',
    'Paths were changed that `allow` and `protect` of the plan and the settings forbid.',
    'Relax these rules, or leave the paths out of the plan.',
  ),
  ERR_HIDDEN_PATH: ends(
    'policy_violation',
    'Existing files could not be examined at the end, so they may have changed.',
    'Make their folders accessible, and run it again.',
  ),
  ERR_GIT_DIR_IN_DOUBT: ends(
    'policy_violation',
    'A repository in the work tree is gone, and others may be copies of it.',
    'Check their configuration before you use git there.',
  ),
  ERR_DENIED: ends(
    'policy_violation',
    'Calls asked for something that they did not get, and `--if-denied error` counts that as a failure.',
    'Permit what the message names, or drop that setting.',
  ),
  ERR_SECRET_IN_PATCH: ends(
    'policy_violation',
    'The patch would add something that looks like a secret, so it is withheld.',
    'Remove the secret, or accept false matches with `--accept-secrets GLOB`.',
  ),
  ERR_REPOSITORY_IN_PATCH: ends(
    'policy_violation',
    'The patch would change a folder that git treats as a repository, whose configuration can name programs that git runs.',
    'Let tests create such a repository when they run, or commit it by hand.',
  ),
  ERR_ATTEMPT_NOT_APPLIED: ends(
    'publish_failed',
    'The chosen attempt could not be applied to the work tree.',
    'Do as the message says, then continue with `patchsmith resume`; the patch is kept.',
  ),
  ERR_PATCH_NOT_PROVEN: ends(
    'publish_failed',
    'The patch could not be proven to rebuild the same tree, or could not be written.',
    'Do as the message says; the changes are in the work tree.',
  ),
} as const;
