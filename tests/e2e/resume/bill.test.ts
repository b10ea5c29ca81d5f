/** A run that is killed again and again never reports less than what its provider has billed. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { IS_FULL } from '../../support/setup/sample.ts';

const KILLS = IS_FULL ? 6 : 2;

const slow = { gapMs: 30, text: 'Some words about the work. '.repeat(40) };
const TURNS = ['two', 'three', 'four'].map((word, at) => ({
  ...slow,
  calls: [call('edit_file', { path: 'a.txt', find: ['one', 'two', 'three'][at], replace: word })],
}));

test('killed at random moments, a run counts every request, or says that it estimates', async () => {
  const { root } = await makeRepository({ 'a.txt': 'one\n' });
  const runDir = join(temporaryFolder(), 'run');
  const state = temporaryFolder();
  const server = await startClaudeServer({ turns: patient([...TURNS, { text: 'Done.' }]), apiKey: KEY });
  const { PATH = '' } = process.env;
  const env = {
    // Runs of other tests would be in a shared home.
    ...{ PATH, HOME: state },
    ...{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
  };
  const cli = (...args: string[]) =>
    execa(process.execPath, [CLI, ...args], {
      extendEnv: false,
      env,
      cwd: root,
      reject: false,
      stdin: 'ignore',
    });
  const json = async (...args: string[]) =>
    JSON.parse((await runCli([...args, '--json'], { cwd: root, env })).stdout);
  const start = ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, '--sandbox', 'off'];
  try {
    let kills = 0;
    for (let attempt = 0; ; attempt += 1) {
      const asked = server.requests.length;
      const child = cli(...(attempt === 0 ? start : ['resume', runDir, '--sandbox', 'off']));
      let isOver = false;
      void child.then(() => {
        isOver = true;
      });
      while (!isOver && server.requests.length === asked) await sleep(5);
      await Promise.race([child, sleep(kills < KILLS ? Math.random() * 250 : 60_000)]);
      // What an answer would have cost is known no better after a polite end.
      if (!isOver) child.kill(kills % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      const { exitCode, stderr } = await child;
      const { usd } = server.bill();
      const [shown, runs, usage] = [await json('show', runDir), await json('runs'), await json('usage')];
      const { costUsd, estimated } = shown.result;
      expect(costUsd).toBeGreaterThanOrEqual((usd ?? Number.NaN) - 1e-9);
      if (!estimated) expect(costUsd).toBeCloseTo(usd ?? Number.NaN, 9);
      expect(runs.runs[0].costUsd).toBeCloseTo(costUsd, 9);
      expect(usage.total).toMatchObject({ costUsd: expect.closeTo(costUsd, 9), estimated });
      if (exitCode === undefined || exitCode === 143) kills += 1;
      else {
        expect(exitCode, stderr).toBe(0);
        break;
      }
    }
    expect(kills).toBeGreaterThanOrEqual(1);
  } finally {
    await server.close();
  }
});
