/** Errors that a run ends with once it has begun. */

import { ends } from './entry.ts';

/** What each code means, and what to do. */
export const RUNNING = {
  ERR_PROVIDER_AUTHENTICATION: ends(
    'provider_error',
    'The provider rejects the key or the login. Use one that is valid for this provider and address.',
  ),
  ERR_PROVIDER_BILLING: ends(
    'provider_error',
    'The account has no credit left, or its spending limit is reached. Fix this at the provider, then `patchsmith resume`.',
  ),
  ERR_PROVIDER_PERMISSION: ends(
    'provider_error',
    'The key may not use this model or feature. Choose another model, or give the key the permission.',
  ),
  ERR_PROVIDER_NOT_FOUND: ends(
    'provider_error',
    'The provider has no such model, or the address is wrong. Check `--model` and `--base-url`.',
  ),
  ERR_PROVIDER_INVALID_REQUEST: ends(
    'provider_error',
    'The provider refuses the request, such as a setting that the model does not support. Change it.',
  ),
  ERR_PROVIDER_TOO_LARGE: ends(
    'provider_error',
    'The request is too large for the provider. Split or narrow the plan, or use `--compaction`.',
  ),
  ERR_PROVIDER_RATE_LIMIT: ends(
    'provider_error',
    "The provider's rate limit outlasted the retries. `patchsmith resume` later, run fewer at a time, or raise the limit.",
  ),
  ERR_PROVIDER_OUTAGE: ends(
    'provider_error',
    'The provider could not be reached, or kept failing. `patchsmith resume` later, or name a `--fallback-model`.',
  ),
  ERR_PROVIDER_STREAM: ends(
    'provider_error',
    'An answer broke off, or has the wrong format. `patchsmith resume`; if it recurs, look for a proxy in between.',
  ),
  ERR_PROVIDER_RECORDING: ends(
    'provider_error',
    'The recording or script has no answer that fits. Record it again, or correct the script; see docs/scripts.md.',
  ),
  ERR_SPENDING_UNREADABLE: ends(
    'provider_error',
    'The provider does not report what the organisation has spent. Use an admin key, or try later.',
  ),
  ERR_BLOCKED: ends(
    'blocked',
    'The model cannot or should not do the work. Read its reason; extend the plan, or permit what was denied.',
  ),
  ERR_MODEL_REFUSED: ends('blocked', 'The model refused to answer. Reword the plan, or use another model.'),
  ERR_NO_PROGRESS: ends(
    'blocked',
    'The model repeated the same calls with the same results. Read the last iterations, and say in the plan what to do there.',
  ),
  ERR_LIMIT_ITERATIONS: ends(
    'limit_reached',
    'All iterations are used up. `patchsmith resume` with a higher `--max-iterations`, or narrow the plan.',
  ),
  ERR_LIMIT_TOKENS: ends(
    'limit_reached',
    'The tokens are used up, or too few for another request. `patchsmith resume` with a higher `--max-total-tokens`, or narrow the plan.',
  ),
  ERR_LIMIT_COST: ends(
    'limit_reached',
    'The money is spent, or too little for another request. `patchsmith resume` with a higher `--max-cost-usd`, or narrow the plan.',
  ),
  ERR_LIMIT_OUTPUT: ends(
    'limit_reached',
    "The model's answers were cut off several times in a row. Raise `--max-output-tokens`.",
  ),
  ERR_LIMIT_CONTEXT: ends(
    'limit_reached',
    'The conversation is too large for the context window. Split or narrow the plan, or use `--compaction`.',
  ),
  ERR_LIMIT_CHANGES: ends(
    'limit_reached',
    'More files, bytes or entries of a folder changed than are recorded. Let commands write to ignored folders, or raise the limit.',
  ),
  ERR_LIMIT_DISK: ends(
    'limit_reached',
    'The run has used all the disk space that it may. Raise `--max-disk`, or let commands write less.',
  ),
  ERR_DEADLINE: ends('deadline', 'The deadline passed. `patchsmith resume` with a later `--deadline`.'),
  ERR_INTERRUPTED: ends(
    'interrupted',
    'A signal ended the run, which keeps its work. Continue with `patchsmith resume`.',
  ),
  ERR_VERIFY_FAILED: ends(
    'verify_failed',
    'Verify commands still failed after the fix rounds; the patch is kept. Read their output in `result.json` or the report.',
  ),
  ERR_NOT_REVIEWED: ends(
    'verify_failed',
    'A required review failed, or its findings could not be sent back; the patch is kept. Read `review` in `result.json`; raise the limits, or change `--review-model`.',
  ),
  ERR_NO_CHANGE: ends(
    'no_change',
    'Nothing was changed, which `--if-no-changes error` counts as a failure. Read what the model said.',
  ),
  ERR_FORBIDDEN_PATH: ends(
    'policy_violation',
    'Paths were changed that `allow` and `protect` forbid. Relax these rules, or narrow the plan.',
  ),
  ERR_HIDDEN_PATH: ends(
    'policy_violation',
    'Existing files could not be examined at the end, and may have changed. Make their folders accessible, and run again.',
  ),
  ERR_GIT_DIR_IN_DOUBT: ends(
    'policy_violation',
    'A repository in the work tree is gone, and others may be copies of it. Check their configuration before you use git.',
  ),
  ERR_DENIED: ends(
    'policy_violation',
    'Calls were denied something, which `--if-denied error` counts as a failure. Permit it, or drop that setting.',
  ),
  ERR_SECRET_IN_PATCH: ends(
    'policy_violation',
    'The patch is withheld, since it adds what looks like a secret. Remove it, or accept a false match with `--accept-secrets GLOB`.',
  ),
  ERR_REPOSITORY_IN_PATCH: ends(
    'policy_violation',
    'The patch changes a folder that git treats as a repository, which can name programs. Let tests create it, or commit it by hand.',
  ),
  ERR_ATTEMPT_NOT_APPLIED: ends(
    'publish_failed',
    'The chosen attempt could not be applied to the work tree; its patch is kept. Do as the message says, then `patchsmith resume`.',
  ),
  ERR_PATCH_NOT_PROVEN: ends(
    'publish_failed',
    'The patch could not be proven or written. The changes are in the work tree; do as the message says.',
  ),
} as const;
