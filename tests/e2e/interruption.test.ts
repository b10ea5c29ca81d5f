import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { makeRepository, removeFolders, temporaryFolder } from '../support/repository.ts';
import { call, scriptedRun } from '../support/scripted-run.ts';
import { makePipe } from '../support/temp-folder.ts';

afterAll(removeFolders);

const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
const long = (marker: string) => ({
  calls: [call('run_command', { command: `trap '' TERM; sleep ${marker}` })],
});

/** Waits until something is so; fails loudly when it never is. */
async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 400; i += 1) {
    if (isSo()) return;
    await wait(25);
  }
  throw new Error(`It never came to this: ${what}`);
}

function isRunning(argument: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument);
    } catch {
      return false;
    }
  });
}

describe.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s', (signal, exitCode) => {
  test('in the middle of a command: children gone, patch and result written, within 5 s', async () => {
    const marker = signal === 'SIGINT' ? '31401' : '31402';
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    let sentAt = 0;
    const finished = await scriptedRun({
      repository,
      turns: [edit, long(marker)],
      args: ['--sandbox', 'auto'],
      during: async ({ pid }) => {
        await until('the command runs', () => isRunning(marker));
        sentAt = Date.now();
        process.kill(pid, signal);
      },
    });
    expect(Date.now() - sentAt).toBeLessThan(5_000);
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
    const marker = '31403';
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
