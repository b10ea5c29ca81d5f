/** Errors that a run ends with, and those of commands over runs that have ended. */

/** By area and outcome: what each code means, and what to do. */
export const DURING_AND_AFTER = {
  'How a run ends': {
    provider_error: {
      ERR_PROVIDER_AUTHENTICATION:
        'The provider rejects the key or the login. Use one that is valid for this provider and address.',
      ERR_PROVIDER_BILLING:
        'The account has no credit left, or its spending limit is reached. Fix this at the provider, then `patchsmith resume`.',
      ERR_PROVIDER_PERMISSION:
        'The key may not use this model or feature. Choose another model, or give the key the permission.',
      ERR_PROVIDER_NOT_FOUND:
        'The provider has no such model, or the address is wrong. Check `--model` and `--base-url`.',
      ERR_PROVIDER_INVALID_REQUEST:
        'The provider refuses the request, such as a setting that the model does not support. Change it.',
      ERR_PROVIDER_TOO_LARGE:
        'The request is too large for the provider. Split or narrow the plan, or use `--compaction`.',
      ERR_PROVIDER_RATE_LIMIT:
        "The provider's rate limit outlasted the retries. `patchsmith resume` later, run fewer at a time, or raise the limit.",
      ERR_PROVIDER_OUTAGE:
        'The provider could not be reached, or kept failing. `patchsmith resume` later, or name a `--fallback-model`.',
      ERR_PROVIDER_STREAM:
        'An answer broke off, or has the wrong format. `patchsmith resume`; if it recurs, look for a proxy in between.',
      ERR_PROVIDER_RECORDING:
        'The recording or script has no answer that fits. Record it again, or correct the script; see docs/scripts.md.',
      ERR_SPENDING_UNREADABLE:
        'The provider does not report what the organisation has spent. Use an admin key, or try later.',
    },
    blocked: {
      ERR_BLOCKED:
        'The model cannot or should not do the work. Read its reason; extend the plan, or permit what was denied.',
      ERR_MODEL_REFUSED: 'The model refused to answer. Reword the plan, or use another model.',
      ERR_NO_PROGRESS:
        'The model repeated the same calls with the same results. Read the last iterations, and say in the plan what to do there.',
    },
    limit_reached: {
      ERR_BUDGET_USED: 'Earlier runs have used up `--cost-per-day` or `--cost-per-plan`. Wait, or raise it.',
      ERR_LIMIT_ITERATIONS:
        'All iterations are used up. `patchsmith resume` with a higher `--max-iterations`, or narrow the plan.',
      ERR_LIMIT_TOKENS:
        'The tokens are used up, or too few for another request. `patchsmith resume` with a higher `--max-total-tokens`, or narrow the plan.',
      ERR_LIMIT_COST:
        'The money is spent, or too little for another request. `patchsmith resume` with a higher `--max-cost-usd`, or narrow the plan.',
      ERR_LIMIT_OUTPUT:
        "The model's answers were cut off several times in a row. Raise `--max-output-tokens`.",
      ERR_LIMIT_CONTEXT:
        'The conversation is too large for the context window. Split or narrow the plan, or use `--compaction`.',
      ERR_LIMIT_CHANGES:
        'More files, bytes or entries of a folder changed than are recorded. Let commands write to ignored folders, or raise the limit.',
      ERR_LIMIT_DISK:
        'The run has used all the disk space that it may. Raise `--max-disk`, or let commands write less.',
    },
    deadline: {
      ERR_DEADLINE: 'The deadline passed. `patchsmith resume` with a later `--deadline`.',
    },
    interrupted: {
      ERR_INTERRUPTED: 'A signal ended the run, which keeps its work. Continue with `patchsmith resume`.',
    },
    verify_failed: {
      ERR_VERIFY_FAILED:
        'Verify commands still failed after the fix rounds; the patch is kept. Read their output in `result.json` or the report.',
      ERR_TESTS_NOT_PROVEN:
        'The tests of the patch pass without the rest of it; the patch is kept. Have tests written that fail without it, or drop `--if-not-proven`.',
      ERR_NOT_REVIEWED:
        'A required review failed, or its findings could not be sent back; the patch is kept. Read `review` in `result.json`; raise the limits, or change `--review-model`.',
    },
    no_change: {
      ERR_NO_CHANGE:
        'Nothing was changed, which `--if-no-changes error` counts as a failure. Read what the model said.',
    },
    policy_violation: {
      ERR_FORBIDDEN_PATH:
        'Paths were changed that `allow` and `protect` forbid. Relax these rules, or narrow the plan.',
      ERR_HIDDEN_PATH:
        'Existing files could not be examined at the end, and may have changed. Make their folders accessible, and run again.',
      ERR_GIT_DIR_IN_DOUBT:
        'A repository in the work tree is gone, and others may be copies of it. Check their configuration before you use git.',
      ERR_DENIED:
        'Calls were denied something, which `--if-denied error` counts as a failure. Permit it, or drop that setting.',
      ERR_SECRET_IN_PATCH:
        'The patch is withheld, since it adds what looks like a secret. Remove it, or accept a false match with `--accept-secrets GLOB`.',
      ERR_REPOSITORY_IN_PATCH:
        'The patch changes a folder that git treats as a repository, which can name programs. Let tests create it, or commit it by hand.',
    },
    publish_failed: {
      ERR_ATTEMPT_NOT_APPLIED:
        'The chosen attempt could not be applied to the work tree; its patch is kept. Do as the message says, then `patchsmith resume`.',
      ERR_PATCH_NOT_PROVEN:
        'The patch could not be proven or written. The changes are in the work tree; do as the message says.',
    },
  },
  'The machine': {
    internal_error: {
      ERR_BUG:
        'A bug in patchsmith, or an unknown failure of the machine. Report it, with the lines before it.',
      ERR_MACHINE:
        'The machine has no disk space, memory or processes left, or its disk is read-only. Fix that, then `patchsmith resume`.',
      ERR_FEW_DESCRIPTORS: 'The limit on open files is too low. Raise it, such as with `ulimit -n 1024`.',
      ERR_RUN_DIRECTORY_GONE:
        'The run directory was removed during the run; the changes are in the work tree. Choose a safe place with `--run-dir`.',
      ERR_PROCESS_DIED:
        'The process of the run was killed, or ran out of memory. Continue with `patchsmith resume`.',
      ERR_OUTPUT_UNWRITTEN:
        'The document could not be written to stdout. Read it from the run directory, or run the command again.',
      ERR_NO_FILE_WRITTEN: 'No file could be written to the work tree. Make it writable, and run again.',
      ERR_NOT_RESTORED:
        '`patchsmith undo` restored only part of the work tree. Fix what the message names, and run it again.',
      ERR_NO_BROWSER: 'No browser could be opened. Open the path that `patchsmith report` prints.',
    },
  },
  'Past runs': {
    usage_error: {
      ERR_RUN_DIRECTORY:
        'The run directory holds a run, is in the work tree, or is not writable. Choose another with `--run-dir`; to `resume`, copy it.',
      ERR_RUN_DIRECTORY_IN_TREE: 'The run directory is in the work tree of the run. Move it out.',
      ERR_RUN_NOT_FOUND:
        'There is no such run, or its directory cannot be used. `patchsmith runs` lists your runs.',
      ERR_RUN_BUSY: 'A process is still working in this run directory. Wait until it has ended.',
      ERR_JOURNAL_UNREADABLE:
        'The journal is missing, damaged, or from another version. Start a new run; the changes are in the work tree.',
      ERR_RESULT_UNREADABLE:
        'The `result.json` is missing, damaged, or from another version. Use the version that wrote it, or copy the directory again.',
      ERR_PATCH_UNREADABLE:
        'The run has no patch, or not the one of its result. Name another run, or copy its directory again.',
      ERR_NOT_IN_PATCH: 'The path is not in the patch. Name one that the message lists.',
      ERR_OTHER_CHECKOUT: 'The run worked in another checkout. Go there, or name it with `--repo`.',
      ERR_NOT_RESUMABLE:
        'The run has ended, or its provider cannot continue it. Start a new run, or add the flags that the message names.',
      ERR_PERMISSIONS_WIDER:
        'The run had permissions that a run directory cannot grant. Repeat the flags that you agree to.',
      ERR_RECORDED_TOOLS:
        'The run had tools or a schema that this process lacks. Resume it from the program that started it.',
      ERR_CHANGED_BY_OTHERS:
        'Something else changed the work tree. Check the paths; `--accept-changes` takes them into the baseline.',
      ERR_CHANGES_NOT_TRANSFERRED:
        "The run's changes cannot be applied here. Resume it in its own checkout, or in a clean one of the same base.",
      ERR_NOT_REPLAYABLE:
        'The run did not finish, was killed along the way, or lacks its base. Its patch is proven; see docs/after-a-run.md.',
      ERR_UNDO_CONFLICT:
        'The work tree has changed since the run, and undo would lose something. Check the paths; `--force` restores what it can.',
      ERR_REPORT_UNWRITTEN:
        'The report cannot be written into the run directory. Copy that to a writable place.',
      ERR_NOT_REMOVED:
        '`patchsmith clean` could not remove some runs. Remove what the lines above name by hand.',
      ERR_TEMPLATE_UNWRITTEN:
        '`patchsmith init` could not write a file. Fix what the message names, and run it again; existing files are kept.',
    },
    verify_failed: {
      ERR_REPLAY_OTHER_PATCH:
        'The replay made another patch; the message names the first difference. Use the same programs and ignored files.',
    },
  },
  Publishing: {
    usage_error: {
      ERR_RUN_UNTRUSTED:
        'The run directory is missing, damaged, or inconsistent. Publish it as the run left it.',
      ERR_RUN_NOT_ENDED: 'The run is still in progress. Publish it when it has ended.',
      ERR_NOTHING_TO_PUBLISH: 'The run has no patch, or with `--publish-as` no answer. Publish one that has.',
      ERR_NOT_FINDINGS:
        'The answer of the run has another form than `--publish-as` needs. Run it with `--output-schema findings`.',
      ERR_NO_PULL_REQUEST: 'It is not clear which pull request to review. Name it with `--issue`.',
      ERR_BASE_DIRTY:
        'The run started with uncommitted work, which GitHub does not have. Commit it, and run the plan again.',
      ERR_OTHER_ISSUE:
        'The run names another issue than the workflow, or the issue cannot be commented on. Correct or drop `--issue`.',
      ERR_BASE_BRANCH:
        'The base branch does not exist, or is the one to be pushed. Set `--base` and `--branch`.',
    },
    policy_violation: {
      ERR_PATCH_TOO_LARGE:
        'The patch has too many files or bytes. Raise `--max-patch-files` or `--max-patch-size`, or split the plan.',
      ERR_PROTECTED_PATH:
        'The patch changes protected files, such as workflows. Accept them with `--accept-protected GLOB`, or open a draft with `--protected draft`.',
    },
    publish_failed: {
      ERR_BRANCH_MISSING: 'The base branch does not exist on GitHub. Name one with `--base`.',
      ERR_REPOSITORY_CLOSED: 'The repository is archived or disabled. Publish to another.',
      ERR_BRANCH_NAME_TAKEN:
        'git cannot store the new branch beside an existing one (`a/b` beside `a`). Rename that, or set `--branch`.',
      ERR_BRANCH_OF_OTHER_WORK:
        'The branch has work for another base or request. Choose another with `--branch`, or build on it with `--continue`.',
      ERR_GITHUB_REFUSED:
        'GitHub refuses a step of the publication. Give the token the permission that the message names, or do what it says.',
      ERR_COMMIT_NOT_MADE:
        'The commit could not be created, pushed or signed. Do what the message says, and publish again; the patch is kept.',
      ERR_PATCH_CONFLICT:
        'The base has changed the same files; the patch is kept. Run the plan again on the current base.',
      ERR_PATCH_BROKEN:
        'The patch is not the one that the run proved. Do not trust the run directory; run the plan again.',
      ERR_MERGE_NOT_MADE:
        'This conflict with the base cannot be resolved, or the merge could not be reproduced. Merge by hand, or publish again if the message says so.',
      ERR_ROUND_NOT_RECORDED:
        'The round of a pull request could not be recorded, is one too many, or was not recorded before. Wait, raise the cap, or let `mode: prepare` go first.',
      ERR_PULL_REQUEST_CLOSED:
        'The pull request of this plan was closed without being merged. Reopen it and publish again, or use `--reopen always`.',
      ERR_PULL_REQUEST_MOVED:
        'The pull request was closed, or others changed its branch, during the run. Publish again, or run the plan again.',
    },
  },
} as const;
