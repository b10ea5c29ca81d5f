import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyResult } from '../../src/engine/finish/empty-result.ts';
import { tempFolder } from './files/temp-folder.ts';
import { started } from './runs/events.ts';
import { holdingEvents, validEvents } from './runs/valid-events.ts';

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

test('what a command adds to a journal or prints is held, whatever was in it before', async () => {
  const folder = tempFolder({ 'run/events.jsonl': '{"forged":1}\ntorn' });
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
  await held(writes(join(folder, 'run'), `{"forged":1}\n${lines(start)}`), 'resume', 'run');
  await held(writes(attempt, lines(start)), '--run-dir=new');
  await held(async () => ({ stdout: `${lines(start)}{"torn` }), '--output', 'jsonl');
  for (const [work, ...args] of [
    [writes(join(folder, 'run'), `{"forged":1}\n${lines(start)}${bad}`), 'resume', 'run'],
    [writes(second, bad), '--run-dir=new'],
    [writes(other, bad)],
    [async () => ({ stdout: bad }), '--output', 'jsonl'],
  ] as const)
    await expect(held(work, ...args)).rejects.toThrow('does not describe');
});
