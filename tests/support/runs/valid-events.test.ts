import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { emptyResult } from '../../../src/engine/finish/result.ts';
import { startClaudeServer } from '../claude-server/server.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../files/repository.ts';
import { tempFolder } from '../files/temp-folder.ts';
import { started } from './events.ts';
import { cliHere } from './in-process.ts';
import { holdingEvents, isEventLine, validEvents } from './valid-events.ts';

afterAll(removeFolders);

const KEY = 'sk-ant-test-0123456789abcdef';
const call = (name: string, input: object) => ({ name, input: { ...input } });

const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const start = { ...started, seq: 1, at: 1 };

test('events and the result after them are lines of a run, and nothing else is', () => {
  expect(validEvents(lines(start, { type: 'result', ...emptyResult('r1', '0.0.0') }))).toHaveLength(2);
  for (const wrong of [
    { ...start, seq: 0 },
    { ...start, more: 1 },
    { type: 'run.started', seq: 1, at: 1 },
    { type: 'message.added', text: 'x' },
    { type: 'no.such', seq: 1, at: 1 },
  ])
    expect(() => validEvents(lines(wrong))).toThrow('does not describe');
});

test('what the published schema refuses is no line of a run either: a value too many, one missing, one of another type', async () => {
  const turns = [
    { calls: [call('read_file', { path: 'a.txt' }), call('write_file', { path: 'b.txt', content: 'b\n' })] },
    { calls: [call('run_command', { command: 'rm b.txt; exit 3' })] },
    { calls: [call('finish', { status: 'done', summary: 'Done.' })] },
  ];
  const args = ['--sandbox', 'off', '--verify', 'test -e a.txt', '--output', 'jsonl'];
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const server = await startClaudeServer({ turns, apiKey: KEY });
  onTestFinished(() => server.close());
  const env = { PATH: process.env.PATH, HOME: temporaryFolder(), ANTHROPIC_API_KEY: KEY };
  const run = await cliHere(['run', '-m', 'x', '--base-url', server.url, ...args], { cwd: root, env });
  const schema = JSON.parse(readFileSync('docs/events.schema.json', 'utf8'));
  const isDescribed = new Ajv2020({ strict: false, discriminator: false }).compile(schema);
  const all = validEvents(run.stdout);
  expect(new Set(all.map(({ type }) => type)).size, run.stderr).toBeGreaterThan(7);
  for (const line of all) expect(isDescribed(line), JSON.stringify(line)).toBe(true);
  const changed = all.flatMap(changedOnes) as object[];
  const refused = changed.filter((line) => !isDescribed(line));
  expect(refused.length).toBeGreaterThan(changed.length / 2);
  // The code refuses more: a schema cannot say what a path below the root is.
  expect(refused.filter(isEventLine)).toEqual([]);
});

/** With each value in it left out, replaced by one of another type, or by an object with one value more. */
function changedOnes(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Object.keys(value);
  const without = (key: string) => keys.filter((other) => other !== key);
  const of = (names: string[], more: object = {}) => ({
    ...Object.fromEntries(names.map((name) => [name, (value as Record<string, unknown>)[name]])),
    ...more,
  });
  const inside = keys.flatMap((key) =>
    [...changedOnes((value as Record<string, unknown>)[key]), { odd: 1 }, 'odd', -1, null].map((other) =>
      Array.isArray(value)
        ? value.map((item, at) => (String(at) === key ? other : item))
        : of(keys, { [key]: other }),
    ),
  );
  if (Array.isArray(value)) return inside;
  return [of(keys, { odd: 1 }), ...keys.map((key) => of(without(key))), ...inside];
}

test('what a command adds to a journal or prints is held, whatever was in it before', async () => {
  const folder = tempFolder({ 'run/events.jsonl': 'forged\ntorn' });
  const attempt = join(folder, 'new/attempts/1');
  const second = join(folder, 'new/attempts/2');
  const other = join(folder, 'state/patchsmith/20261121-101500-3f9a2c');
  for (const made of [attempt, second, other]) mkdirSync(made, { recursive: true });
  const command = (...args: string[]) => ({
    args,
    cwd: folder,
    env: { XDG_STATE_HOME: join(folder, 'state') },
  });
  const writes = (to: string, text: string) => async () => writeFileSync(join(to, 'events.jsonl'), text);
  const bad = lines({ ...start, more: 1 });
  const held = (work: () => Promise<unknown>, ...args: string[]) => holdingEvents(command(...args), work);
  await held(writes(join(folder, 'run'), `forged\n${lines(start)}`), 'resume', 'run');
  await held(writes(attempt, lines(start)), '--run-dir=new');
  await held(async () => ({ stdout: `${lines(start)}{"torn` }), '--output', 'jsonl');
  for (const [work, ...args] of [
    [writes(join(folder, 'run'), `forged\n${lines(start)}${bad}`), 'resume', 'run'],
    [writes(second, bad), '--run-dir=new'],
    [writes(other, bad)],
    [async () => ({ stdout: bad }), '--output', 'jsonl'],
  ] as const)
    await expect(held(work, ...args)).rejects.toThrow('does not describe');
});
