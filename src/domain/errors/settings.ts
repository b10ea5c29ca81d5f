/** Errors in settings, wherever they come from. */

import { misuse } from './entry.ts';

/** What each code means, and what to do. */
export const SETTINGS = {
  ERR_UNKNOWN_VARIABLE: misuse(
    'patchsmith does not read this `PATCHSMITH_` variable. Use the suggested name, or unset it.',
  ),
  ERR_UNKNOWN_SETTING: misuse(
    'The project file has a key that is not a setting. Use the suggested one; docs/settings.md lists all.',
  ),
  ERR_INVALID_VALUE: misuse(
    'A setting has an invalid value. Use the format that the message asks for; docs/settings.md describes each setting.',
  ),
  ERR_NOT_FOR_PROJECT_FILE: misuse(
    'Only the operator may set this: anyone can write the project file in a pull request. Use the flag or the variable.',
  ),
  ERR_PROJECT_FILE_UNREADABLE: misuse(
    'The project file cannot be read. Make it a regular UTF-8 file of at most 64 KiB.',
  ),
  ERR_PROJECT_FILE_INVALID: misuse(
    'The project file is not a YAML mapping. Fix the line that the message names.',
  ),
  ERR_PROJECT_FILE_MISNAMED: misuse('A `.patchsmith.yaml` is not read. Rename it to `.patchsmith.yml`.'),
  ERR_SETTINGS_CONFLICT: misuse('Two settings cannot be combined. Drop or change one.'),
  ERR_SETTING_WITHOUT_EFFECT: misuse(
    'A setting has no effect with the others. Drop it, or add the one that it belongs to.',
  ),
  ERR_SETTING_NEEDED: misuse(
    'A setting that another one needs is missing. Add the flag that the message names.',
  ),
  ERR_PRICE_UNKNOWN: misuse(
    'The cost is limited, but the price of a model is unknown. Set `--price`, or limit tokens with `--max-total-tokens`.',
  ),
  ERR_INSECURE_BASE_URL: misuse(
    'The key could be read on its way to a plain http address. Use https, or permit it with `--allow-insecure-base-url`.',
  ),
  ERR_COMPACTION_UNSUPPORTED: misuse(
    'The provider has no compaction of its own for this model. Use `--compaction summarize`.',
  ),
  ERR_NO_TASK: misuse('There is no task. Pass `--plan FILE`, `--message TEXT` or `--plan-from-issue N`.'),
  ERR_NO_KEY: misuse(
    'There is no key for the provider. Set the variable that the message names, or write it into a `.env` that git does not track. In a workflow, check that this event gets the secret.',
  ),
  ERR_NO_TOKEN: misuse(
    "There is no GitHub token. Set `GITHUB_TOKEN`, or the action's `github-token`, with the permissions that the message names.",
  ),
  ERR_NO_REPOSITORY_NAME: misuse(
    'The GitHub repository is unknown. Pass `--repository OWNER/NAME`, or set `GITHUB_REPOSITORY`.',
  ),
  ERR_FOREIGN_TEAM: misuse(
    'The team belongs to another organisation than the repository. Name one of its own with `--team-reviewer`.',
  ),
  ERR_MCP_SETTINGS: misuse(
    'The description of an MCP server is invalid, or not allowed in a project file. See docs/mcp.md.',
  ),
  ERR_MCP_NOT_COMMITTED: misuse(
    'MCP servers in the work tree differ from the checked-out commit, so a model may have named them. Commit them, or name a file outside with `--mcp-config`.',
  ),
  ERR_MCP_FILE: misuse(
    'The file of `--mcp-config` is missing, has no `mcpServers`, or is in an untrusted place. Fix it, or name another.',
  ),
  ERR_MCP_VARIABLE: misuse(
    'A variable that an MCP server needs is not set, or too short to be hidden. Set it.',
  ),
  ERR_SETUP_ENV: misuse(
    'A variable of `--setup-env` is not set, too short to be hidden, or would reach untrusted code. See docs/network.md.',
  ),
  ERR_NO_ORGANIZATION: misuse(
    'The provider cannot report what an organisation has spent, or not so grouped. Choose another `--provider` or `--by`.',
  ),
  ERR_LIBRARY_TOOL: misuse(
    'A tool of the library needs a unique name of letters, digits, `_` and `-`, a description, and a schema that JSON Schema can express.',
  ),
  ERR_ATTEMPT_COPY: misuse(
    'The work tree cannot be copied for `--attempts`. Do as the message says, or run without it.',
  ),
  ERR_PROVIDER_UNUSABLE: misuse(
    'The login, script or recording of the provider is missing or wrong. See docs/providers.md.',
  ),
} as const;
