import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLog } from '../../../src/adapters/sinks/log.ts';
import { redactorFor } from '../../../src/domain/secrets/redact.ts';
import { emptyResult } from '../../../src/engine/finish/result.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { completed, turn } from '../../support/runs/events.ts';

const linesOf = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const options = {
  level: 'info',
  people: { level: 'silent', print: () => undefined },
  runId: 'r1',
  iteration: 4,
};

async function logged(
  level: string,
  path = join(tempFolder(), 'patchsmith.log'),
): Promise<Record<string, unknown>[]> {
  const log = await openLog({ ...options, path, level, redact: redactorFor(['se"cret-value']) });
  const usage = { input: 10, output: 5, cacheRead: 30, cacheWrite: 0, cacheWrite1h: 0 };
  log.accept({ ...turn({ text: 'model text', usage }), seq: 1, at: 1 });
  log.accept({ ...completed('a', 'file content'), seq: 2, at: 2 });
  log.accept({ type: 'warning.raised', message: 'x se"cret-value', seq: 3, at: 3 });
  log.close({ ...emptyResult('r', '0'), outcome: 'done', exitCode: 0 });
  return path.startsWith('/dev') ? [] : linesOf(path);
}

test('one line an event, without what files and the model say, and without secrets', async () => {
  const lines = await logged('info');
  expect(lines.map(({ msg, level }) => [msg, level])).toEqual([
    ['turn.completed', 30],
    ['tool.completed', 30],
    ['warning.raised', 40],
    ['result', 30],
  ]);
  expect(lines[0]).toMatchObject({ run: 'r1', iteration: 5, seq: 1, stop: 'end_turn', cachedShare: 0.75 });
  expect(lines[1]).toMatchObject({ run: 'r1', iteration: 5, call: 'a' });
  expect(lines[2]).toMatchObject({ message: 'x ***' });
  expect(JSON.stringify(lines)).not.toMatch(/model text|file content/);
});

test('the level decides how much: whole events, warnings only, or nothing', async () => {
  expect(JSON.stringify(await logged('debug'))).toContain('file content');
  expect((await logged('warn')).map(({ msg }) => msg)).toEqual(['warning.raised']);
  expect(await logged('silent')).toEqual([]);
});

test('a line names a hundred of the paths that a command has changed', async () => {
  const path = join(tempFolder(), 'patchsmith.log');
  const log = await openLog({ ...options, path, redact: redactorFor([]) });
  const source = { by: 'setup' } as const;
  const before = { mode: '100644', blob: '0'.repeat(40), size: 1 } as const;
  const changes = Array.from({ length: 250 }, (_, at) => ({
    path: `${at}.txt`,
    kind: 'delete' as const,
    before,
    after: null,
    source,
    iteration: 0,
  }));
  log.accept({ type: 'change.recorded', changes, seq: 1, at: 1 });
  log.close(emptyResult('r', '0'));
  const [line] = linesOf(path);
  expect(line).toMatchObject({ msg: 'change.recorded', morePaths: 150 });
  expect(line?.paths).toHaveLength(100);
});

test('a log that cannot be written stops nothing', async () => {
  await expect(logged('info', '/dev/full')).resolves.toEqual([]);
});

test('lines for people have time, level and source, and a separate log level', async () => {
  const lines: string[] = [];
  const people = { level: 'info', print: (line: string) => void lines.push(line) };
  const path = join(tempFolder(), 'patchsmith.log');
  const log = await openLog({
    ...options,
    path,
    level: 'silent',
    people,
    redact: redactorFor(['se"cret-value']),
  });
  log.accept({ ...completed('call-1', 'file content'), seq: 2, at: 2 });
  log.accept({ type: 'warning.raised', message: 'x se"cret-value\ny', seq: 3, at: 3 });
  log.close({ ...emptyResult('r', '0'), outcome: 'done', exitCode: 0, reason: 'Fine.' });
  expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, 'TIME '))).toEqual([
    'TIME INF tool: completed run=r1 seq=2 iteration=4 call=call-1 status=ok durationMs=1',
    'TIME WRN warning: raised run=r1 seq=3 iteration=4 message="x ***\\ny"',
    'TIME INF result: run=r1 outcome=done exitCode=0 reason=Fine.',
  ]);
  expect(linesOf(path)).toEqual([]);
});
