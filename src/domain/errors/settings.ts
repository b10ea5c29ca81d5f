/** Errors in settings, wherever they come from. */

import { misuse } from './entry.ts';

/** Codes with their meaning and their fix. */
export const SETTINGS = {
  ERR_UNKNOWN_VARIABLE: misuse(
    'A variable begins with `PATCHSMITH_`, but patchsmith does not read it.',
    'Use the name that the message suggests, or unset it.',
  ),
  ERR_UNKNOWN_SETTING: misuse(
    'The project file has a key that is not a setting.',
    'Use the name that the message suggests; docs/settings.md lists them all.',
  ),
  ERR_INVALID_VALUE: misuse(
    'A setting has a value that it cannot have.',
    'Give one of the form that the message asks for; docs/settings.md says what each setting takes.',
  ),
  ERR_NOT_FOR_PROJECT_FILE: misuse(
    'The project file asks for something that only the operator may decide: whoever opens a pull request can write that file.',
    'Use the flag or the variable that the message names.',
  ),
  ERR_PROJECT_FILE_UNREADABLE: misuse(
    'The project file is there and cannot be read: it is a link, too large, not UTF-8, or not readable.',
    'Make it a plain file of at most 64 KiB.',
  ),
  ERR_PROJECT_FILE_INVALID: misuse(
    'The project file is not valid YAML with keys.',
    'Fix the line that the message names.',
  ),
  ERR_PROJECT_FILE_MISNAMED: misuse(
    'There is a `.patchsmith.yaml`, which nothing reads, although its author expects it to be used.',
    'Rename it to `.patchsmith.yml`.',
  ),
  ERR_SETTINGS_CONFLICT: misuse(
    'Two settings exclude each other.',
    'Give only one of them, or change one as the message says.',
  ),
  ERR_SETTING_WITHOUT_EFFECT: misuse(
    'A setting was given that does nothing together with the others.',
    'Leave it out, or give what it belongs to.',
  ),
  ERR_SETTING_NEEDED: misuse(
    'Another setting needs one that was not given, such as a model for a provider without a default.',
    'Add the flag that the message names.',
  ),
  ERR_PRICE_UNKNOWN: misuse(
    'The cost of the run is to be limited, and the price of one of its models is not known.',
    'Give it with `--price`, or limit tokens with `--max-total-tokens`.',
  ),
  ERR_INSECURE_BASE_URL: misuse(
    'The address of the provider is plain http on another host, where the key could be read on the way.',
    'Use https, or permit it with `--allow-insecure-base-url`.',
  ),
  ERR_COMPACTION_UNSUPPORTED: misuse(
    'The provider has no compaction of its own for this model.',
    'Use `--compaction summarize`.',
  ),
  ERR_NO_TASK: misuse(
    'Nothing says what is to be done.',
    'Give a plan with `--plan FILE`, `--message TEXT` or `--plan-from-issue N`.',
  ),
  ERR_NO_KEY: misuse(
    "The provider's key is missing, or must not be read from the `.env` that has it.",
    'Set the variable that the message names, or write it into a `.env` that git does not track. In a workflow: is the secret set, and does this event receive it?',
  ),
  ERR_NO_TOKEN: misuse(
    'There is no token for GitHub.',
    'Set `GITHUB_TOKEN`, or `github-token` of the action, with the permissions that the message names.',
  ),
  ERR_NO_REPOSITORY_NAME: misuse(
    'It is not known which repository on GitHub is meant.',
    'Say `--repository OWNER/NAME`, or set `GITHUB_REPOSITORY`.',
  ),
  ERR_FOREIGN_TEAM: misuse(
    'A team that is to review does not belong to the organisation that owns the repository.',
    'Name a team of that organisation with `--team-reviewer`.',
  ),
  ERR_MCP_SETTINGS: misuse(
    'An MCP server is described in a way that cannot be used, or that a project file may not have.',
    'Fix what the message names; docs/mcp.md has examples.',
  ),
  ERR_MCP_NOT_COMMITTED: misuse(
    'The MCP servers of the project file are not those of the checked-out commit, so that a model may have named them.',
    'Commit `.patchsmith.yml` after a look at it, or name the servers with `--mcp-config`.',
  ),
  ERR_MCP_FILE: misuse(
    'The file of `--mcp-config` cannot be used: it is not there, not JSON or YAML with `mcpServers`, or is in a place that is not trusted.',
    'Fix the file, or name another one.',
  ),
  ERR_MCP_VARIABLE: misuse(
    'A value of an MCP server names a variable that is not set, or one that is too short to be hidden.',
    'Set the variable in the environment.',
  ),
  ERR_SETUP_ENV: misuse(
    'A variable of `--setup-env` is not set, is too short to be hidden, or would be handed to code that is not trusted.',
    'Set it, or do as the message says; docs/sandbox.md says when setup commands may have secrets.',
  ),
  ERR_NO_ORGANIZATION: misuse(
    'The provider cannot say what an organisation has spent, or not by what was asked for.',
    'Choose another `--provider`, or another `--by`.',
  ),
  ERR_LIBRARY_TOOL: misuse(
    'A tool that a program passes to the library has a name that cannot be used or is taken, or no description and schema for a model.',
    'Give it a name of its own, of letters, digits, `_` and `-`, a description, and a schema that JSON Schema can express.',
  ),
  ERR_ATTEMPT_COPY: misuse(
    'The work tree cannot be copied for `--attempts`.',
    'Do as the message says, or run the plan without `--attempts`.',
  ),
  ERR_PROVIDER_UNUSABLE: misuse(
    'The provider cannot be asked with these settings: its login, its script or recording, or its program is missing or wrong.',
    'Fix what the message names; docs/providers.md says what each provider needs.',
  ),
} as const;
