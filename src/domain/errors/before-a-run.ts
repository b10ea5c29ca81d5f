/** Errors that keep a command from beginning: what it was given, and what it found. */

/** By area and outcome: what each code means, and what to do. */
export const BEFORE_A_RUN = {
  'The command line and the inputs of the action': {
    usage_error: {
      ERR_SEVERAL_PROBLEMS:
        'There are several errors. Look up the code of each, in the lines above or in the reason.',
      ERR_NO_COMMAND: 'The command line names no command. `patchsmith --help` lists them.',
      ERR_UNKNOWN_COMMAND: 'There is no such command. Use the suggested one; `patchsmith --help` lists all.',
      ERR_UNKNOWN_FLAG: 'There is no such flag. Use the suggested one; `patchsmith help COMMAND` lists all.',
      ERR_FLAG_NOT_TAKEN:
        'This command does not take the flag, or only with another. Drop it, or add the one that the message names.',
      ERR_FLAG_WITHOUT_VALUE:
        'The flag needs a value. Write `--flag VALUE`, or `--flag=VALUE` if the value starts with a dash.',
      ERR_FLAG_REPEATED: 'The flag takes one value. Give it once.',
      ERR_OPERAND_MISSING: 'The command needs an argument, such as a run. Add it.',
      ERR_UNEXPECTED_WORD:
        'An argument belongs to no flag and no operand. Quote values with spaces; give the task with `--message` or `--plan`.',
      ERR_UNKNOWN_TEMPLATE: '`patchsmith init` has no such template. Use one that the message lists.',
      ERR_NO_RELEASE:
        '`patchsmith init --update` does not know which commit workflows are to call. Name it, as the message says.',
      ERR_UNKNOWN_SHELL:
        '`patchsmith completion` does not support this shell. Use one that the message lists.',
      ERR_UNKNOWN_INPUT: 'The action has no such input. Use the suggested one; docs/action.md lists all.',
      ERR_INPUT_NOT_TAKEN:
        'The mode of this step does not take the input. Drop it, or choose another `mode`.',
      ERR_INPUT_MISSING: 'An input that the mode or another input needs is missing. Set it.',
      ERR_NO_IDENTITY_TOKEN:
        'A login without a key needs an identity token. Give the job `permissions: id-token: write`.',
    },
  },
  Settings: {
    usage_error: {
      ERR_UNKNOWN_VARIABLE:
        'patchsmith does not read this `PATCHSMITH_` variable. Use the suggested name, or unset it.',
      ERR_UNKNOWN_SETTING:
        'The project file has a key that is not a setting. Use the suggested one; docs/settings.md lists all.',
      ERR_INVALID_VALUE:
        'A setting has an invalid value. Use the format that the message asks for; docs/settings.md describes each setting.',
      ERR_NOT_FOR_PROJECT_FILE:
        'Only the operator may set this: anyone can write the project file in a pull request. Use the flag or the variable.',
      ERR_PROJECT_FILE_UNREADABLE:
        'The project file cannot be read. Make it a regular UTF-8 file of at most 64 KiB.',
      ERR_PROJECT_FILE_INVALID:
        'The project file is not a YAML mapping. Fix the line that the message names.',
      ERR_PROJECT_FILE_MISNAMED: 'A `.patchsmith.yaml` is not read. Rename it to `.patchsmith.yml`.',
      ERR_SETTINGS_CONFLICT: 'Two settings cannot be combined. Drop or change one.',
      ERR_SETTING_WITHOUT_EFFECT:
        'A setting has no effect with the others. Drop it, or add the one that it belongs to.',
      ERR_SETTING_NEEDED: 'A setting that another one needs is missing. Add the flag that the message names.',
      ERR_PRICE_UNKNOWN:
        'The cost is limited, but the price of a model is unknown. Set `--price`, or limit tokens with `--max-total-tokens`.',
      ERR_INSECURE_BASE_URL:
        'The key could be read on its way to a plain http address. Use https, or permit it with `--allow-insecure-base-url`.',
      ERR_COMPACTION_UNSUPPORTED:
        'The provider has no compaction of its own for this model. Use `--compaction summarize`.',
      ERR_NO_TASK: 'There is no task. Pass `--plan FILE`, `--message TEXT` or `--plan-from-issue N`.',
      ERR_NO_KEY:
        'There is no key for the provider. Set the variable that the message names, or write it into a `.env` that git does not track. In a workflow, check that this event gets the secret.',
      ERR_NO_TOKEN:
        "There is no GitHub token. Set `GITHUB_TOKEN`, or the action's `github-token`, with the permissions that the message names.",
      ERR_NO_REPOSITORY_NAME:
        'The GitHub repository is unknown. Pass `--repository OWNER/NAME`, or set `GITHUB_REPOSITORY`.',
      ERR_FOREIGN_TEAM:
        'The team belongs to another organisation than the repository. Name one of its own with `--team-reviewer`.',
      ERR_MCP_SETTINGS:
        'The description of an MCP server is invalid, or not allowed in a project file. See docs/mcp.md.',
      ERR_MCP_NOT_COMMITTED:
        'MCP servers in the work tree differ from the checked-out commit, so a model may have named them. Commit them, or name a file outside with `--mcp-config`.',
      ERR_MCP_FILE:
        'The file of `--mcp-config` is missing, has no `mcpServers`, or is in an untrusted place. Fix it, or name another.',
      ERR_MCP_VARIABLE: 'A variable that an MCP server needs is not set, or too short to be hidden. Set it.',
      ERR_SETUP_ENV:
        'A variable of `--setup-env` is not set, too short to be hidden, or would reach untrusted code. See docs/network.md.',
      ERR_NO_ORGANIZATION:
        'The provider cannot report what an organisation has spent, or not so grouped. Choose another `--provider` or `--by`.',
      ERR_LIBRARY_TOOL:
        'A tool of the library needs a unique name of letters, digits, `_` and `-`, a description, and a schema that JSON Schema can express.',
      ERR_ATTEMPT_COPY:
        'The work tree cannot be copied for `--attempts`. Do as the message says, or run without it.',
      ERR_PROVIDER_UNUSABLE:
        'The login, script or recording of the provider is missing or wrong. See docs/providers.md.',
    },
  },
  'Before a run begins': {
    usage_error: {
      ERR_NO_CHECKOUT:
        'The folder is not a checkout that git can use. Run patchsmith in one, or name one with `--repo`.',
      ERR_WORKING_DIRECTORY:
        'The working directory is not a folder of this checkout. Start in one, or name one with `--working-directory`.',
      ERR_WORK_TREE_BUSY:
        'Another run works in this checkout, perhaps in another container (`patchsmith-*.sock` in its git dir). Wait, or use another checkout.',
      ERR_NO_SNAPSHOT:
        'The initial state of the work tree could not be recorded. Fix what the message names.',
      ERR_LINKED_OUTSIDE:
        'A file of the work tree may be a hard link to one outside, and cannot be copied. Move it out, open closed folders, or install without hard links (pnpm: `package-import-method=copy`).',
      ERR_UNWRITABLE:
        'The work tree, or the path of `--patch`, is not writable. Make it writable, or start anyway with `--preflight off`.',
      ERR_OWN_PROGRAM:
        'Commands of the run could change the installed patchsmith, or the node or git that it starts. Install that elsewhere, such as with `npm install --global patchsmith`.',
      ERR_LOGIN_IN_TREE:
        'A cloud credentials file is in the work tree. Move it out, and set the variable to its new path.',
      ERR_UNUSABLE_FILE:
        'A file that the run needs is a pipe, a device or endless. Replace it with a regular file.',
      ERR_PLAN_UNREADABLE: 'The plan cannot be read, or has no task. See docs/plans.md.',
      ERR_PRINCIPLES_UNREADABLE:
        'A principles file cannot be read. Fix it, or name another with `--principles`.',
      ERR_ANSWER_SCHEMA: 'The file of `--output-schema` is not a usable JSON Schema. See docs/answers.md.',
      ERR_COMMAND_CANNOT_FAIL:
        'A setup or verify command always succeeds, overlooks failures, or is too long to tell. Let its exit code say the result, and wait for each process by id.',
      ERR_SETUP_FAILED:
        'A setup command failed, left processes, or lacks a program. Read its output in `result.json`, or try it with `patchsmith check`.',
      ERR_PROGRAM_MISSING:
        'Commands cannot see what a verify command needs. Install it in a setup command, or show it with `--mount` or `--cache`.',
      ERR_MCP_SERVER:
        'A required MCP server is not available, or may not be started. Fix it, or set `required: false`.',
      ERR_SANDBOX_REFUSED:
        'The sandbox cannot be created with these settings, such as a missing mount. Change the one that the message names.',
      ERR_NOT_READY: '`patchsmith check` found several problems. Fix each failed line as it says.',
    },
    sandbox_unavailable: {
      ERR_SANDBOX_UNAVAILABLE:
        'A sandbox is required, but this machine has none. See `patchsmith doctor` and docs/sandbox.md; `--sandbox off` does without.',
      ERR_SANDBOX_UNCOVERED:
        'A repository in the work tree cannot be hidden from commands. Move it out, or update bubblewrap.',
      ERR_SANDBOX_WEAKER:
        'The run started in a sandbox that is not available here. Resume it where it started, or start a new run.',
    },
    verify_failed: {
      ERR_TOOL_FAILS_INSIDE:
        '`patchsmith doctor` found programs that do not work in the sandbox. Make more of the machine visible with `--mount`.',
    },
  },
  'Who started the run, and whose code it is': {
    usage_error: {
      ERR_EVENT_UNREADABLE:
        'The event of this job cannot be read. Leave `GITHUB_EVENT_NAME` and `GITHUB_EVENT_PATH` as the runner sets them.',
      ERR_RULES_UNKNOWN:
        "It is unknown whose rules apply to an outsider's code. Name a commit with `--rules-from`.",
      ERR_RULES_MISSING:
        'The commit whose rules apply is not in this checkout. Fetch it: `fetch-depth: 0` for actions/checkout.',
      ERR_UNCONTAINED:
        'Commands would run without a sandbox on code of an outsider, or near credentials. Set up a sandbox (`patchsmith doctor`), and `persist-credentials: false`.',
      ERR_REFERENCE_INVALID: 'There is no such issue or comment. Pass its number or URL.',
      ERR_GITHUB_UNREADABLE:
        'GitHub does not return what the run has to read. Give the token the permission that the message names, or try later.',
      ERR_PLAN_INVISIBLE:
        'The issue or comment has no visible text, or is too long. Write the plan visibly, or into a file.',
      ERR_OTHER_HEAD_CHECKED_OUT:
        'The checked-out commit is not the head of the pull request. Check that out, with its whole history.',
      ERR_MERGE_NOT_BEGUN:
        'The merge with the base could not be put into the work tree. Fix what the message names.',
    },
    policy_violation: {
      ERR_UNTRUSTED_CHECKOUT:
        'A job with secrets has checked out code of an outsider. Check out the base, or pass `--allow-untrusted-checkout` on purpose; see docs/trust.md.',
      ERR_NO_STARTER: 'The event does not say who triggered it. Start the run from another event.',
      ERR_BOT_NOT_ALLOWED: 'A bot started this job. Pass `--allow-bot` if it may.',
      ERR_NO_WRITE_ACCESS:
        'The account that started this job has no write access. Have someone start it who has.',
      ERR_AUTHOR_NOT_TRUSTED:
        'The text was written or last edited by someone who may not request work. Have a collaborator do it, or extend `--trust-author`; see docs/trust.md.',
      ERR_NOT_OUR_PULL_REQUEST:
        "The pull request is closed, missing, from a fork, or not patchsmith's. Continue an open one that it opened here.",
    },
    publish_failed: {
      ERR_COMMITS_OF_OTHERS:
        'The branch has commits by others. Comment there with `/patchsmith` and what to do, to build on them.',
    },
  },
} as const;
