/** A run with OpenAI: by the command line, killed and resumed, and replayed. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyLive } from '../../support/files/live-copy.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { startOpenAiServer } from '../../support/openai-server/server.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { validEvents } from '../../support/runs/valid-events.ts';
import { sampled } from '../../support/setup/sample.ts';

const KEY = 'sk-test-0123456789abcdef';

test.each(sampled(['/responses', ''] as const, () => 'path'))(
  'a run at …/v1%s is resumed where it was left, and replayed',
  async (path) => {
    const { root } = await makeRepository({ 'a.txt': 'old\n' });
    const folder = temporaryFolder();
    const runDir = join(folder, 'run');
    const copy = join(folder, 'copy');
    const write = { name: 'write_file', input: { path: 'a.txt', content: 'new\n' } };
    const server = await startOpenAiServer({
      apiKey: KEY,
      isReasoning: path !== '',
      turns: (_body, index) => {
        // As a SIGKILL before the second answer would leave it.
        if (index === 1 && !existsSync(copy)) copyLive(runDir, copy);
        return index === 0 ? { calls: [write] } : { text: 'Done.' };
      },
    });
    onTestFinished(() => server.close());
    const address = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.url + path };
    const given = { cwd: root, env: { PATH: process.env.PATH, HOME: folder, ...address } };
    const flags = ['--provider', 'openai', '--model', 'local', '--sandbox', 'off', '--run-dir', runDir];
    const run = await cliHere(['run', '-m', `Do it: ${KEY}`, ...flags], given);
    expect([run.exitCode, readFileSync(join(root, 'a.txt'), 'utf8')]).toEqual([0, 'new\n']);
    const resumed = await cliHere(['resume', copy, '--provider', 'openai', '--sandbox', 'off'], given);
    expect([resumed.exitCode, resumed.stderr]).toEqual([0, expect.stringContaining('resumed after turn 1')]);
    expect(server.requests.at(-1)).toEqual(server.requests[1]);
    const replayed = await cliHere(['replay', runDir, '--sandbox', 'off'], given);
    expect(replayed.exitCode).toBe(0);
    expect(readFileSync(join(runDir, 'events.jsonl'), 'utf8')).not.toContain(KEY);
  },
);

test('a run that OpenAI ended says how it continues, with the provider', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const folder = temporaryFolder();
  const runDir = join(folder, 'run');
  const fault = { kind: 'http', status: 429, code: 'insufficient_quota' } as const;
  const server = await startOpenAiServer({ apiKey: KEY, turns: [{ fault }] });
  onTestFinished(() => server.close());
  const env = { PATH: process.env.PATH, HOME: folder, OPENAI_API_KEY: KEY };
  const flags = ['--model', 'openai/x', '--base-url', `${server.url}/responses`, '--run-dir', runDir];
  const run = await cliHere(['run', '-m', 'Do it', '--sandbox', 'off', ...flags], { cwd: root, env });
  expect(run.stderr).toContain(`patchsmith resume ${runDir} --provider openai`);
});

test('a server on this machine needs no key, and resume says that the run has ended before it misses one', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const folder = temporaryFolder();
  const runDir = join(folder, 'run');
  const server = await startOpenAiServer({ apiKey: null, isReasoning: false, turns: [{ text: 'Done.' }] });
  onTestFinished(() => server.close());
  const env = { PATH: process.env.PATH, HOME: folder };
  const flags = ['--model', 'openai/qwen3-coder', '--base-url', server.url, '--run-dir', runDir];
  const run = await cliHere(['run', '-m', 'Do it', '--sandbox', 'off', ...flags], { cwd: root, env });
  expect([run.exitCode, run.stderr]).toEqual([0, expect.not.stringContaining('OPENAI_API_KEY')]);
  const resumed = await cliHere(['resume', runDir], { cwd: root, env });
  expect([resumed.exitCode, resumed.stderr]).toEqual([
    2,
    expect.stringContaining(`has ended: no_change (exit 0)`),
  ]);
  const elsewhere = ['--model', 'openai/x', '--base-url', 'https://vllm.example.com/v1'];
  const check = await cliHere(['check', ...elsewhere], { cwd: root, env });
  expect(check.stdout).toContain('OPENAI_API_KEY is not set, and https://vllm.example.com/v1 may need none');
});

test('tokens that a server does not count are estimated, and so are those of a cut answer: result, events and last lines say it', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const folder = temporaryFolder();
  const runDir = join(folder, 'run');
  const server = await startOpenAiServer({
    apiKey: null,
    isReasoning: false,
    turns: [
      { text: 'Half an ans', fault: { kind: 'end', afterEvents: 3 } },
      { text: 'Done.', uncounted: true },
    ],
  });
  onTestFinished(() => server.close());
  const env = { PATH: process.env.PATH, HOME: folder };
  const flags = [
    '--model',
    'openai/local',
    '--base-url',
    server.url,
    '--run-dir',
    runDir,
    '--output',
    'jsonl',
  ];
  const run = await cliHere(['run', '-m', 'Do it', '--sandbox', 'off', ...flags], { cwd: root, env });
  expect(run.stderr).toMatch(
    /1 turn · [\d,]+ tokens, 0% of the prompts from the cache \(estimated\) · cost unknown/,
  );
  const lines: readonly { readonly type: string }[] = validEvents(run.stdout);
  const retried = lines.find(({ type }) => type === 'turn.retried');
  const completed = lines.find(({ type }) => type === 'turn.completed');
  const result = lines.at(-1);
  expect([retried, completed, result]).toMatchObject([
    { spent: { estimated: true } },
    { turn: { estimated: true } },
    { type: 'result', estimated: true },
  ]);
  const bytes = server.requests.map(({ body }) => Buffer.byteLength(JSON.stringify(body)));
  expect(bytes).toHaveLength(2);
  const [first = 0, second = 0] = bytes.map((count) => Math.ceil(count / 2));
  expect(result).toMatchObject({ tokens: { input: first + second, output: 8 } });
});
