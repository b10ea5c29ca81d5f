/** The history that a run leaves in its shadow repository, and what git says by it about the lines of the patch. */

import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, command, done, scriptedRun } from '../../support/runs/scripted-run.ts';

const SANDBOX = ['--sandbox', 'off'];

interface Blamed {
  readonly cut: string | null;
  readonly path: string;
  readonly hunks:
    | readonly {
        readonly lines: readonly {
          readonly sign: '+' | '-';
          readonly text: string;
          readonly sources: readonly { readonly by: string; readonly calls?: readonly string[] }[];
        }[];
      }[]
    | null;
}

async function blamed(runDir: string): Promise<readonly Blamed[]> {
  const { exitCode, stdout, stderr } = await runCli(['blame', runDir, '--output', 'json'], {
    cwd: temporaryFolder(),
  });
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout).files;
}

/** `+text toolu_1_0` for every changed line. */
const linesOf = (files: readonly Blamed[]) =>
  files.flatMap(({ hunks }) =>
    (hunks ?? []).flatMap(({ lines }) =>
      lines.map(
        ({ sign, text, sources }) =>
          `${sign}${text} ${sources.map(({ by, calls }) => calls?.join('+') ?? by).join()}`,
      ),
    ),
  );

async function inShadow(runDir: string, ...args: string[]): Promise<string> {
  const { stdout } = await execa('git', [`--git-dir=${join(runDir, 'shadow.git')}`, ...args]);
  return stdout;
}

const logOf = async (runDir: string) =>
  (await inShadow(runDir, 'log', '--reverse', '--format=%s', 'refs/patchsmith/run'))
    .split('\n')
    .map((line) => JSON.parse(line));

const tool = (name: string, turn: number) => ({
  ...{ by: 'tool', tool: name },
  calls: [`toolu_${turn}_0`],
  iteration: turn + 1,
});

test('git log shows the run, whatever the names of files, and git blame knows their lines', async () => {
  const repository = await makeRepository({ 'a.txt': 'one\ntwo\n' });
  const names = [
    "'line\nbreak \"quoted\\.txt'",
    "$(printf 'b\\377.txt')",
    "'100%25 b%FF.txt'",
    "':(top)x'",
    '-p',
  ];
  const add = (text: string) => names.map((name) => `echo ${text} >> ./${name}`).join('\n');
  const { runDir, stderr, exitCode } = await scriptedRun({
    repository,
    turns: [
      { calls: [call('edit_file', { path: 'a.txt', find: 'two', replace: 'zwei' })] },
      command(add('first')),
      command(add('second')),
      done,
    ],
    args: SANDBOX,
  });
  expect(exitCode, stderr).toBe(0);
  expect(await logOf(runDir)).toEqual([
    { by: 'base' },
    tool('edit_file', 0),
    tool('run_command', 1),
    tool('run_command', 2),
  ]);
  expect(
    await inShadow(runDir, 'diff', 'refs/patchsmith/run~3', 'refs/patchsmith/run', '--', 'a.txt'),
  ).toContain('-two\n+zwei');
  const files = await blamed(runDir);
  expect(files.map(({ cut }) => cut)).toEqual(Array(6).fill(null));
  const both = names.flatMap(() => ['+first toolu_1_0', '+second toolu_2_0']);
  expect(linesOf(files).sort()).toEqual([...both, '+zwei toolu_0_0', '-two toolu_0_0'].sort());
});

