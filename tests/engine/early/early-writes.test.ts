import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { BaselineStage } from '../../../src/adapters/workspace/snapshot/snapshot.ts';
import { checkTime } from '../../../src/files/time-limit.ts';
import { filesBelow } from '../../adapters/workspace/scratch-checkout.ts';
import { removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { sourcesHere, withHooks } from '../../support/runs/from-sources.ts';
import { type CutRun, cutRun, cutsOf } from '../../support/runs/recorded-run.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { MATRIX_MS } from '../../support/setup/sample.ts';

afterAll(removeFolders);

const FILES = { 'a.txt': 'one\ntwo\n', 'src/b.txt': 'b two\n', '.gitignore': 'out/\n' };
const NEW = { path: 'src/new.txt', content: 'new\n' };
const FIRST = {
  calls: [
    call('edit_file', { path: 'a.txt', find: 'two', replace: 'three' }),
    call('write_file', NEW),
    call('write_file', { path: 'dirty.txt', content: 'changed\n' }),
  ],
};
const SECOND = { calls: [call('write_file', { path: 'src/new.txt', content: 'newer\n' })] };
const COMMAND = { calls: [call('run_command', { command: 'cat src/new.txt > made.txt' })] };

/** In a tree that counts as large; the baseline is held up until the model is asked for its third answer. */
function run(
  turns: Parameters<typeof cutRun>[1],
  prepare: (root: string) => void = () => undefined,
  args: readonly string[] = [],
  until: BaselineStage = 'compared',
): Promise<CutRun> {
  let release = () => {};
  const held = new Promise<void>((go) => {
    release = go;
  });
  const goOn = (_: string, answer: number) => {
    if (answer >= 2) release();
  };
  return cutRun(FILES, turns, args, goOn, {
    carryOut: withHooks({
      manyFiles: 1,
      atStage: (stage) => (stage === until ? held : Promise.resolve()),
    }),
    prepare(root) {
      writeFileSync(join(root, 'dirty.txt'), 'uncommitted\n');
      mkdirSync(join(root, 'empty'));
      prepare(root);
    },
  });
}

function typesOf({ events }: Pick<CutRun, 'events'>): string[] {
  // When a host is named first is a matter of time.
  const others = events.filter(({ type }) => type !== 'network.used');
  return others.map((event) =>
    event.type === 'tool.started' ? `${event.type} ${event.call.name}` : event.type,
  );
}

function undo(made: CutRun, ...flags: string[]) {
  return sourcesHere(['undo', made.runDir, ...flags], {
    cwd: made.root,
    env: { XDG_STATE_HOME: temporaryFolder() },
  });
}

test(
  'a run writes before its baseline is known, and can be killed, continued, undone and replayed anywhere',
  async () => {
    let original = {};
    const made = await run([FIRST, SECOND, COMMAND], (root) => {
      original = filesBelow(root);
    });
    expect(made.result.outcome, made.stderr).toBe('done');
    const types = typesOf(made);
    expect(types.slice(0, types.indexOf('baseline.taken'))).toEqual([
      ...['run.started', 'turn.completed', 'baseline.noted'],
      ...['tool.started edit_file', 'tool.started write_file', 'tool.started write_file'],
      ...['change.recorded', 'change.recorded', 'change.recorded'],
      ...['tool.completed', 'tool.completed', 'tool.completed', 'turn.completed'],
      ...['tool.started write_file', 'change.recorded', 'tool.completed', 'turn.completed'],
    ]);
    const shadow = join(made.runDir, 'shadow.git');
    const { baseTree } = made.result;
    const args = ['--git-dir', shadow, 'ls-tree', '-r', '--name-only', baseTree ?? ''];
    expect(String(execFileSync('git', args))).toBe('.gitignore\na.txt\ndirty.txt\nsrc/b.txt\n');
    expect(made.patch).toContain('+newer');

    const env = { XDG_STATE_HOME: temporaryFolder() };
    const replayed = await sourcesHere(['replay', made.runDir, '--sandbox', 'off'], { cwd: made.root, env });
    expect(replayed.stderr).toContain('replayed to the same patch, byte for byte');

    // All three have been written, and not all of them are recorded.
    const isAmid = ({ seq }: { seq: number }) => [7, 8].includes(seq);
    const ends: unknown[] = [];
    const cuts = cutsOf(made.events);
    for (const { seq, type } of cuts) {
      made.goBackTo(seq);
      const left = filesBelow(made.root);
      const undone = await undo(made);
      ends.push([seq, type, undone.exitCode]);
      expect(filesBelow(made.root)).toEqual(isAmid({ seq }) ? left : original);
      made.goBackTo(seq);
      const end = await made.resume();
      ends.push(typeof end === 'string' ? end : [end.result.outcome, end.patch, end.result.baseTree]);
      expect((await undo(made)).exitCode).toBe(0);
      expect(filesBelow(made.root)).toEqual(original);
    }
    expect(ends).toEqual(
      cuts.flatMap((event) => [
        [event.seq, event.type, isAmid(event) ? 2 : 0],
        ['done', made.patch, baseTree],
      ]),
    );
  },
  MATRIX_MS,
);

test('a run that is killed within an early write knows what it has written', async () => {
  let original: Record<string, string> = {};
  const made = await run([FIRST, SECOND, COMMAND], (root) => {
    original = filesBelow(root);
  });
  const started = made.events.find(
    (event) => event.type === 'tool.started' && event.call.name === 'write_file',
  );
  const within = () => {
    made.goBackTo(started?.seq ?? 0);
    writeFileSync(join(made.root, NEW.path), NEW.content);
    writeFileSync(join(made.root, 'src/.patchsmith-0123456789abcdef.tmp'), 'half');
  };
  within();
  expect(await undo(made)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Changed since the last record, by that or by someone else: src/new.txt'),
  });
  within();
  const end = await made.resume();
  if (typeof end === 'string') throw new Error(end);
  expect([end.result.outcome, end.patch, end.result.baseTree]).toEqual([
    'done',
    made.patch,
    made.result.baseTree,
  ]);
  expect((await undo(made)).exitCode).toBe(0);
  expect(filesBelow(made.root)).toEqual(original);
});

