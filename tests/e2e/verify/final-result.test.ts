import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { isRunning, oddSeconds } from '../../support/machine/processes.ts';
import { resultOf } from '../../support/published.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, done, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const WRITE = { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] };

describe('every run that has a run directory leaves a final result there', () => {
  test('one with mistakes in its flags', async () => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const runDir = join(temporaryFolder(), 'run');
    const args = ['run', '--repo', repository.root, '--run-dir', runDir, '--bogus', '--deadline', 'soon'];
    const { exitCode } = await runCli(args, { cwd: repository.root });
    const result = resultOf(runDir);
    expect([exitCode, result.status, result.outcome, result.exitCode]).toEqual([
      2,
      'finished',
      'usage_error',
      2,
    ]);
    expect(result.reason).toMatch(/--bogus.*; \[ERR_INVALID_VALUE\] --deadline/);
    expect(result.runId).not.toBe('');
  });

  test('and no mistake writes into a checkout, or over an earlier run', async () => {
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    await runCli(['run', '--run-dir', join(root, 'run'), '--bogus'], { cwd: root });
    expect(existsSync(join(root, 'run'))).toBe(false);
    const earlier = join(temporaryFolder(), 'run');
    mkdirSync(earlier);
    writeFileSync(join(earlier, 'result.json'), 'of an earlier run');
    await runCli(['run', '--run-dir', earlier, '--bogus'], { cwd: root });
    expect(readFileSync(join(earlier, 'result.json'), 'utf8')).toBe('of an earlier run');
  });

  test.each(
    sampled(
      [
        [['SIGHUP'], 'Stopped by SIGHUP;'],
        [['SIGINT', 'SIGTERM'], 'Stopped at once by a second signal ('],
      ] as const,
      () => 'signal',
      1,
    ),
  )('one that is ended by %j', async (signals, reason) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const seconds = oddSeconds();
    const sleep = { calls: [call('run_command', { command: `sleep ${seconds}` })] };
    const ended = await scriptedRun({
      repository,
      turns: [WRITE, sleep, done],
      async during({ pid }) {
        await until('the command runs', () => isRunning(seconds));
        for (const signal of signals) process.kill(pid, signal);
      },
    });
    const { result } = ended;
    // Linux may hand over the later one of two waiting signals first.
    const last = signals.find((signal) => result.reason.includes(`(${signal})`)) ?? signals[0];
    const exitCode = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[last];
    expect([ended.exitCode, result.status, result.outcome, result.exitCode], ended.stderr).toEqual([
      exitCode,
      'finished',
      'interrupted',
      exitCode,
    ]);
    expect(result.reason).toContain(reason);
    expect(result).toMatchObject({
      iterations: 2,
      tokens: { output: ended.server.bill().usage.output },
    });
    // As soon as the interrupted call has its answer, the model is to be asked.
    if (!result.estimated) expect(result.costUsd).toBeGreaterThan(0);
  });

  test('one that a second signal ends in the middle of an answer', async () => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const { result } = await scriptedRun({
      repository,
      turns: [WRITE, { text: 'Hello', fault: { kind: 'stall', afterEvents: 3 } }, done],
      async during({ pid, server }) {
        await until('the second answer begins', () => server.requests.length === 2);
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(pid, signal);
      },
    });
    expect(result).toMatchObject({ iterations: 1, estimated: true, costUsd: expect.any(Number) });
    expect(result.tokens.output).toBeGreaterThan(0);
  });
});

test.each(sampled(['json', 'jsonl', 'patch'], () => 'output'))(
  '--output %s into a closed stdout is no success',
  async (output) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const wrap = ['bash', '-c', 'exec "$@" > >(true)', 'bash'];
    const { result, exitCode, stderr } = await scriptedRun({
      repository,
      turns: [WRITE, done],
      args: ['--output', output],
      wrap,
    });
    expect([exitCode, result.outcome, result.patch === null], stderr).toEqual([1, 'internal_error', false]);
    expect(result.reason).toMatch(new RegExp(`^The --output ${output} document cannot be written: `));
  },
);
