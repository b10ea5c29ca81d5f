/** Warnings about settings, keys, the sandbox and servers, before the work begins. */

import { warns } from './entry.ts';

/** Codes with their meaning and what to do. */
export const EARLY_WARNINGS = {
  WARN_KEY_NOT_USED: warns(
    'A key was found but not used: its `.env` is tracked by git or cannot be read, or it is not a valid key.',
    'Set the variable in the environment, or keep the key in a `.env` that git does not track.',
  ),
  WARN_NO_KEY: warns(
    'Requests to your own server are sent without a key.',
    'Nothing to do if that server needs none; otherwise set the variable that the message names.',
  ),
  WARN_PLAIN_HTTP: warns(
    'The key and the conversation can be read and changed on their way to the provider, as `--allow-insecure-base-url` permits.',
    'Use https.',
  ),
  WARN_INPUT_OF_ANOTHER_ACTION: warns(
    'An input named as in another action was mapped to the one with this meaning here.',
    'Use the name that the message gives.',
  ),
  WARN_TOKEN_NOT_USED: warns(
    'The step has a token in its environment, but uses the one in `github-token`.',
    'Pass the intended token as `github-token`.',
  ),
  WARN_SANDBOX_NOT_SET_UP: warns(
    'The action could not set up the sandbox on this machine.',
    'Do as the message says; docs/sandbox.md says what a machine needs.',
  ),
  WARN_CREDENTIALS_STORED: warns(
    "Credentials are stored in the checkout's git configuration. The sandbox hides them.",
    'Set `persist-credentials: false` for actions/checkout.',
  ),
  WARN_HIDDEN_TEXT: warns(
    'An issue, a comment or a review has hidden text, which is not passed to the model.',
    'Read its source: hidden text is often meant to instruct models.',
  ),
  WARN_PRINCIPLES_CUT: warns(
    'A principles file is too long, and only its beginning is used.',
    'Shorten it, or raise `--max-principles-bytes`.',
  ),
  WARN_PRINCIPLES_OUTSIDE: warns(
    'An `AGENTS.md` or `CLAUDE.md` is a link out of the repository, and is not used.',
    'Make it a file, or name its target with `--principles`.',
  ),
  WARN_NO_SANDBOX: warns(
    'Commands run without a sandbox: they can read and write everything that you can.',
    'Set one up: `patchsmith doctor` says what is missing. With `--sandbox required` the run ends instead.',
  ),
  WARN_NO_EFFECT_WITHOUT_SANDBOX: warns(
    'A setting says what commands may see or reach in the sandbox, but there is no sandbox.',
    'Set up a sandbox, or drop the setting.',
  ),
  WARN_SANDBOX_UNFILTERED: warns(
    'The sandbox has no system call filter, which this machine does not support.',
    'docs/sandbox.md says what is weaker, and what a machine needs.',
  ),
  WARN_KEY_IN_PROC: warns(
    'Without a sandbox, commands can read the environment that patchsmith was started with, and the key in it.',
    'Set up a sandbox.',
  ),
  WARN_TREE_OF_OTHERS: warns(
    'patchsmith runs as root, but the work tree belongs to another user, so commands may be unable to write there.',
    'Run as the owner of the work tree.',
  ),
  WARN_TREE_IS_HOME: warns(
    'The work tree is the home folder, with everything in it.',
    'Work in a separate checkout.',
  ),
  WARN_CACHE_MISSING: warns(
    'A cache that `--cache auto` looks for is not on this machine, or there is no lock file to go by, so installing needs the network.',
    'Fill it with the command that the message names, name the package manager, or ignore this.',
  ),
  WARN_REPOSITORY_UNCOVERED: warns(
    'The git dir of a repository in the work tree cannot be hidden from commands. What they plant in it is removed afterwards.',
    'Move that repository out of the work tree.',
  ),
  WARN_VERIFIED_IN_COPY: warns(
    'The chosen attempt was verified in its copy, next to ignored files that had changed there. These stayed behind, so its verify commands may end differently in the work tree.',
    'Run them again there. With `--verify-in checkout` they run without such files.',
  ),
  WARN_REPOSITORIES_NOT_COPIED: warns(
    'Other repositories and submodules are empty folders in the copies that `--attempts` works in.',
    'Run the plan without `--attempts` if it needs them.',
  ),
  WARN_CHANGED_BEFORE_THE_WORK: warns(
    'Setup commands, or verify commands before the work, changed files. They are in the work tree and not in the patch.',
    'Let such commands write to ignored files. `patchsmith undo` reverts the changes.',
  ),
  WARN_MCP_SERVER_MISSING: warns(
    'An MCP server that is not required could not be reached, and the run continues without its tools.',
    'Fix what the message names, or set `required: true` to end the run instead.',
  ),
  WARN_MCP_TOOL_LEFT_OUT: warns(
    'A tool of an MCP server cannot be given to the model, or one in its list does not exist.',
    "Do as the message says, in the server's `tools`; see docs/mcp.md.",
  ),
  WARN_CHECKS_LEFT_OUT: warns(
    'The failed checks of the pull request could not be read, and are not part of the task.',
    'Give the token the permission that the message names.',
  ),
  WARN_CONFLICT_LEFT: warns(
    'The pull request conflicts with its base, and the run does not resolve that.',
    'Merge the base by hand, for the reason that the message gives.',
  ),
  WARN_FALLBACK_NOT_ADDED: warns(
    '`resume` was given a `--fallback-model`, but the run started without one.',
    'Start a new run with it if the model stays unavailable.',
  ),
  WARN_CHANGES_ACCEPTED: warns(
    'Changes of others are part of the baseline now, as `--accept-changes` permits. They are not in the patch.',
    'Read them before you publish.',
  ),
  WARN_REPLAY_HOSTS: warns(
    'The recorded run could reach hosts that this replay may not.',
    'Repeat the flags that the message shows, if you agree to them.',
  ),
} as const;
