/** Warnings about settings, keys, the sandbox and servers, before the work begins. */

/** What each code means, and what to do. */
export const EARLY_WARNINGS = {
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
} as const;
