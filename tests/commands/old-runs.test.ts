import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockRun } from '../../src/adapters/storage/run-lock.ts';
import { notePlace } from '../../src/adapters/storage/run-places.ts';
import type { RunResult } from '../../src/domain/run/result.ts';
import { makeRepository, temporaryFolder } from '../support/files/repository.ts';
import { makePipe } from '../support/files/temp-folder.ts';
import { started } from '../support/runs/events.ts';
import { finishedRun } from '../support/runs/finished-run.ts';
import { sourcesHere } from '../support/runs/from-sources.ts';

const id = (day: number) => `202601${String(day).padStart(2, '0')}-101500-3f9a2c`;

/** A home with a folder of runs. */
function home() {
  const state = temporaryFolder();
  const runs = join(state, 'patchsmith');
  mkdirSync(runs);
  const at = (name: string) => join(runs, name);
  return {
    runs,
    at,
    env: { XDG_STATE_HOME: state },
    /** A run that ended on a day of January. */
    put(day: number, part: Partial<RunResult> = {}, folder = at(id(day))) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const result = { ...finishedRun(), runId: id(day), root: '/work/shop', ...part };
      const event = { ...started, root: '/work/shop', runId: id(day), seq: 1, at: 1 };
      writeFileSync(join(folder, 'result.json'), JSON.stringify(result));
      writeFileSync(join(folder, 'events.jsonl'), `${JSON.stringify(event)}\n`);
      const time = new Date(2026, 0, day);
      for (const name of ['result.json', 'events.jsonl']) utimesSync(join(folder, name), time, time);
      return folder;
    },
    over: async (...words: string[]) => {
      const cwd = temporaryFolder();
      const env = { PATH: process.env.PATH, HOME: cwd, XDG_STATE_HOME: state };
      const end = await sourcesHere(words, { cwd, env });
      return { ...end, lastLine: end.stderr.trimEnd().split('\n').at(-1) };
    },
  };
}

test('runs lists every run, whatever is in its folder, and those with their own --run-dir', async () => {
  const { put, at, over, env } = home();
  put(1);
  put(2, { outcome: 'verify_failed', exitCode: 9, costUsd: 'unknown', root: '/work/refused' });
  put(3, { status: 'running', outcome: null, exitCode: null });
  const letGo = await lockRun(put(4, { status: 'running', outcome: null, exitCode: null }));
  onTestFinished(() => letGo?.());
  put(5, { outcome: 'split_in_two', of: 'a newer version' } as object);
  for (const day of [6, 7, 8, 9]) mkdirSync(at(id(day)));
  writeFileSync(join(at(id(6)), 'result.json'), '{"runId":');
  makePipe(join(at(id(7)), 'result.json'));
  writeFileSync(join(at(id(8)), 'result.json'), JSON.stringify({ ...finishedRun(), runId: id(1) }));
  symlinkSync('/', join(at(id(9)), 'shadow.git'));
  symlinkSync(at(id(1)), at(id(10)));
  mkdirSync(at('not-a-run'));
  const mine = put(11, {}, join(temporaryFolder(), 'mine'));
  notePlace({ runId: id(11), path: mine, env, workTree: null });
  notePlace({ runId: id(12), path: join(mine, 'gone'), env, workTree: null });
  const { stdout, exitCode } = await over('runs', '--json');
  expect(exitCode).toBe(0);
  const { runs } = JSON.parse(stdout) as { runs: { runId: string; status: string; outcome: string }[] };
  expect(runs.find(({ runId }) => runId === id(2))).toMatchObject({ root: '/work/refused' });
  expect(runs.map(({ runId, status, outcome }) => [runId, status, outcome])).toEqual([
    [id(11), 'finished', 'done'],
    [id(9), 'unreadable', null],
    [id(8), 'unreadable', null],
    [id(7), 'unreadable', null],
    [id(6), 'unreadable', null],
    [id(5), 'finished', 'split_in_two'],
    [id(4), 'running', null],
    [id(3), 'died', null],
    [id(2), 'finished', 'verify_failed'],
    [id(1), 'finished', 'done'],
  ]);
  expect(runs[0]).toMatchObject({ path: mine, place: 'elsewhere', root: '/work/shop' });
  const table = (await over('runs')).stdout.split('\n');
  expect(table[1]).toMatch(
    /^\S+ {2}2026-01-11 10:15 {2}done +\$0\.0812 +\d+ KB +\/work\/shop +Round .* \(in /,
  );
  const page = await over('show', id(11));
  expect(page.stdout).toMatch(
    /verify:\n {2}exit 0 +8\.1 s {2}npm test\n\nfiles:\n {2}M src\/money\.ts \+12 −3\n/,
  );
  expect(JSON.parse((await over('show', id(2), '--json')).stdout).result.outcome).toBe('verify_failed');
  const newer = await over('show', id(5));
  expect([newer.exitCode, newer.lastLine]).toEqual([2, expect.stringContaining('It says: split_in_two')]);
  for (const day of [6, 7, 9]) expect((await over('show', id(day))).exitCode).toBe(2);
});

test('clean removes old finished runs, follows no link, and leaves running ones, other folders and runs elsewhere', async () => {
  const { put, at, over, env, runs } = home();
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'precious'), '');
  for (const day of [1, 2, 3]) put(day);
  symlinkSync(outside, join(at(id(1)), 'scratch'));
  mkdirSync(join(at(id(1)), 'shadow.git/closed'), { recursive: true });
  chmodSync(join(at(id(1)), 'shadow.git'), 0o500);
  put(4, { outcome: 'blocked', exitCode: 3 });
  const letGo = await lockRun(put(5));
  onTestFinished(() => letGo?.());
  symlinkSync(outside, at(id(6)));
  mkdirSync(at(id(7)));
  put(8, { runId: id(1) });
  const mine = put(9, {}, join(outside, 'mine'));
  notePlace({ runId: id(9), path: mine, env, workTree: null });
  const kept = [at(id(4)), at(id(5)), at(id(6)), at(id(7)), at(id(8)), mine, join(outside, 'precious')];

  const dry = await over('clean', '--older-than', '14d', '--keep-failed', '--dry-run');
  expect(dry.stderr).toContain(`would remove ${id(3)}  done`);
  expect(existsSync(at(id(1)))).toBe(true);
  const end = await over('clean', '--older-than', '14d', '--keep-failed', '--json');
  expect(JSON.parse(end.stdout)).toMatchObject({
    dryRun: false,
    removed: [{ runId: id(1) }, { runId: id(2) }, { runId: id(3) }],
    left: [{ runId: id(5), why: 'a process works on it' }],
  });
  expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining('[ERR_NOT_REMOVED]')]);
  expect([1, 2, 3].map((day) => existsSync(at(id(day))))).toEqual([false, false, false]);
  expect(kept.map((path) => existsSync(path))).toEqual(kept.map(() => true));
  letGo?.();
  const all = await over('clean', '--older-than', '0');
  expect([all.exitCode, existsSync(at(id(4))), existsSync(at(id(7))), existsSync(mine)]).toEqual([
    0,
    false,
    true,
    true,
  ]);
  expect((await over('clean', '--older-than', 'yesterday')).lastLine).toContain(
    'expected an age such as 14d',
  );
  expect(statSync(runs).isDirectory()).toBe(true);
});

