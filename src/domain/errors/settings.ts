/** Errors in settings, wherever they come from. */

import { misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const SETTINGS = {
  ERR_UNKNOWN_VARIABLE: misuse(
    'A variable starts with `PATCHSMITH_`, but patchsmith does not read it.',
    'Use the name that the message suggests, or unset it.',
  ),
  ERR_UNKNOWN_SETTING: misuse(
    'The project file has a key that is not a setting.',
    'Use the name that the message suggests; docs/settings.md lists them all.',
  ),
  ERR_INVALID_VALUE: misuse(
    'A setting has an invalid value.',
    'Use a value in the format that the message asks for; docs/settings.md describes each setting.',
  ),
  ERR_NOT_FOR_PROJECT_FILE: misuse(
    'The project file sets something that only the operator may decide: anyone who opens a pull request can write that file.',
    'Use the flag or the variable that the message names.',
  ),
  ERR_PROJECT_FILE_UNREADABLE: misuse(
    'The project file cannot be read: it is a link, too large, not UTF-8, or not readable.',
    'Make it a regular file of at most 64 KiB.',
  ),
  ERR_PROJECT_FILE_INVALID: misuse(
    'The project file is not a valid YAML mapping.',
    'Fix the line that the message names.',
  ),
  ERR_PROJECT_FILE_MISNAMED: misuse(
    'There is a `.patchsmith.yaml`, which is not read, although its author probably expects it to be.',
    'Rename it to `.patchsmith.yml`.',
  ),
  ERR_SETTINGS_CONFLICT: misuse(
    'Two settings cannot be combined.',
    'Use only one of them, or change one as the message says.',
  ),
  ERR_SETTING_WITHOUT_EFFECT: misuse(
    'A setting has no effect with the others.',
    'Drop it, or add the setting that it belongs to.',
  ),
  ERR_SETTING_NEEDED: misuse(
    'A setting that another one needs is missing, such as a model for a provider without a default.',
    'Add the flag that the message names.',
  ),
  ERR_PRICE_UNKNOWN: misuse(
    'The cost of the run is limited, but the price of one of its models is unknown.',
    'Set it with `--price`, or limit tokens with `--max-total-tokens`.',
  ),
  ERR_INSECURE_BASE_URL: misuse(
    'The address of the provider is plain http on another host, where the key could be read in transit.',
    'Use https, or permit it with `--allow-insecure-base-url`.',
  ),
  ERR_COMPACTION_UNSUPPORTED: misuse(
    'The provider has no compaction of its own for this model.',
    'Use `--compaction summarize`.',
  ),
  ERR_NO_TASK: misuse('No task was given.', 'Pass `--plan FILE`, `--message TEXT` or `--plan-from-issue N`.'),
  ERR_NO_KEY: misuse(
    "The provider's key is missing, or may not be read from the `.env` that has it.",
    'Set the variable that the message names, or write it into a `.env` that git does not track. In a workflow: is the secret set, and does this event receive it?',
  ),
  ERR_NO_TOKEN: misuse(
    'There is no GitHub token.',
    "Set `GITHUB_TOKEN`, or the action's `github-token`, with the permissions that the message names.",
  ),
  ERR_NO_REPOSITORY_NAME: misuse(
    'The GitHub repository is unknown.',
    'Pass `--repository OWNER/NAME`, or set `GITHUB_REPOSITORY`.',
  ),
  ERR_FOREIGN_TEAM: misuse(
    'A requested team does not belong to the organisation that owns the repository.',
    'Name a team of that organisation with `--team-reviewer`.',
  ),
  ERR_MCP_SETTINGS: misuse(
    'The description of an MCP server is invalid, or not allowed in a project file.',
    'Fix what the message names; docs/mcp.md has examples.',
  ),
  ERR_MCP_NOT_COMMITTED: misuse(
    'The MCP servers of the project file, or of a file in the work tree given with `--mcp-config`, are not those of the checked-out commit, so that a model may have named them.',
    'Commit the file after a look at it, or name a copy outside the work tree with `--mcp-config`.',
  ),
  ERR_MCP_FILE: misuse(
    'The file given with `--mcp-config` cannot be used: it is missing, not JSON or YAML with `mcpServers`, or in an untrusted place.',
    'Fix the file, or name another one.',
  ),
  ERR_MCP_VARIABLE: misuse(
    'A value of an MCP server names a variable that is not set, or one that is too short to be hidden.',
    'Set the variable in the environment.',
  ),
  ERR_SETUP_ENV: misuse(
    'A variable of `--setup-env` is not set, is too short to be hidden, or would be passed to untrusted code.',
    'Set it, or do as the message says; docs/network.md says when setup commands may have secrets.',
  ),
  ERR_NO_ORGANIZATION: misuse(
    'The provider cannot report what an organisation has spent, or not grouped as requested.',
    'Choose another `--provider`, or another `--by`.',
  ),
  ERR_LIBRARY_TOOL: misuse(
    'A tool passed to the library has an invalid or duplicate name, or lacks a description or a usable schema.',
    'Give it a unique name of letters, digits, `_` and `-`, a description, and a schema that JSON Schema can express.',
  ),
  ERR_ATTEMPT_COPY: misuse(
    'The work tree cannot be copied for `--attempts`.',
    'Do as the message says, or run the plan without `--attempts`.',
  ),
  ERR_PROVIDER_UNUSABLE: misuse(
    'The provider cannot be used with these settings: its login, its script or recording, or its program is missing or wrong.',
    'Fix what the message names; docs/providers.md says what each provider needs.',
  ),
} as const;
