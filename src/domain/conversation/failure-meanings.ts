/** What the reasons of failed calls mean. docs/errors.md is made of it; programs do not load it. */

import type { FailureReason } from './tool.ts';

/** For people who read `failed: path_refused`; the model is told more by the text of the answer. */
export const FAILURE_MEANINGS: Readonly<Record<FailureReason, { meaning: string; fix: string }>> = {
  unknown_tool: {
    meaning: 'The model called a tool that it was not given.',
    fix: 'Nothing: it is told which ones there are. `--tools` says which it gets.',
  },
  invalid_input: {
    meaning: 'The parameters of the call do not fit the tool.',
    fix: 'Nothing: the model is told what is wrong. Often, with every call: use another model.',
  },
  cut_off: {
    meaning: "The model's answer was cut off in the middle of the call, so it was not carried out.",
    fix: 'Often: raise `--max-output-tokens`.',
  },
  too_many_calls: {
    meaning: 'The answer had more calls than are carried out in one turn.',
    fix: 'Nothing: the model is told, and makes the rest in the next turn.',
  },
  budget: {
    meaning: 'The tokens or the money of the run are used up, so the call was not carried out.',
    fix: '`patchsmith resume` with a higher limit.',
  },
  path_refused: {
    meaning: "The path is outside of the work tree, leads through a link, or is git's own.",
    fix: 'Nothing: no setting permits that.',
  },
  not_found: {
    meaning: 'There is no such file or folder.',
    fix: 'Nothing. Ignored files that the plan is about have to be named in it.',
  },
  not_text: {
    meaning: 'The file is not a text, image or document that can be shown to the model.',
    fix: 'Nothing.',
  },
  too_large: {
    meaning: 'The file, or what was to be written, is larger than the tool takes.',
    fix: 'Let the plan name the part that matters, or let a command do it.',
  },
  no_match: {
    meaning: 'The text that was to be replaced is not in the file, or is there more than once.',
    fix: 'Nothing: the model is shown the nearest lines.',
  },
  conflict: {
    meaning: 'The model has not seen all of the file as it is now, so that writing would lose something.',
    fix: 'Nothing: it reads the file again. Often: is something else changing the work tree?',
  },
  exit_code: {
    meaning: 'The command ended with another exit code than 0, or by a signal.',
    fix: 'Nothing, for a test that is to be repaired. A program that is missing: docs/sandbox.md.',
  },
  timeout: {
    meaning: 'The command, search or page took longer than it may.',
    fix: 'Raise `--command-timeout` or `--max-command-timeout`.',
  },
  interrupted: {
    meaning: 'The run was stopped or killed during the call.',
    fix: '`patchsmith resume`.',
  },
  policy: {
    meaning: '`allow` and `protect` forbid the path, or the write would make a repository or change one.',
    fix: 'Widen these rules if the plan needs the path.',
  },
  server: {
    meaning: 'The MCP server or the tool of the program answered with an error, or is gone.',
    fix: "Read the server's own log; docs/mcp.md.",
  },
  crashed: {
    meaning: 'The call failed unexpectedly. The run continues.',
    fix: 'Report it, with `patchsmith.log`.',
  },
};
