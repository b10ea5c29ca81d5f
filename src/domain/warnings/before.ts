/** Warnings about settings, keys, the sandbox and servers, before the work begins. */

import { warns } from './entry.ts';

/** Codes with their meaning and what to do. */
export const EARLY_WARNINGS = {
  WARN_KEY_NOT_USED: warns(
    'A key is there and is not used: its `.env` is tracked by git or cannot be read, or a key cannot look like that.',
    'Set the variable in the environment, or keep the key in a `.env` that git does not track.',
  ),
  WARN_NO_KEY: warns(
    'Requests go to a server of your own without a key.',
    'Nothing, if that server asks for none; else set the variable that the message names.',
  ),
  WARN_PLAIN_HTTP: warns(
    'Key and conversation can be read and changed on their way to the provider, as `--allow-insecure-base-url` permits.',
    'Use https.',
  ),
  WARN_INPUT_OF_ANOTHER_ACTION: warns(
    'An input of another action was taken as the input that has this meaning here.',
    'Use the name that the message gives.',
  ),
  WARN_TOKEN_NOT_USED: warns(
    'The step has a token in its environment, and uses that of `github-token`.',
    'Give the token that is meant as `github-token`.',
  ),
  WARN_SANDBOX_NOT_SET_UP: warns(
    'The action could not make the machine ready for a sandbox.',
    'Do as the message says; docs/sandbox.md says what a machine needs.',
  ),
  WARN_CREDENTIALS_STORED: warns(
    "Credentials are stored in the checkout's git configuration. The sandbox hides them.",
    'Set `persist-credentials: false` for actions/checkout.',
  ),
  WARN_HIDDEN_TEXT: warns(
    'An issue, a comment or a review has text that people do not see there, and the model does not get it.',
    'Read its source: hidden text is how models are given orders.',
  ),
  WARN_PRINCIPLES_CUT: warns(
    'A file of principles is longer than may be used, and only its beginning is.',
    'Shorten it, or raise `--max-principles-bytes`.',
  ),
  WARN_PRINCIPLES_OUTSIDE: warns(
    'An `AGENTS.md` or `CLAUDE.md` is a link that leads out of the repository, and is not used.',
    'Make it a file, or name its target with `--principles`.',
  ),
  WARN_NO_SANDBOX: warns(
    'Commands run without a sandbox: they can read and write all that you can.',
    'Set one up: `patchsmith doctor` says what is missing. `--sandbox required` ends the run instead.',
  ),
  WARN_NO_EFFECT_WITHOUT_SANDBOX: warns(
    'A setting says what commands may see or reach in the sandbox, and there is none.',
    'Set a sandbox up, or leave the setting out.',
  ),
  WARN_SANDBOX_UNFILTERED: warns(
    'The sandbox runs without its filter of system calls, which this machine does not support.',
    'docs/sandbox.md says what is weaker, and what a machine needs.',
  ),
  WARN_KEY_IN_PROC: warns(
    'Without a sandbox, commands can read the environment that patchsmith was started with, and the key in it.',
    'Set a sandbox up.',
  ),
  WARN_TREE_OF_OTHERS: warns(
    'patchsmith runs as root, and the work tree belongs to somebody else, so commands may be unable to write there.',
    'Run as the owner of the work tree.',
  ),
  WARN_TREE_IS_HOME: warns(
    'The work tree is the home folder, with whatever is kept there.',
    'Work in a checkout of its own.',
  ),
  WARN_CACHE_MISSING: warns(
    'A cache that `--cache auto` looks for is not on this machine, or there is no lock file to go by, so installing takes the network.',
    'Fill it with the command that the message names, name the package manager, or leave it.',
  ),
  WARN_REPOSITORY_UNCOVERED: warns(
    'The git dir of a repository in the work tree cannot be kept from commands. What they plant in it is removed afterwards.',
    'Move that repository out of the work tree.',
  ),
  WARN_VERIFIED_IN_COPY: warns(
    'The attempt that was chosen was verified in its copy, beside files that git ignores and that had changed there. They stayed behind, so that its verify commands may end otherwise in the work tree.',
    'Run them again there. With `--verify-in checkout` they run without such files.',
  ),
  WARN_REPOSITORIES_NOT_COPIED: warns(
    'Other repositories and submodules are empty folders in the copies that `--attempts` works in.',
    'Run the plan without `--attempts` if it needs them.',
  ),
  WARN_CHANGED_BEFORE_THE_WORK: warns(
    'Setup commands, or verify commands before the work, changed files. They are in the work tree and not in the patch.',
    'Let such commands write to ignored files. `patchsmith undo` takes it back.',
  ),
  WARN_MCP_SERVER_MISSING: warns(
    'An MCP server that is not required could not be reached, and the run continues without its tools.',
    'Fix what the message names, or set `required: true` to end the run instead.',
  ),
  WARN_MCP_TOOL_LEFT_OUT: warns(
    'A tool that an MCP server offers cannot be given to the model, or one that its list names is not offered.',
    "Do as the message says, in the server's `tools`; docs/mcp.md.",
  ),
  WARN_CHECKS_LEFT_OUT: warns(
    'The failed checks of the pull request could not be read, and are not among what the model is asked for.',
    'Give the token the permission that the message names.',
  ),
  WARN_CONFLICT_LEFT: warns(
    'The pull request conflicts with its base, and the run does not resolve that.',
    'Merge the base by hand, for the reason that the message gives.',
  ),
  WARN_FALLBACK_NOT_ADDED: warns(
    '`resume` was given a `--fallback-model`, and the run began without one.',
    'Begin a new run with it, if the model stays away.',
  ),
  WARN_BASELINE_TAKEN_LATER: warns(
    'The run was ended before its baseline had been taken, so it goes on from the files as they are now.',
    'Nothing, unless something else has changed in the meantime.',
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
