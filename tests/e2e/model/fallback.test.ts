/** A second model that goes on where the first one refuses or cannot be reached. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ScriptedTurn } from '../../support/claude-server/script.ts';
import { copyLive } from '../../support/files/live-copy.ts';
import { OPENAI_KEY, twoVendors, write } from '../../support/runs/two-vendors.ts';

const PRICE = 'input=1,output=2,cache-read=1,cache-write=1,cache-write-1h=1';

const TO_OPENAI = ['--fallback-model', 'openai/gpt-5.4'];

test('another vendor takes over after a refusal, with the task and without a word of the first one', async () => {
  const { openAi, root, runDir, run, cli } = await twoVendors(
    [
      { thinking: 'Hm.', calls: [write('a.txt')] },
      { text: 'I will not.', stop: 'refusal' },
    ],
    [{ calls: [write('b.txt')] }, { text: 'Done.' }],
  );
  const { exitCode, stderr, result } = await run(...TO_OPENAI, '--price', `openai/gpt-5.4:${PRICE}`);
  expect([exitCode, result.outcome, readFileSync(join(root, 'b.txt'), 'utf8')]).toEqual([0, 'done', 'new\n']);
  expect(stderr).toMatch(
    /^warning: \[WARN_MODEL_REPLACED\] .* refused: openai\/gpt-5\.4 takes over in a separate conversation\./m,
  );
  const first = JSON.stringify(openAi.requests[0]?.body);
  expect(first).toContain('Write it');
  expect(first).toContain('[MODEL CHANGED]');
  expect(first).toContain('Changed so far: \\"a.txt\\"');
  for (const gone of ['thinking', 'tool_use', 'I will not.', 'signature']) expect(first).not.toContain(gone);
  expect(
    result.models.map(({ provider, model, turns, replaced }) => [provider, model, turns, replaced?.why]),
  ).toEqual([
    ['anthropic', 'claude-sonnet-5-5', 2, 'refusal'],
    ['openai', 'gpt-5.4', 2, undefined],
  ]);
  const [claudePart, openAiPart] = result.models;
  expect(claudePart?.costUsd).toBeGreaterThan(0);
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = openAiPart?.tokens ?? {};
  expect(openAiPart?.costUsd).toBeCloseTo((input + cacheRead + cacheWrite + 2 * output) / 1_000_000, 9);
  expect(result.costUsd).toBeCloseTo(Number(claudePart?.costUsd) + Number(openAiPart?.costUsd), 9);
  expect((claudePart?.tokens.output ?? 0) + (openAiPart?.tokens.output ?? 0)).toBe(result.tokens.output);
  expect(readFileSync(join(runDir, 'events.jsonl'), 'utf8')).not.toContain(OPENAI_KEY);
  const replayed = await cli('replay', runDir, '--sandbox', 'off');
  expect([replayed.exitCode, replayed.stderr]).toEqual([0, expect.not.stringContaining('diverged')]);
});

test('a model of the same vendor takes over after an outage, and both stay within one cap', async () => {
  const down: ScriptedTurn = { fault: { kind: 'http', status: 529 } };
  const { run, claude } = await twoVendors(
    (body) => (body.model === 'claude-opus-5-5' ? down : { text: 'Done.' }),
    [],
  );
  const flags = ['--model', 'claude-opus-5-5', '--fallback-model', 'claude-haiku-5-5', '--max-cost-usd', '2'];
  const { exitCode, result } = await run(...flags);
  expect([exitCode, result.outcome]).toEqual([0, 'no_change']);
  expect(result.models.map(({ model, replaced }) => [model, replaced?.why])).toEqual([
    ['claude-opus-5-5', 'outage'],
    ['claude-haiku-5-5', undefined],
  ]);
  expect(result.costUsd).toBe(result.models[1]?.costUsd);
  expect(claude.requests.at(-1)?.body?.model).toBe('claude-haiku-5-5');
});

test('it takes over once, and what the first model ends for another reason stays ended', async () => {
  const both = await twoVendors([{ text: 'No.', stop: 'refusal' }], [{ text: 'No.', stop: 'refusal' }]);
  const twice = await both.run(...TO_OPENAI);
  expect([twice.exitCode, twice.result.models.length]).toEqual([5, 2]);
  const wrong = await twoVendors([{ fault: { kind: 'http', status: 400, message: 'bad' } }], []);
  const ended = await wrong.run(...TO_OPENAI);
  expect([ended.exitCode, ended.result.models.length, wrong.openAi.requests.length]).toEqual([4, 1, 0]);
});

test('the model that takes over learns about a failed verification, and a killed run is resumed with it', async () => {
  const made = await twoVendors(
    [{ calls: [write('a.txt')] }, { text: 'Done.' }, { text: 'No.', stop: 'refusal' }],
    (_body, index) => {
      // As a SIGKILL before the second answer would leave it.
      if (index === 1 && !existsSync(copy)) copyLive(made.runDir, copy);
      return index === 0 ? { calls: [write('b.txt')] } : { text: 'Done.' };
    },
  );
  const copy = join(made.folder, 'copy');
  const { exitCode, result } = await made.run(...TO_OPENAI, '--verify', 'test -e b.txt');
  expect(exitCode).toBe(0);
  // No price of OpenAI is known.
  expect([result.models[1]?.costUsd, result.costUsd]).toEqual(['unknown', 'unknown']);
  expect(JSON.stringify(made.openAi.requests[0]?.body)).toContain('test -e b.txt');
  const alone = await made.cli('resume', copy, '--sandbox', 'off');
  expect([alone.exitCode, alone.stderr]).toEqual([
    2,
    expect.stringContaining('--fallback-model openai/gpt-5.4'),
  ]);
  const resumed = await made.cli('resume', copy, '--sandbox', 'off', ...TO_OPENAI);
  expect([resumed.exitCode, resumed.stderr]).toEqual([0, expect.stringContaining('resumed')]);
  expect(made.openAi.requests.at(-1)?.body).toEqual(made.openAi.requests[1]?.body);
});

test('a smaller window shortens the conversation for the fallback model', async () => {
  const content = 'word '.repeat(2_000);
  const writes = Array.from({ length: 8 }, (_, at) => ({
    calls: [{ name: 'write_file', input: { path: `${at}.txt`, content } }],
  }));
  const { run, runDir, cli } = await twoVendors([{ text: 'No.', stop: 'refusal' }], (body) =>
    JSON.stringify(body).includes('is about to be replaced by a summary')
      ? { text: 'Some files are written.' }
      : (writes.shift() ?? { text: 'Done.' }),
  );
  const { exitCode, stderr, result } = await run('--fallback-model', 'openai/gpt-3.5-turbo');
  expect([exitCode, result.outcome], stderr).toEqual([0, 'done']);
  expect(
    result.compactions.map(({ how, tokens }) => [how, tokens > 9_600 && tokens < 80_000]),
  ).toContainEqual(['summarize', true]);
  const replayed = await cli('replay', runDir, '--sandbox', 'off');
  expect([replayed.exitCode, replayed.stderr]).toEqual([0, expect.not.stringContaining('diverged')]);
});

test('what it needs is checked before anything is spent', async () => {
  const { cli } = await twoVendors([], []);
  const line = ['check', ...TO_OPENAI];
  const capped = await cli(...line, '--max-cost-usd', '1', '--price', PRICE);
  expect(capped.stdout).toContain('the price of "gpt-5.4", the fallback model, is not known');
  const priced = await cli(...line, '--max-cost-usd', '1', '--price', `gpt-5.4:${PRICE}`);
  expect(priced.stdout).not.toContain('is not known');
  const keyless = await cli('check', '--fallback-model', 'gemini/gemini-x');
  expect(keyless.stdout).toContain('GEMINI_API_KEY is not set');
});
