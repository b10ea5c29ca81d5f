import { expect, test } from 'vitest';
import { whole } from '../../src/domain/conversation/excerpt.ts';
import type { CommandEnd } from '../../src/domain/conversation/tool.ts';
import type { CommandResult } from '../../src/ports.ts';
import { runCommandTool } from '../../src/tools/run-command.ts';
import { plainWorkspace } from '../support/files/plain-workspace.ts';

const tool = runCommandTool({ commandTimeoutMs: 60_000, maxCommandTimeoutMs: 600_000 });
const exited = (exitCode: number, more: Partial<CommandEnd> = {}): CommandEnd => ({
  exitCode,
  signal: null,
  timedOut: false,
  interrupted: false,
  durationMs: 1_200,
  ...more,
});

/** What the model is told about a command that ended so, and what the sandbox was asked for. */
async function said(input: object, result: CommandResult, limit?: number) {
  const workspace = plainWorkspace({ command: () => result });
  try {
    const call = await workspace.call(tool, { command: 'make', ...input }, limit);
    return { ...call, timeoutMs: workspace.commands[0]?.timeoutMs };
  } finally {
    workspace.remove();
  }
}

test('a failure keeps the output and names its kind', async () => {
  const output = whole('partial\n');
  const ends: [CommandEnd, string, string][] = [
    [exited(2), 'exit_code', '[exit code 2]'],
    [exited(0, { exitCode: null, signal: 'SIGSEGV' }), 'exit_code', '[killed by SIGSEGV]'],
    [
      exited(0, { exitCode: null, timedOut: true }),
      'timeout',
      '[timed out and was killed]\n[timeout_seconds can be at most 600]',
    ],
    [exited(0, { exitCode: null, interrupted: true }), 'interrupted', '[interrupted]'],
  ];
  for (const [end, reason, line] of ends) {
    expect(await said({}, { end, output })).toEqual({
      status: 'failed',
      reason,
      text: `partial\n${line}`,
      timeoutMs: 60_000,
    });
  }
});

test('the model may request more time up to the cap, and learns if it requested too much', async () => {
  const result = { end: exited(0), output: whole('') };
  expect(await said({ timeout_seconds: 120.5 }, result)).toMatchObject({ timeoutMs: 120_500 });
  expect(await said({ timeout_seconds: 601 }, result)).toMatchObject({
    timeoutMs: 600_000,
    text: '[exit code 0]\n[timeout_seconds is capped at 600]',
  });
});

test('a command with a NUL never reaches the sandbox', async () => {
  expect(await said({ command: 'a\0b' }, { end: exited(0), output: whole('') })).toEqual({
    status: 'failed',
    reason: 'invalid_input',
    text: 'The command contains a NUL character.',
    timeoutMs: undefined,
  });
});
