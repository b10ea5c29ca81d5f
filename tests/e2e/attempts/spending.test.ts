/** What `patchsmith usage` says of a run with several attempts: each counts once, whoever ended and however. */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { conversations } from '../../support/claude-server/conversations.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { until } from '../../support/waiting/until.ts';

const wrote = (content: string) => [
  { calls: [call('write_file', { path: 'a.txt', content })] },
  { calls: [call('finish', { status: 'done', summary: 'Done.' })] },
];

async function place() {
  const repository = await makeRepository({ 'a.txt': 'one\n' });
  const XDG_STATE_HOME = temporaryFolder();
  const env = { PATH: process.env.PATH, HOME: temporaryFolder(), XDG_STATE_HOME };
  const json = async (command: string) =>
    JSON.parse((await cliHere([command, '--json'], { cwd: '/', env })).stdout);
  const usage = () => json('usage');
  const listed = async () => (await json('runs')).runs[0]?.costUsd;
  return { repository, state: { XDG_STATE_HOME }, env, usage, listed };
}

test('a run counts once, with what all of its attempts were billed', async () => {
  const { repository, state, usage } = await place();
  const turns = conversations(wrote('ONE\n'), wrote('1\n'));
  const { server } = await scriptedRun({ repository, turns, args: ['--attempts', '2'], env: state });
  const { usage: tokens, usd } = server.bill();
  const { total, unread } = await usage();
  expect(unread).toEqual([]);
  expect(total).toMatchObject({
    ...{ runs: 1, tokens, unknownCosts: 0 },
    costUsd: expect.closeTo(usd ?? Number.NaN, 9),
  });
});

test('of a killed one the journals say it, wherever they are by then, and what is continued counts too', async () => {
  const { repository, state, env, usage, listed } = await place();
  const [write = {}, finish = {}] = wrote('ONE\n');
  const run = await scriptedRun({
    repository,
    turns: conversations(
      [write, finish],
      [{ ...write, thinking: false }, { fault: { kind: 'stall', afterEvents: null } }],
    ),
    args: ['--attempts', '2'],
    env: state,
    built: true,
    async during({ pid, server, runDir }) {
      await until('the other one waits', () => server.requests.length === 4);
      await until('the first one has ended', () => existsSync(join(runDir, 'attempts/1/changes.patch')));
      process.kill(pid, 'SIGKILL');
    },
  });
  const { runDir, server } = run;
  const billed = (await usage()).total;
  const { tokens, costUsd: usd } = billed;
  expect(usd).toBeGreaterThan(server.bill().usd ?? Number.NaN);
  expect([run.result.status, billed.estimated]).toEqual(['running', true]);
  expect((await usage()).by.plan).toMatchObject([{ name: 'Do it', runs: 1 }]);
  expect(await listed()).toBeCloseTo(usd, 9);

  // As if it had died while the first one was brought in, and then as if somebody had looked at it.
  renameSync(join(runDir, 'attempts/1/events.jsonl'), join(runDir, 'events.jsonl'));
  expect((await usage()).total).toMatchObject(billed);
  const path = join(runDir, 'result.json');
  const left = { ...run.result, status: 'finished', outcome: 'internal_error', exitCode: 1 };
  writeFileSync(path, JSON.stringify({ ...left, tokens, costUsd: 'unknown' }));
  expect((await usage()).total).toMatchObject(billed);
  renameSync(join(runDir, 'events.jsonl'), join(runDir, 'attempts/1/events.jsonl'));

  const more = await startClaudeServer({ turns: [finish], apiKey: KEY });
  onTestFinished(() => more.close());
  const words = ['resume', join(runDir, 'attempts/2'), '--repo', repository.root];
  const given = { ...env, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: more.url };
  const resumed = await cliHere(words, { cwd: repository.root, env: given });
  expect(resumed.stderr).toContain('done (exit 0)');
  const both = usd + (more.bill().usd ?? Number.NaN);
  writeFileSync(path, JSON.stringify({ ...left, tokens, costUsd: usd }));
  expect((await usage()).total).toMatchObject({ runs: 1, costUsd: expect.closeTo(both, 9) });
  expect(await listed()).toBeCloseTo(both, 9);

  // Journals of other runs say nothing of this one.
  const first = join(runDir, 'attempts/1/events.jsonl');
  mkdirSync(join(runDir, 'attempts/3'));
  const another = readFileSync(first, 'utf8').replaceAll(run.result.runId, '20260101-000000-000000');
  writeFileSync(join(runDir, 'attempts/3/events.jsonl'), another);
  expect((await usage()).total).toMatchObject({ runs: 1, costUsd: expect.closeTo(both, 9) });
});
