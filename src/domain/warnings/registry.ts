/** Every code of a warning that a user can meet. Only `patchsmith help` loads it; other programs load its types. */

/** By area, in the order of the page: what each code means, and what to do. */
export const WARNING_AREAS = {
  'Warnings before the work': {
    WARN_KEY_NOT_USED:
      'A key was not used: it is invalid, or its `.env` is tracked or unreadable. Set the variable, or untrack the `.env`.',
    WARN_NO_KEY:
      'Requests to your own server carry no key. If it needs one, set the variable that the message names.',
    WARN_PLAIN_HTTP:
      'The key and the conversation can be read and changed on their way to the provider. Use https.',
    WARN_INPUT_OF_ANOTHER_ACTION:
      'An input of another action was mapped to the one with this meaning here. Use the name that the message gives.',
    WARN_TOKEN_NOT_USED:
      'The step uses `github-token`, not the token in its environment. Pass the intended one as `github-token`.',
    WARN_SANDBOX_NOT_SET_UP:
      'The action could not set up the sandbox. Do as the message says; see docs/sandbox.md.',
    WARN_CREDENTIALS_STORED:
      "The checkout's git configuration holds credentials, which the sandbox hides. Set `persist-credentials: false` for actions/checkout.",
    WARN_HIDDEN_TEXT:
      'An issue, comment or review has hidden text, which the model does not get. Read its source: it may be meant for models.',
    WARN_PRINCIPLES_CUT:
      'Only the beginning of a long principles file is used. Shorten it, or raise `--max-principles-bytes`.',
    WARN_PRINCIPLES_OUTSIDE:
      'An `AGENTS.md` or `CLAUDE.md` links out of the repository and is not used. Make it a file, or name its target with `--principles`.',
    WARN_NO_SANDBOX:
      'Commands run without a sandbox, and can do whatever you can. See `patchsmith doctor`; `--sandbox required` ends the run instead.',
    WARN_NO_EFFECT_WITHOUT_SANDBOX:
      'A setting is about the sandbox, but there is none. Set one up, or drop the setting.',
    WARN_SANDBOX_LITE:
      'The container refuses a part of the sandbox: commands can list the processes outside, and hosts that they look up past the proxy are not named. Do as the message says, or refuse that with `--sandbox-level namespaces`.',
    WARN_SANDBOX_LANDLOCK:
      'The machine refuses namespaces, so that Landlock contains commands. docs/security.md says what is weaker; `--sandbox-level namespaces-lite` refuses it.',
    WARN_SANDBOX_UNFILTERED:
      "This machine does not support the sandbox's system call filter. docs/sandbox.md says what is weaker, and what it needs.",
    WARN_KEY_IN_PROC:
      'Without a sandbox, commands can read the key in the environment of patchsmith. Set up a sandbox.',
    WARN_TREE_OF_OTHERS:
      "patchsmith runs as root on another user's work tree, so commands may be unable to write. Run as its owner.",
    WARN_TREE_IS_HOME: 'The work tree is the whole home folder. Work in a separate checkout.',
    WARN_CACHE_MISSING:
      '`--cache auto` found no cache or no lock file, so installing needs the network. Fill the cache as the message says, name the package manager, or ignore this.',
    WARN_REPOSITORY_UNCOVERED:
      'A git dir in the work tree cannot be hidden; what commands plant in it is removed afterwards. Move that repository out.',
    WARN_VERIFIED_IN_COPY:
      'The attempt was verified beside changed ignored files that stayed in its copy. Verify again, or use `--verify-in checkout`.',
    WARN_REPOSITORIES_NOT_COPIED:
      'Other repositories and submodules are empty folders in the copies of `--attempts`. If the plan needs them, run it without.',
    WARN_CHANGED_BEFORE_THE_WORK:
      'Setup or verify commands changed files before the work; they are not in the patch. Use ignored files; `patchsmith undo` reverts the changes.',
    WARN_MCP_SERVER_MISSING:
      'An MCP server could not be reached, and the run goes on without. Fix it, or set `required: true` to end the run instead.',
    WARN_MCP_TOOL_LEFT_OUT:
      "A tool of an MCP server cannot be offered, or does not exist. Change the server's `tools`; see docs/mcp.md.",
    WARN_CHECKS_LEFT_OUT:
      'The failed checks of the pull request could not be read. Give the token the permission that the message names.',
    WARN_CONFLICT_LEFT:
      'The run does not resolve the conflict of the pull request with its base. Merge by hand, for the reason given.',
    WARN_FALLBACK_NOT_ADDED:
      'A run that started without a `--fallback-model` cannot get one by `resume`. Start a new run with it.',
    WARN_CHANGES_ACCEPTED:
      '`--accept-changes` took changes of others into the baseline; they are not in the patch. Read them before you publish.',
    WARN_REPLAY_HOSTS:
      'The recorded run could reach hosts that this replay may not. Repeat the flags that you agree to.',
  },
  'Warnings during a run': {
    WARN_MODEL_REPLACED:
      'The model refused or could not be reached, so the `--fallback-model` took over. `models` in `result.json` says who did what.',
    WARN_NOT_REVIEWED:
      'The reviewer gave no usable answer. Review the patch yourself; `--if-not-reviewed error` counts this as a failure.',
    WARN_NOT_COMPACTED:
      'The conversation could not be summarised. It continues at full length, costs more, and may reach the context window.',
    WARN_CUT_WITHOUT_SUMMARY:
      'The beginning of the conversation was dropped without a summary. Check the work; split the plan, or use `--compaction`.',
    WARN_MCP_SERVER_GONE:
      'An MCP server ended or cannot be reached, so calls to its tools fail. Read the message or its own log.',
    WARN_MCP_TOOLS_GONE:
      'MCP servers lack tools that the run had, so calls to them fail. Start them as before, or start a new run.',
    WARN_HOSTS_REFUSED:
      'Commands tried to reach hosts that are not allowed. Allow those that they need, with the flags shown.',
    WARN_HOSTS_FORBIDDEN:
      "Commands tried to reach what no flag allows, such as a cloud's metadata or another protocol than https. See docs/network.md.",
    WARN_TRACE_NOT_SENT:
      'The trace did not all reach its collector; the run is unaffected. Fix the variable or the collector; see docs/observability.md.',
  },
  'Warnings about the work tree': {
    WARN_UNREADABLE:
      'A file or folder cannot be read, and counts as unchanged. Make it readable if the plan is about it.',
    WARN_REPOSITORY_LEFT_OUT:
      'A folder is a separate repository, and not part of the run. If the plan is about it, run it there.',
    WARN_GIT_FOLDER_INSIDE:
      'A folder of this repository also has a `.git`; its files are included. Remove that `.git` if it is not intended.',
    WARN_NAME_NOT_ACCEPTED: 'git does not accept the name of a file, which is left out. Rename it.',
    WARN_SUBMODULES_LEFT_OUT:
      'Submodules are separate repositories, and not part of the run. If the plan is about their files, run it there.',
    WARN_LFS_POINTER: 'The patch has the pointer of a Git LFS file. Push the content with `git lfs push`.',
    WARN_FILTER_NOT_RUN:
      'A filter in `.gitattributes` is a program of the repository and was not run. Compare the file with what git would store.',
    WARN_NOT_CONVERTED:
      'A file cannot be converted as its attributes require, and is stored as it is. Fix it, or its line in `.gitattributes`.',
    WARN_MORE_ABOUT_FILES:
      'Not all warnings about files are listed. Something created many unusual files: check the work tree.',
    WARN_OVER_LIMIT:
      'A changed file exceeds the limits, and is not in the patch. Raise the limit, or use ignored folders.',
    WARN_GIT_DIR_REMOVED:
      'A git dir that a command made was removed, since it could name programs. Let tests use a temporary folder.',
    WARN_SPECIAL_REMOVED:
      'A pipe, socket or device named like a rule file (.gitignore, .gitattributes) was removed, since git would wait for it. Find out what makes it.',
    WARN_GIT_DIR_KEPT:
      'A git dir that appeared or moved may be yours, and was kept. Check its configuration and hooks before you use git.',
    WARN_GIT_DIR_UNSEARCHED:
      'A folder cannot be searched for git dirs of commands. Check it before you use git there.',
    WARN_HARD_LINKS_COPIED:
      'Hard links to files outside were replaced by copies, so that commands cannot change those. `package-import-method=copy` (pnpm) or `UV_LINK_MODE=copy` (uv) saves the time.',
    WARN_HARD_LINKS_MOUNTED:
      'Files of a `--mount PATH:rw` are hard links to files outside of it, which commands can change through them. Mount a copy, or drop `:rw`. A change counts as denied.',
    WARN_OPENED_AGAIN: 'A command closed a file or folder. It was reopened, so that nothing can hide there.',
    WARN_LOOK_CUT_SHORT:
      'The run ended before it had examined all; the result lacks what the message names. Check it, or `patchsmith resume`.',
    WARN_BASE_NOT_KEPT:
      'The base could not be copied into the run directory, so a replay needs this checkout. Fix what the message names.',
    WARN_FRESH_CHECKOUT_LACKS:
      'The fresh checkout has no submodules and no Git LFS files. Fetch them by a setup command, or use `--verify-in worktree`.',
    WARN_FRESH_CHECKOUT_CHANGED:
      'Commands changed files in the fresh checkout, which are not in the patch. If they belong there, say so in the plan.',
  },
  'Warnings at the end of a run': {
    WARN_SECOND_LOOK:
      'The patch changes a workflow, a lock file, the number of tests or the like. Read these files first (`flags` in `result.json`).',
    WARN_UNCOMMITTED_WORK:
      'The patch applies on top of uncommitted work or a merge. Apply both in the order given; `publish` needs committed work.',
    WARN_UNCOMMITTED_NOT_KEPT:
      'The uncommitted work at the start could not all be stored. Keep the work tree: the patch needs it.',
    WARN_PUT_BACK:
      'Changes of commands to paths that `allow` and `protect` forbid were reverted. Relax the rules if they are wanted.',
    WARN_NOT_PUT_BACK:
      "A command's change against `allow` and `protect` could not be reverted. Use `git checkout -- PATH`.",
    WARN_MAY_HAVE_CHANGED:
      'Existing files can no longer be examined. Make their folders accessible, and check them.',
    WARN_MADE_BY_OTHERS:
      'Verify commands or other programs changed files, which are not in the patch. Commit or discard them yourself.',
    WARN_HIDDEN_SINCE:
      'A later ignore rule hides files of the run, which are not in the patch. See `git status --ignored`.',
    WARN_TAKEN_WHOLE:
      'Files that git used to ignore are new in the patch, with their earlier contents. Check that all of it may be published.',
    WARN_NO_LONGER_IGNORED:
      'Files are no longer ignored. They are not in the patch, but `git add --all` would add them: check them first.',
    WARN_IGNORED_CHANGES:
      'Ignored files, empty folders or pipes changed; they are not in the patch. Act only if the repository needs one.',
    WARN_NOT_BY_TOOL_CALLS:
      'Setup commands or other programs made some lines of the patch. `patchsmith blame` shows which.',
    WARN_REPOSITORY_CHANGED:
      'Files of another repository or submodule changed, and are not in the patch. Look there with `git status`.',
    WARN_TOO_LARGE_TO_PUBLISH:
      'The patch is larger than `publish` accepts. Raise its `--max-patch-files` or `--max-patch-size`, or split the plan.',
    WARN_NO_REPORT:
      'The report could not be written; the run is complete. Fix what the message names, then `patchsmith report`.',
    WARN_LEFT_BEHIND:
      'Something that the run should have removed still exists. Remove what the message names.',
    WARN_RUN_DIRECTORY_LARGE:
      'The run directory could not be cleaned up. `patchsmith clean` removes old runs.',
  },
  'Warnings of publishing': {
    WARN_DOCUMENT_UNWRITTEN:
      'The publication succeeded, but `publish.json` could not be written. Take it from stdout (`--output json`).',
    WARN_OTHER_BASE:
      'The pull request targets another branch than the change was made for. Pass `--base`, as shown.',
    WARN_CHECKS_NOT_STARTED:
      "GitHub starts no workflows for a pull request of a workflow's token. Close and reopen it, or use a GitHub App; see docs/publishing.md.",
    WARN_PULL_REQUEST_INCOMPLETE:
      'The pull request is there, but lacks a label, reviewer, assignee or milestone. Do as the message says, and publish again.',
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
    WARN_FILES_EXCLUDED:
      'The published patch lacks files of `--exclude`, with which the run was verified. Check that the rest works without them.',
  },
} as const;

type Areas = typeof WARNING_AREAS;

/** A code, such as `WARN_NO_SANDBOX`. It never changes its meaning, and is never used again. */
export type WarningCode = { [Area in keyof Areas]: keyof Areas[Area] }[keyof Areas];
