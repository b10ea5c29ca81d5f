import { describe, expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { runAction } from '../../support/jobs/action-runner.ts';
import { blockable, SEES_NO_SIGNALS } from '../../support/machine/blocked-thread.ts';
import { isRunning, oddSeconds } from '../../support/machine/processes.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { until } from '../../support/waiting/until.ts';

/** The action, whose main thread is blocked while a command runs and then gets the signal, if one is given. */
async function stuckAction(node: string, { signal, deadline = '' }: Stuck) {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const marker = oddSeconds();
  const { block, env } = blockable('an endless loop');
  const turns = [
    { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
    { calls: [call('run_command', { command: `sleep ${marker}` })] },
  ];
  const server = await startClaudeServer({ turns, apiKey: KEY });
  try {
    const inputs = { plan: 'Do it', 'api-key': KEY, 'base-url': server.url, deadline };
    const during = async ({ pid }: { pid: number }) => {
      await until('the command runs', () => isRunning(marker));
      block();
      if (signal === undefined) return;
      await wait(200);
      process.kill(pid, signal);
      // Where threads see no signals, the first one after three seconds of processor time ends the process.
      if (node === SEES_NO_SIGNALS) await until('another signal has ended it', () => !isSent(pid, signal));
    };
    const end = await runAction({ workspace: root, inputs, env, node, during });
    return { ...end, isCommandLeft: isRunning(marker) };
  } finally {
    await server.close();
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** False if the process has ended. */
function isSent(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

interface Stuck {
  readonly signal?: NodeJS.Signals;
  readonly deadline?: string;
}

const NODES = [...new Set([process.execPath, SEES_NO_SIGNALS ?? process.execPath])];

describe.each(NODES)('the action with %s, when its main thread is stuck', (node) => {
  test('ends by SIGTERM, with its outputs, and the post step follows', async () => {
    const end = await stuckAction(node, { signal: 'SIGTERM' });
    expect([end.isCommandLeft, end.post.exitCode]).toEqual([false, 0]);
    if (node === SEES_NO_SIGNALS) {
      expect([end.signal, end.outputs.outcome, end.outputs.resumable]).toEqual([
        'SIGTERM',
        'internal_error',
        'true',
      ]);
      return;
    }
    expect(end.lastLine).toMatch(
      /^patchsmith: interrupted \(exit 143\) \[ERR_INTERRUPTED\]: Stopped by SIGTERM;/,
    );
    expect([end.exitCode, end.outputs.outcome, end.outputs['exit-code']]).toEqual([
      143,
      'interrupted',
      '143',
    ]);
  });
});
