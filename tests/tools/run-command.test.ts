import { spawnSync } from 'node:child_process';
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

/** Runs the command of a literal next call in a real shell. */
function outputOf(next: string | undefined): string {
  const { command } = JSON.parse(next?.slice('run_command '.length) ?? '{}');
  return spawnSync('sh', ['-c', command], { encoding: 'utf8' }).stdout;
}

test('the output comes first, how it ended last', async () => {
  expect(await said({}, { end: exited(0), output: whole('built\n') })).toEqual({
    status: 'ok',
    text: 'built\n[exit code 0]',
    timeoutMs: 60_000,
  });
  expect(await said({}, { end: exited(0), output: whole('') })).toMatchObject({
    text: '[exit code 0]',
  });
  expect(await said({}, { end: exited(0), output: whole('no newline') })).toMatchObject({
    text: 'no newline\n[exit code 0]',
  });
});

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

test('the last line survives when the middle of the output is missing', async () => {
  const output = { head: 'first\n', omitted: 1_000_000, tail: 'last\n' };
  expect(await said({}, { end: exited(1), output }, 1_000)).toMatchObject({
    text: expect.stringMatching(/^first\n\[\d+ of \d+\]last\n\[exit code 1\]$/),
  });
});

test('the next call shows exactly the lines that were cut out', async () => {
  const command = 'seq 1 1000 # numbers';
  const output = spawnSync('sh', ['-c', command], { encoding: 'utf8' }).stdout;
  const cut = await said({ command }, { end: exited(0), output: whole(output) }, 1_000);
  const [head, tail] = cut.text.split(/\[\d+ of \d+\]/);
  const firstMissing = (head?.split('\n').length ?? 0) - 1 + 1;
  const firstShown = Number(tail?.split('\n')[1]);
  const missing = outputOf(cut.next).trim().split('\n').map(Number);
  expect([missing.at(0), missing.at(-1)]).toEqual([firstMissing, firstShown - 1]);
});

test('of output too large to be kept, the next call shows the lines after the first gap', async () => {
  const cut = await said(
    { command: 'seq 1 99999' },
    { end: exited(0), output: { head: '1\n2\n3\n', omitted: 500_000, tail: '99999\n' } },
  );
  expect(cut.next).toBe(`run_command {"command":"( seq 1 99999 ) 2>&1 | sed -n '4,10p'"}`);
});

test('output of one long line continues by bytes', async () => {
  const command = "printf '%02000d' 7";
  const output = spawnSync('sh', ['-c', command], { encoding: 'utf8' }).stdout;
  const cut = await said({ command }, { end: exited(0), output: whole(output) }, 1_000);
  expect(cut.next).toBe(
    `run_command ${JSON.stringify({ command: `( ${command} ) 2>&1 | tail -c +501 | head -c 1000` })}`,
  );
  expect(outputOf(cut.next)).toBe(output.slice(500, 1_500));
});

test('a command with a NUL never reaches the sandbox', async () => {
  expect(await said({ command: 'a\0b' }, { end: exited(0), output: whole('') })).toEqual({
    status: 'failed',
    reason: 'invalid_input',
    text: 'The command contains a NUL character.',
    timeoutMs: undefined,
  });
});