test('a write that waited for its content alone is reverted as well', async () => {
  const calls = [
    call('edit_file', { path: 'a.txt', find: 'two', replace: 'three' }),
    call('write_file', { path: 'src/new.txt', content: 'win\r\n' }),
  ];
  let root = '';
  const made = await cutRun(FILES, [{ calls }, COMMAND], ['--sandbox', 'required'], undefined, {
    carryOut: withHooks({
      manyFiles: 1,
      async atStage(stage) {
        while (stage === 'compared' && !readFileSync(join(root, 'a.txt'), 'utf8').includes('three'))
          await setImmediate();
      },
    }),
    prepare(made) {
      root = made;
      const elsewhere = temporaryFolder();
      execFileSync('git', ['init', '--quiet', elsewhere]);
      execFileSync('git', ['config', 'core.autocrlf', 'true'], { cwd: root });
      mkdirSync(join(root, 'inner'));
      symlinkSync(join(elsewhere, '.git'), join(root, 'inner/.git'));
    },
  });
  expect(made.result).toMatchObject({ outcome: 'sandbox_unavailable', changedFiles: [] });
  expect(typesOf(made).filter((type) => /^(?:baseline|change)/.test(type))).toEqual([
    ...['baseline.noted', 'change.recorded', 'change.recorded'],
    ...['change.recorded', 'change.recorded'],
  ]);
  expect(made.stderr).toContain('Reverted: "a.txt", "src/new.txt"');
  expect(existsSync(join(made.root, 'src/new.txt'))).toBe(false);
  expect(readFileSync(join(made.root, 'a.txt'), 'utf8')).toBe(FILES['a.txt']);
});

test('what was written before a baseline that cannot be taken is reverted', async () => {
  let original: Record<string, string> = {};
  const keep = (root: string) => {
    original = filesBelow(root);
  };
  const uncovered = await run(
    [FIRST, SECOND, COMMAND],
    (root) => {
      const elsewhere = temporaryFolder();
      execFileSync('git', ['init', '--quiet', elsewhere]);
      mkdirSync(join(root, 'inner'));
      symlinkSync(join(elsewhere, '.git'), join(root, 'inner/.git'));
      keep(root);
    },
    ['--sandbox', 'required'],
  );
  expect([uncovered.result.outcome, uncovered.result.exitCode]).toEqual(['sandbox_unavailable', 10]);
  const unusable = await run(
    [FIRST, SECOND, COMMAND],
    (root) => {
      mkdirSync(join(root, 'lib'));
      writeFileSync(join(root, 'lib/.gitignore'), '# \n'.repeat(2 ** 24));
    },
    [],
    'begun',
  );
  expect(unusable.result.outcome).toBe('usage_error');
  for (const made of [uncovered, unusable]) {
    expect(typesOf(made)).toContain('change.recorded');
    expect(typesOf(made)).not.toContain('tool.started run_command');
    expect(made.result).toMatchObject({ changedFiles: [] });
    expect(made.patch).toBe('');
    expect(made.stderr).toContain('Reverted: "a.txt", "src/new.txt", "dirty.txt"');
    expect(readFileSync(join(made.root, 'a.txt'), 'utf8')).toBe(FILES['a.txt']);
    expect(readFileSync(join(made.root, 'dirty.txt'), 'utf8')).toBe('uncommitted\n');
  }
  expect(filesBelow(uncovered.root)).toEqual(original);
});

test('a run that is stopped before its baseline keeps what it has written, to be continued or undone', async () => {
  let original: Record<string, string> = {};
  const signals = new AbortController();
  const stop = (_: string, answer: number) => {
    if (answer >= 2) signals.abort({ cause: 'signal', signal: 'SIGTERM' });
  };
  const made = await cutRun(FILES, [FIRST, SECOND, COMMAND], [], stop, {
    interrupt: signals.signal,
    carryOut: withHooks({
      manyFiles: 1,
      async atStage(stage) {
        for (; stage === 'compared'; checkTime()) await setImmediate();
      },
    }),
    prepare(root) {
      writeFileSync(join(root, 'dirty.txt'), 'uncommitted\n');
      original = filesBelow(root);
    },
  });
  expect(made.result.outcome, made.stderr).toBe('interrupted');
  expect([made.patch, made.result.baseTree]).toEqual(['', null]);
  expect(made.stderr).toContain('[WARN_LOOK_CUT_SHORT] ');
  expect(typesOf(made)).not.toContain('baseline.taken');
  expect(filesBelow(made.root)).toMatchObject({
    'src/new.txt': 'file newer\n',
    'dirty.txt': 'file changed\n',
  });
  const end = await made.resume({ interrupt: new AbortController().signal });
  if (typeof end === 'string') throw new Error(end);
  expect([end.result.outcome, end.result.baseDirty]).toEqual(['done', true]);
  expect(end.patch).toContain('-uncommitted\n+changed\n');
  expect((await undo(made)).exitCode).toBe(0);
  expect(filesBelow(made.root)).toEqual(original);
});
