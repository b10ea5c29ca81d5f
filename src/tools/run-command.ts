/** `run_command`: one shell command in the sandbox. */

import * as z from 'zod';
import description from '../../prompts/tools/run_command.md';
import type { Excerpt } from '../domain/conversation/excerpt.ts';
import { type CommandEnd, describeEnd, type FailureReason, succeeded } from '../domain/conversation/tool.ts';
import type { CommandResult, Tool, ToolResult } from '../ports.ts';
import { failedCall } from './result.ts';

/** How long commands may take, in milliseconds. */
export interface CommandTimes {
  /** For a command that does not request its own timeout. */
  readonly commandTimeoutMs: number;
  /** The longest timeout a command can request. */
  readonly maxCommandTimeoutMs: number;
}

const Input = z.strictObject({
  command: z.string().min(1),
  timeout_seconds: z.number().positive().optional(),
});
type Input = z.infer<typeof Input>;

/** Runs a command in the sandbox. */
export function runCommandTool({ commandTimeoutMs, maxCommandTimeoutMs }: CommandTimes): Tool<Input> {
  return {
    name: 'run_command',
    description,
    schema: Input,
    lane: 'command',
    aliases: { cmd: 'command' },
    async execute({ command, timeout_seconds: seconds }, { sandbox, signal }) {
      if (command.includes('\0')) return failedCall('invalid_input', 'The command contains a NUL character.');
      const askedMs = seconds === undefined ? commandTimeoutMs : Math.ceil(seconds * 1000);
      const timeoutMs = Math.min(askedMs, maxCommandTimeoutMs);
      const result = await sandbox.run({ script: command, timeoutMs, signal });
      const notes = [
        `[${describeEnd(result.end)}]`,
        ...(askedMs > timeoutMs ? [`[timeout_seconds is capped at ${timeoutMs / 1000}]`] : []),
        ...(result.end.timedOut && timeoutMs < maxCommandTimeoutMs
          ? [`[timeout_seconds can be at most ${maxCommandTimeoutMs / 1000}]`]
          : []),
      ];
      return report(result, notes.join('\n'));
    },
  };
}

function report({ end, output, signs }: CommandResult, notes: string): ToolResult {
  const reported = { output: withLastLines(output, notes), command: end, signs };
  return succeeded(end)
    ? { status: 'ok', ...reported }
    : { status: 'failed', reason: reasonOf(end), ...reported };
}

function reasonOf(end: CommandEnd): FailureReason {
  if (end.interrupted) return 'interrupted';
  return end.timedOut ? 'timeout' : 'exit_code';
}

function withLastLines(output: Excerpt, notes: string): Excerpt {
  const end = output.omitted === 0 ? output.head : output.tail;
  const last = end === '' || end.endsWith('\n') ? notes : `\n${notes}`;
  return output.omitted === 0
    ? { ...output, head: output.head + last }
    : { ...output, tail: output.tail + last };
}