test('clean removes what checks have kept, even if no run used it', async () => {
  const { put, at, over } = home();
  put(1);
  put(2, { outcome: 'usage_error', exitCode: 2 }, at(`checks/${id(2)}`));
  const letGo = await lockRun(put(3, { status: 'running' }, at(`checks/${id(3)}`)));
  const listed = await over('runs', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject({ runs: [{ runId: id(1) }] });
  expect(JSON.parse((await over('usage', '--json')).stdout)).toMatchObject({ unread: [] });
  const dry = await over('clean', '--older-than', '14d', '--dry-run');
  expect(dry.stderr).toContain(`would remove check ${id(2)}  usage_error`);
  letGo?.();
  const end = await over('clean', '--older-than', '14d', '--keep-failed');
  expect([end.exitCode, end.lastLine], end.stderr).toEqual([
    0,
    expect.stringMatching(/ 1 run and 2 checks \(.*\) removed; 0 runs \(0 KB\) stay\.$/),
  ]);
});

test('a run trims its default folder once an hour with a message, and one with its own folder is found as the last one', async () => {
  const { put, at, runs, env } = home();
  for (const day of [1, 2]) writeFileSync(join(put(day), 'large'), Buffer.alloc(1024 * 1024));
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const script = join(temporaryFolder(), 'script.jsonl');
  writeFileSync(script, `${JSON.stringify({ text: 'Nothing to do.' })}\n`);
  const given = { cwd: root, env: { ...env, PATH: process.env.PATH, HOME: temporaryFolder() } };
  const run = (...more: string[]) =>
    sourcesHere(
      [
        ...['run', '-m', 'Do it', '--provider', 'replay', '--recording', script, '--sandbox', 'off'],
        ...['--max-total-size', '1500k', ...more],
      ],
      given,
    );
  const first = await run();
  expect(first.stderr).toMatch(/\nremoved 1 old run \(1\.0 MB\) from .* \(--max-total-size\)\n/);
  expect([existsSync(at(id(1))), existsSync(at(id(2)))]).toEqual([false, true]);
  writeFileSync(join(put(1), 'large'), Buffer.alloc(1024 * 1024));
  const mine = join(temporaryFolder(), 'mine');
  for (const more of [[], ['--run-dir', mine]]) expect((await run(...more)).stderr).not.toContain('old run');
  expect(existsSync(at(id(1)))).toBe(true);
  expect((await sourcesHere(['show'], given)).stdout).toContain(`in ${mine} `);
  expect(
    readFileSync(
      join(runs, `${JSON.parse(readFileSync(join(mine, 'result.json'), 'utf8')).runId}.elsewhere`),
      'utf8',
    ),
  ).toBe(mine);
});