test('lines whose past is lost name every change of their file, and the run directory says so', async () => {
  const repository = await makeRepository({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
  const { runDir } = await scriptedRun({
    repository,
    turns: [
      command('echo two >> a.txt; echo two >> b.txt; echo else >> b.txt'),
      command('echo three >> a.txt; echo three >> b.txt'),
      done,
    ],
    args: SANDBOX,
  });
  const lost = (await execa('git', ['hash-object', '--stdin'], { input: 'one\ntwo\n' })).stdout;
  rmSync(join(runDir, 'shadow.git/objects', lost.slice(0, 2), lost.slice(2)));
  const files = await blamed(runDir);
  expect(files.map(({ path, cut }) => [path, cut?.includes('unavailable') ?? null])).toEqual([
    ['a.txt', true],
    ['b.txt', null],
  ]);
  expect(linesOf(files)).toEqual([
    '+two toolu_0_0,toolu_1_0',
    '+three toolu_0_0,toolu_1_0',
    '+two toolu_0_0',
    '+else toolu_0_0',
    '+three toolu_1_0',
  ]);
});

describe('a run directory from elsewhere', () => {
  async function recorded(): Promise<string> {
    const repository = await makeRepository({ 'a.txt': 'one\n' });
    const turns = [command('echo two >> a.txt'), command('echo three >> a.txt'), done];
    return (await scriptedRun({ repository, turns, args: SANDBOX })).runDir;
  }
  const shared = recorded();
  const copy = async () => {
    const folder = join(temporaryFolder(), 'run');
    cpSync(await shared, folder, { recursive: true });
    return folder;
  };
  const rewrite = (run: string, change: (text: string) => string) => {
    const journal = join(run, 'events.jsonl');
    writeFileSync(journal, change(readFileSync(journal, 'utf8')));
  };

  test('is not written to, and its own history says nothing', async () => {
    const run = await copy();
    const objects = () => readdirSync(join(run, 'shadow.git'), { recursive: true }).sort();
    writeFileSync(join(run, 'shadow.git/refs/patchsmith/run'), `${'0'.repeat(39)}1\n`);
    const before = objects();
    expect(linesOf(await blamed(run))).toEqual(['+two toolu_0_0', '+three toolu_1_0']);
    expect(objects()).toEqual(before);
  });

  test.each([
    ['the name of a tool', /"tool":"run_command"/g, '"tool":"x\\ndata 0\\ncommit refs/heads/planted\\n"'],
    ['a path', /"path":"a\.txt"(?=,"before)/g, '"path":"a.txt\\nreset refs/heads/planted\\n"'],
    ['a path that git refuses', /"path":"a\.txt"(?=,"before)/g, '"path":".git/config"'],
  ])('with a line break or worse in %s is read as data', async (_what, from, to) => {
    const run = await copy();
    rewrite(run, (text) => text.replace(from, to));
    const { exitCode, stderr } = await runCli(['blame', run, '--output', 'json'], { cwd: temporaryFolder() });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('attributed')]);
    expect(existsSync(join(run, 'shadow.git/refs/heads/planted'))).toBe(false);
  });

  test('with a folder in place of a content leaves lines unknown', async () => {
    const run = await copy();
    const tree = (await inShadow(run, 'rev-parse', 'refs/patchsmith/run^{tree}')).trim();
    const blob = (await execa('git', ['hash-object', '--stdin'], { input: 'one\ntwo\n' })).stdout;
    rewrite(run, (text) => text.replaceAll(blob, tree));
    const files = await blamed(run);
    expect(files.map(({ cut }) => cut?.includes('unavailable'))).toEqual([true]);
  });
});

const splice = fc.record({
  file: fc.constantFrom('a.txt', 'd/b.txt'),
  /** Where, as a part of the file. */
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  isKept: fc.boolean(),
  add: fc.integer({ min: 1, max: 4 }),
  moves: fc.boolean(),
});

test('for any sequence of edits and moves, a line names the call that wrote it, and one that is gone its remover', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(splice, { minLength: 3, maxLength: 15 }), async (splices) => {
      const files = new Map(
        ['a.txt', 'd/b.txt'].map((name) => [
          name,
          { name, lines: Array.from({ length: 30 }, (_, at) => `${name} base ${at}`) },
        ]),
      );
      const contents = [...files].map(([name, { lines }]) => [
        name,
        lines.map((line) => `${line}\n`).join(''),
      ]);
      const repository = await makeRepository(Object.fromEntries(contents));
      const removers = new Map<string, string>();
      const turns = splices.map(({ file: name, at, isKept, add, moves }, turn) => {
        const file = files.get(name);
        const place = Math.floor(at * 0.99 * (file?.lines.length ?? 0));
        const old = file?.lines[place];
        if (file === undefined || old === undefined) throw new Error('every file has lines');
        if (moves) {
          const from = file.name;
          file.name = `${turn}-${name.replace('/', '-')}`;
          return command(`mv ${from} ${file.name}`);
        }
        const added = Array.from({ length: add }, (_, nth) => `toolu_${turn}_0 wrote ${nth}`);
        if (!isKept) removers.set(old, `toolu_${turn}_0`);
        const now = isKept ? [old, ...added] : added;
        file.lines.splice(place, 1, ...now);
        const replace = now.map((line) => `${line}\n`).join('');
        return { calls: [call('edit_file', { path: file.name, find: `${old}\n`, replace })] };
      });
      const run = await scriptedRun({ repository, turns: [...turns, done], args: SANDBOX });
      expect(run.result.outcome, run.stderr).toBe('done');
      const lines = run.patch === '' ? [] : linesOf(await blamed(run.runDir));
      const wrong = lines.filter((line) => {
        const [, sign, text = '', by] = /^(.)(.*) (\S+)$/.exec(line) ?? [];
        if (sign === '+') return text.startsWith('toolu') && text.split(' ')[0] !== by;
        return removers.has(text) && removers.get(text) !== by;
      });
      expect(wrong).toEqual([]);
      const written = [...files.values()]
        .flatMap((file) => file.lines)
        .filter((line) => line.startsWith('toolu'));
      expect(lines.filter((line) => line.startsWith('+toolu'))).toHaveLength(written.length);
    }),
    { numRuns: 4 },
  );
});
