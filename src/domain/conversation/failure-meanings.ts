/** The meanings of failure reasons of calls. `patchsmith help CODE` shows them. */

import type { FailureReason } from './tool.ts';

/** For people who read `failed: path_refused`; the text of the answer tells the model more. */
export const FAILURE_MEANINGS: Readonly<Record<FailureReason, string>> = {
  unknown_tool:
    'The model called a tool that it was not given; the answer names those that exist. `--tools` chooses them.',
  invalid_input: 'The parameters are invalid; the answer says why. If it happens often, use another model.',
  cut_off:
    'The answer was cut off within the call, which was not executed. If it happens often, raise `--max-output-tokens`.',
  too_many_calls: 'The answer had more calls than one turn executes. The model sends the rest in the next.',
  budget:
    'The tokens or the money are used up, so the call was not executed. `patchsmith resume` with a higher limit.',
  path_refused:
    'The path is outside the work tree, leads through a link, or belongs to git. No setting permits that.',
  not_found: 'There is no such file or folder. If the plan is about ignored files, name them in it.',
  not_text: 'The file is not a text, image or document that a model can be shown.',
  too_large: 'The file or text is larger than the tool accepts. Name the part in the plan, or use a command.',
  no_match:
    'The text to replace is not in the file, or occurs more than once. The model is shown the nearest lines.',
  conflict:
    'The model has not seen all of the current file, and reads it again. If it recurs, check what else changes the work tree.',
  exit_code: 'The command failed. For a missing program, see docs/sandbox.md.',
  timeout: 'The command, search or page took too long. Raise `--command-timeout` or `--max-command-timeout`.',
  interrupted: 'The run was stopped or killed during the call. `patchsmith resume`.',
  policy:
    '`allow` and `protect` forbid the path, or the write would create or change a repository. Relax these rules if needed.',
  server:
    "The MCP server or the program's tool answered with an error, or is gone. Read its own log; see docs/mcp.md.",
  crashed: 'The call failed unexpectedly, and the run continues. Report it, with `events.jsonl`.',
};
