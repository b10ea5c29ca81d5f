/** The meanings of failure reasons of calls. docs/errors.md is generated from them; programs do not load them. */

import type { FailureReason } from './tool.ts';

/** For people who read `failed: path_refused`; the text of the answer tells the model more. */
export const FAILURE_MEANINGS: Readonly<Record<FailureReason, { meaning: string; fix: string }>> = {
  unknown_tool: {
    meaning: 'The model called a tool that it was not given.',
    fix: 'Nothing: it is told which tools exist. `--tools` chooses them.',
  },
  invalid_input: {
    meaning: 'The parameters of the call are invalid.',
    fix: 'Nothing: the model is told what is wrong. If it happens often, use another model.',
  },
  cut_off: {
    meaning: "The model's answer was cut off in the middle of the call, so it was not executed.",
    fix: 'Often: raise `--max-output-tokens`.',
  },
  too_many_calls: {
    meaning: 'The answer had more calls than are executed in one turn.',
    fix: 'Nothing: the model is told, and sends the rest in the next turn.',
  },
  budget: {
    meaning: "The run's tokens or money are used up, so the call was not executed.",
    fix: '`patchsmith resume` with a higher limit.',
  },
  path_refused: {
    meaning: 'The path is outside the work tree, leads through a link, or belongs to git.',
    fix: 'Nothing: no setting permits that.',
  },
  not_found: {
    meaning: 'There is no such file or folder.',
    fix: 'Nothing. If the plan is about ignored files, name them in it.',
  },
  not_text: {
    meaning: 'The file is not a text, image or document that can be shown to the model.',
    fix: 'Nothing.',
  },
  too_large: {
    meaning: 'The file, or the text to write, is larger than the tool accepts.',
    fix: 'Name the relevant part in the plan, or let a command do it.',
  },
  no_match: {
    meaning: 'The text to replace is not in the file, or occurs more than once.',
    fix: 'Nothing: the model is shown the nearest lines.',
  },
  conflict: {
    meaning: 'The model has not seen all of the current file, so writing would lose something.',
    fix: 'Nothing: it reads the file again. If it happens often, check whether something else changes the work tree.',
  },
  exit_code: {
    meaning: 'The command ended with a non-zero exit code, or by a signal.',
    fix: 'Nothing, if it is a test to be fixed. For a missing program, see docs/sandbox.md.',
  },
  timeout: {
    meaning: 'The command, search or page exceeded its time limit.',
    fix: 'Raise `--command-timeout` or `--max-command-timeout`.',
  },
  interrupted: {
    meaning: 'The run was stopped or killed during the call.',
    fix: '`patchsmith resume`.',
  },
  policy: {
    meaning: '`allow` and `protect` forbid the path, or the write would create or change a repository.',
    fix: 'Relax these rules if the plan needs the path.',
  },
  server: {
    meaning: 'The MCP server or the tool of the program answered with an error, or is gone.',
    fix: "Read the server's own log; see docs/mcp.md.",
  },
  crashed: {
    meaning: 'The call failed unexpectedly. The run continues.',
    fix: 'Report it, with `patchsmith.log`.',
  },
};
