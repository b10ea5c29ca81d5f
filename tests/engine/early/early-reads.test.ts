import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { sourcesHere, withHooks } from '../../support/runs/from-sources.ts';
import { type CutRun, cutRun, cutsOf } from '../../support/runs/recorded-run.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { MATRIX_MS } from '../../support/setup/sample.ts';

afterAll(removeFolders);

const FILES = {
  'a.txt': 'one\ntwo\n',
  'src/b.txt': 'b two\n',
  'src/.gitignore': '*.log\n',
  '.gitignore': 'out/\n',
};
const READS = {
  calls: [
    call('read_file', { path: 'dirty.txt' }),
    call('list_files', { path: '.' }),
    call('list_files', { path: 'src' }),
    call('search', { pattern: 'two', path: '.' }),
  ],
};
/** Rules that hide what was in view, and bring into view what was hidden. */
const WRITES = {
  calls: [
    call('write_file', { path: '.gitignore', content: 'new/\n' }),
    call('write_file', { path: 'src/new.txt', content: 'new\n' }),
  ],
};
const COMMAND = { calls: [call('run_command', { command: 'echo made > made.txt; cat src/new.txt' })] };

/** In a tree that counts as large, with uncommitted work and ignored files in it. */
function run(
  turns: Parameters<typeof cutRun>[1],
  prepare?: (root: string) => void,
  args: readonly string[] = [],
): Promise<CutRun> {
  return cutRun(FILES, turns, args, () => {}, {
    carryOut: withHooks({ manyFiles: 1 }),
    prepare(root) {
      writeFileSync(join(root, 'dirty.txt'), 'uncommitted\n');
      writeFileSync(join(root, 'src/c.log'), 'two\n');
      prepare?.(root);
    },
  });
}

function typesOf({ events }: Pick<CutRun, 'events'>): string[] {
  return events.map((event) =>
    event.type === 'tool.started' ? `${event.type} ${event.call.name}` : event.type,
  );
}

test(
  'a run reads before its baseline is known, which is recorded before it acts, and can be killed and replayed anywhere',
  async () => {
    const made = await run([READS, WRITES, COMMAND]);
    expect(made.result.outcome, made.stderr).toBe('done');
    const types = typesOf(made);
    const taken = types.indexOf('baseline.taken');
    expect(types.slice(0, 2)).toEqual(['run.started', 'turn.completed']);
    expect(types.indexOf('tool.completed')).toBeLessThan(taken);
    expect(types[taken + 1]).toBe('tool.started write_file');
    expect(types.filter((type) => type === 'baseline.taken')).toHaveLength(1);

    const [started, event] = [made.events[0], made.events[taken]];
    if (started?.type !== 'run.started' || event?.type !== 'baseline.taken') throw new Error('no base');
    expect(started.base).toEqual({
      commit: event.base.commit,
      branch: event.base.branch,
      objectFormat: 'sha1',
    });
    expect([made.result.baseTree, made.result.baseDirty]).toEqual([event.base.tree, true]);
    const shadow = join(made.runDir, 'shadow.git');
    const listed = execFileSync('git', [
      '--git-dir',
      shadow,
      'ls-tree',
      '-r',
      '--name-only',
      event.base.tree,
    ]);
    expect(String(listed)).toBe('.gitignore\na.txt\ndirty.txt\nsrc/.gitignore\nsrc/b.txt\n');

    const texts = made.events.flatMap((one) => (one.type === 'tool.completed' ? [one.outcome.text] : []));
    expect(texts[1]).toBe('.gitignore\na.txt\ndirty.txt\nsrc/.gitignore\nsrc/b.txt');
    expect(texts[2]).toBe('src/.gitignore\nsrc/b.txt');
    expect(texts[3]).toContain('src/b.txt');
    expect(texts[3]).not.toContain('c.log');

    const env = { XDG_STATE_HOME: temporaryFolder() };
    const replayed = await sourcesHere(['replay', made.runDir, '--sandbox', 'off'], {
      cwd: made.root,
      env,
    });
    expect(replayed.stderr).toContain('replayed to the same patch, byte for byte');

    // What comes later is a run like any other.
    const cuts = cutsOf(made.events.slice(0, taken + 3));
    const ends: unknown[] = [];
    for (const { seq, type } of cuts) {
      made.goBackTo(seq);
      const end = await made.resume();
      if (typeof end === 'string') throw new Error(end);
      expect(end.stderr.includes('[WARN_BASELINE_TAKEN_LATER] ')).toBe(seq <= taken);
      ends.push([type, end.result.outcome, end.patch, end.result.baseTree]);
    }
    expect(ends).toEqual(cuts.map(({ type }) => [type, 'done', made.patch, event.base.tree]));
  },
  MATRIX_MS,
);

test('a repository that no sandbox covers ends the run before its first command', async () => {
  const made = await run(
    [READS, COMMAND],
    (root) => {
      const elsewhere = temporaryFolder();
      execFileSync('git', ['init', '--quiet', elsewhere]);
      mkdirSync(join(root, 'inner'));
      symlinkSync(join(elsewhere, '.git'), join(root, 'inner/.git'));
    },
    ['--sandbox', 'required'],
  );
  expect([made.result.outcome, made.result.exitCode]).toEqual(['sandbox_unavailable', 10]);
  expect(made.result.reason).toContain('"inner/.git" cannot be hidden from commands');
  expect(typesOf(made)).not.toContain('tool.started run_command');
  expect(existsSync(join(made.root, 'made.txt'))).toBe(false);
});

test('a journal with changes and no baseline is not continued', async () => {
  const made = await run([WRITES]);
  const journal = join(made.runDir, 'events.jsonl');
  const lines = readFileSync(journal, 'utf8').split('\n');
  made.goBackTo(made.events.findIndex(({ type }) => type === 'tool.completed') + 1);
  const kept = lines.slice(0, made.events.findIndex(({ type }) => type === 'tool.completed') + 1);
  const forged = kept.filter((line) => !line.includes('"baseline.taken"'));
  const renumbered = forged.map((line, at) => line.replace(/"seq":\d+/, `"seq":${at + 1}`));
  writeFileSync(journal, `${renumbered.join('\n')}\n`);
  expect(await made.resume()).toMatch(/^\[ERR_NO_SNAPSHOT\] The journal has changes without the baseline/);
});
