import { describe, expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { type Blocked, blockable, SEES_NO_SIGNALS } from '../../support/machine/blocked-thread.ts';
import { processesWith } from '../../support/machine/processes.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';
import { until } from '../../support/waiting/until.ts';

/** A run that has changed a file and runs a command that takes its time, when its main thread is blocked. */
async function stuckRun(
  how: Blocked,
  {
    args = [],
    signal,
    afterMs = 200,
    wrap = [],
  }: {
    args?: readonly string[];
    signal?: NodeJS.Signals;
    /** Default: later than the next turn of the timer that blocks. */
    afterMs?: number;
    wrap?: readonly string[];
  },
) {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const { block, env } = blockable(how);
  const mark = `${(Math.random() * 1e6 + 1e6).toFixed(6)}`;
  let stuckAt: number | null = null;
  const run = await scriptedRun({
    repository,
    built: true,
    wrap,
    args,
    env,
    turns: [
      { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
      { calls: [call('run_command', { command: `sleep ${mark}` })] },
    ],
    async during({ pid }) {
      await until('the command runs', () => processesWith(mark).length > 0 || !isThere(pid));
      if (!isThere(pid)) return;
      block();
      stuckAt = Date.now();
      if (signal !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        process.kill(pid, signal);
      }
    },
  });
  const tookMs = Date.now() - (stuckAt ?? 0);
  return { ...run, root: repository.root, isStuck: stuckAt !== null, tookMs, left: processesWith(mark) };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The model says that it is finished. */
async function resume({ runDir, root }: { runDir: string; root: string }) {
  const server = await startClaudeServer({ turns: [{ text: 'Done.' }], apiKey: KEY });
  try {
    return await runCli(['resume', runDir, '--deadline', '2m'], {
      cwd: root,
      env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
      built: true,
    });
  } finally {
    await server.close();
  }
}

const ENDLESS = ['an endless loop', 'an endless expression', 'an endless chain of promises'] as const;

describe('a run whose main thread is stuck', () => {
  test.skipIf(SEES_NO_SIGNALS === undefined)(
    'with Node.js 24, which shows no signals to threads, is ended by the next one, and can be resumed',
    async () => {
      const wrap = ['sh', '-c', `shift; exec ${SEES_NO_SIGNALS} "$@"`, 'sh'];
      const run = await stuckRun('an endless loop', { signal: 'SIGTERM', afterMs: 6_000, wrap });
      expect(run.result).toMatchObject({ status: 'running', outcome: null });
      expect(run.tookMs).toBeLessThan(15_000);
      expect(run.left).toEqual([]);
      const resumed = await resume(run);
      expect(resumed.lastLine).toMatch(/\(exit 0\): 1 file changed/);
    },
  );

  test.skipIf(SEES_NO_SIGNALS === process.execPath).each(sampled(ENDLESS, () => 'endless', 2))(
    'in %s ends a few seconds after a signal, with a result',
    async (how) => {
      const run = await stuckRun(how, { signal: 'SIGTERM' });
      expect(run.lastLine).toMatch(
        /^patchsmith: interrupted \(exit 143\) \[ERR_INTERRUPTED\]: Stopped by SIGTERM; patchsmith did not react/,
      );
      expect(run.exitCode).toBe(143);
      expect(run.result).toMatchObject({ status: 'finished', outcome: 'interrupted', iterations: 2 });
      expect(run.tookMs).toBeLessThan(15_000);
      expect(run.left).toEqual([]);
    },
  );

  testAtNight('ends at its deadline, and can be resumed', async () => {
    let deadlineMs = 0;
    const run = await withEnoughTime(
      (limitMs) => {
        deadlineMs = 4 * limitMs;
        return stuckRun('an endless loop', { args: ['--deadline', `${deadlineMs / 1_000}s`] });
      },
      ({ isStuck }) => isStuck,
    );
    expect(run.lastLine).toMatch(/^patchsmith: deadline \(exit 124\) \[ERR_DEADLINE\]: The deadline passed;/);
    expect(run.result).toMatchObject({ status: 'finished', outcome: 'deadline' });
    expect(run.tookMs).toBeLessThan(deadlineMs + 17_000);
    expect(run.left).toEqual([]);
    const resumed = await resume(run);
    expect(resumed.lastLine).toMatch(/\(exit 0\): 1 file changed/);
  });

  test.skipIf(SEES_NO_SIGNALS === process.execPath)(
    'in a call that does not return is killed, and can be resumed',
    async () => {
      const run = await stuckRun('a call that does not return', { signal: 'SIGTERM' });
      expect(run.lastLine).toBe(
        'patchsmith: killed by its own watchdog (exit 137): still stuck 15 s after SIGTERM. A run that has started can be continued with patchsmith resume.',
      );
      expect(run.tookMs).toBeLessThan(30_000);
      expect(run.left).toEqual([]);
      const resumed = await resume(run);
      expect(resumed.lastLine).toMatch(/\(exit 0\): 1 file changed/);
    },
  );
});
