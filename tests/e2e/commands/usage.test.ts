import { expect, onTestFinished, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';

test('usage says of a run what the API has billed for it, resumed or replayed', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const env = { PATH: process.env.PATH, HOME: temporaryFolder(), XDG_STATE_HOME: temporaryFolder() };
  const write = { calls: [call('write_file', { path: 'a.txt', content: 'b\n' })] };
  const args = ['--sandbox', 'off', '--max-iterations', '1'];
  const state = { XDG_STATE_HOME: env.XDG_STATE_HOME };
  const run = await scriptedRun({ repository, turns: [write], args, env: state });
  expect(run.lastLine).toContain('limit_reached');
  const usage = async (...words: string[]) =>
    JSON.parse((await cliHere(['usage', '--json', ...words], { cwd: repository.root, env })).stdout);
  const { usage: tokens, usd } = run.server.bill();
  const first = await usage();
  expect(first.total).toMatchObject({ runs: 1, tokens, costUsd: expect.closeTo(usd ?? Number.NaN, 8) });
  expect(first.by.plan[0]).toMatchObject({ name: 'Do it', runs: 1, unknownCosts: 0 });

  const replay = ['replay', run.runDir, '--sandbox', 'off'];
  const replayed = await cliHere(replay, { cwd: repository.root, env });
  expect([replayed.exitCode, replayed.stderr]).toEqual([0, expect.stringContaining('same patch')]);
  expect(await usage()).toMatchObject({ total: first.total, replays: 1 });

  const again = { ...env, ANTHROPIC_API_KEY: KEY };
  const more = await startClaudeServer({ turns: [{ text: 'Done.' }], apiKey: KEY });
  onTestFinished(() => more.close());
  const resume = ['resume', run.runDir, '--max-iterations', '9', '--sandbox', 'off', '--base-url', more.url];
  const resumed = await cliHere(resume, { cwd: repository.root, env: again });
  expect(resumed.stderr).toContain('done (exit 0)');
  const both = (usd ?? 0) + (more.bill().usd ?? Number.NaN);
  expect((await usage()).total).toMatchObject({ runs: 1, costUsd: expect.closeTo(both, 8) });
});
