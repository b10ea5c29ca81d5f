import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { makePipe } from '../../support/files/temp-folder.ts';
import { isRunning, oddSeconds } from '../../support/machine/processes.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
const long = (marker: string) => ({
  calls: [call('run_command', { command: `trap '' TERM; sleep ${marker}` })],
});

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

describe.each(sampled(SIGNALS, () => 'signal', 1))('%s', (signal, exitCode) => {
  test('in the middle of a command that ignores it: children gone, patch and result written', async () => {
    const marker = oddSeconds();
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const finished = await scriptedRun({
      repository,
      turns: [edit, long(marker)],
      args: ['--sandbox', 'auto'],
      during: async ({ pid }) => {
        await until('the command runs', () => isRunning(marker));
        process.kill(pid, signal);
      },
    });
    expect(finished.exitCode, finished.stderr).toBe(exitCode);
    expect([finished.result.outcome, finished.result.exitCode]).toEqual(['interrupted', exitCode]);
    expect(finished.lastLine).toContain(`patchsmith: interrupted (exit ${exitCode})`);
    expect(finished.patch).toContain('+new');
    expect(isRunning(marker)).toBe(false);
  });
});

describe('SIGTERM', () => {
  test('while the model is silent ends the run at once', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const finished = await scriptedRun({
      repository,
      turns: [edit, { fault: { kind: 'stall', afterEvents: 1 } }],
      during: async ({ pid, server }) => {
        await until('the second request is there', () => server.requests.length === 2);
        process.kill(pid, 'SIGTERM');
      },
    });
    expect(finished.exitCode, finished.stderr).toBe(143);
    expect(finished.patch).toContain('+new');
  });

  test('twice exits at once, and the sandbox dies with the runner', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const marker = oddSeconds();
    const finished = await scriptedRun({
      repository,
      turns: [edit, long(marker)],
      during: async ({ pid, runDir }) => {
        await until('the command runs', () => isRunning(marker));
        process.kill(pid, 'SIGTERM');
        process.kill(pid, 'SIGTERM');
        await until('the result exists', () => existsSync(`${runDir}/result.json`));
      },
    });
    expect(finished.exitCode).toBe(143);
    await until('the command is gone', () => !isRunning(marker));
  });
});

test('a plan that never comes through its pipe ends at the deadline', async () => {
  const repository = await makeRepository({});
  const plan = join(temporaryFolder(), 'pipe');
  makePipe(plan);
  const finished = await scriptedRun({ repository, turns: [], plan, args: ['--deadline', '1s'] });
  expect([finished.exitCode, finished.result.outcome], finished.stderr).toEqual([124, 'deadline']);
});
