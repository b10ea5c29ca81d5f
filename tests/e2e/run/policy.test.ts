import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { checkoutOf, runCli } from '../../support/runs/cli.ts';
import { cutRun, cutsOf, type RunEnd } from '../../support/runs/recorded-run.ts';
import { call, command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { MATRIX_MS } from '../../support/setup/sample.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';

const FILES = {
  'src/a.txt': 'a\n',
  'docs/one.md': 'one\n',
  'docs/deep/two.md': 'two\r\n',
  'docs/tool.sh': '#!/bin/sh\n',
  'kept.txt': 'kept\n',
};

/** Every file and link below a folder, without `.git`: mode, and bytes or target. */
function treeOf(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !path.startsWith('.git/'));
  return Object.fromEntries(
    entries.sort().map((path) => {
      const stat = lstatSync(join(root, path));
      if (stat.isSymbolicLink()) return [path, `-> ${readlinkSync(join(root, path))}`];
      return [path, `${(stat.mode & 0o111) === 0 ? '' : 'x '}${readFileSync(join(root, path), 'latin1')}`];
    }),
  );
}

const toolTexts = ({ events }: Pick<RunEnd, 'events'>) =>
  events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));

async function replayed({ runDir }: Pick<FinishedRun, 'runDir'>): Promise<string> {
  const env = { XDG_STATE_HOME: temporaryFolder() };
  return (await runCli(['replay', runDir, '--repo', checkoutOf(runDir)], { cwd: temporaryFolder(), env }))
    .lastLine;
}

describe('changes by commands to protected paths are reverted:', () => {
  const ways = [
    ['a file rewritten', 'echo x > docs/one.md'],
    ['CRLF rewritten as LF', 'printf "two\\n" > docs/deep/two.md'],
    ['a file deleted with its folder', 'rm -r docs/deep'],
    ['all of it deleted', 'rm -r docs'],
    ['an executable bit', 'chmod +x docs/tool.sh'],
    ['a new file', 'echo x > docs/new.md'],
    ['new files in new folders', 'mkdir -p docs/x/y; echo x > docs/x/y/z; ln -s / docs/x/link'],
    ['a name with a newline', 'echo x > "docs/$(printf "a\\nb")"'],
    ['a name that is not UTF-8', 'echo x > "docs/$(printf "\\377")"'],
    ['a file made a link', 'ln -sf /etc/passwd docs/one.md'],
    ['a folder made a link', 'mv docs elsewhere; ln -s elsewhere docs; rm -r elsewhere'],
    ['a folder made a file', 'rm -r docs; echo x > docs'],
    ['a file made a folder', 'rm docs/one.md; mkdir docs/one.md; echo x > docs/one.md/x'],
    ['a file moved out', 'mv docs/one.md src/one.md; rm src/one.md'],
    ['a file moved in', 'cp src/a.txt docs/a.txt'],
    ['a hard link written through', 'ln docs/one.md src/l; echo x >> src/l; rm src/l'],
  ] as const;

  test('in whatever way', async () => {
    const repository = await makeRepository(FILES);
    const before = treeOf(repository.root);
    const turns = [...ways.map(([, text]) => command(`${text}; echo changed > src/a.txt`)), done];
    const run = await scriptedRun({ repository, turns, args: ['--protect', 'docs'] });
    expect([run.result.outcome, run.exitCode], run.stderr).toEqual(['done', 0]);
    expect(treeOf(repository.root)).toEqual({ ...before, 'src/a.txt': 'changed\n' });
    expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['src/a.txt']);
    expect(run.result.putBack.map(({ by }) => by)).toContain('tool');
    const told = 'Reverted by the runner, because these paths must not change: "docs';
    const isReverted = toolTexts(run).map((text) => text.includes(told));
    expect(ways.filter((_, at) => isReverted[at] !== true).map(([what]) => what)).toEqual([]);
    expect(run.stderr).toContain(
      'warning: [WARN_PUT_BACK] Commands changed paths that must not change; reverted: docs',
    );
    expect(await replayed(run)).toContain('replayed to the same patch, byte for byte');
  });

  test('anything in the place of a protected path is removed to restore it', async () => {
    const repository = await makeRepository(FILES);
    const before = treeOf(repository.root);
    const text =
      'rm docs/one.md kept.txt; mkdir docs/one.md; echo x > docs/one.md/free; rm -r docs/deep; echo x > docs/deep';
    const args = ['--protect', '/docs/one.md/', '--protect', '/docs/deep/', '--protect', 'one.md'];
    const run = await scriptedRun({ repository, turns: [command(text), done], args });
    const { 'kept.txt': _gone, ...kept } = before;
    expect(treeOf(repository.root)).toEqual(kept);
    expect(run.result.changedFiles.map(({ path, kind }) => [path, kind])).toEqual([['kept.txt', 'delete']]);
  });
});

test('no change stays outside of what both the plan and the settings allow', async () => {
  const repository = await makeRepository(FILES);
  const plan = join(temporaryFolder(), 'plan.md');
  writeFileSync(
    plan,
    '---\nallow: [src, docs]\nverify: ["echo verified | tee -a kept.txt > src/log.txt"]\n---\nDo it.\n',
  );
  repository.write('.patchsmith.yml', 'allow: [src, kept.txt]\nprotect: ["*.secret"]\n');
  const before = treeOf(repository.root);
  const turns = [
    command(
      `for f in src/a.txt src/b.secret docs/one.md kept.txt other.txt; do echo x > $f; done; echo '*' > .gitignore; echo '*.secret' > src/.gitignore; exit 3`,
    ),
    { calls: [call('write_file', { path: 'docs/one.md', content: 'x' })] },
    done,
  ];
  const run = await scriptedRun({ repository, turns, plan });
  expect(run.result.outcome, run.stderr).toBe('done');
  expect(treeOf(repository.root)).toEqual({
    ...before,
    'src/.gitignore': '*.secret\n',
    'src/a.txt': 'x\n',
    'src/log.txt': 'verified\n',
  });
  expect(run.result.putBack).toEqual([
    { path: '.gitignore', by: 'tool' },
    { path: 'docs/one.md', by: 'tool' },
    { path: 'kept.txt', by: 'verify' },
    { path: 'other.txt', by: 'tool' },
    { path: 'src/b.secret', by: 'tool' },
  ]);
  expect(toolTexts(run)).toEqual([
    expect.stringMatching(
      /exit code 3[\s\S]*\n\nReverted by the runner, because these paths must not change: ".gitignore", "docs\/one.md", "kept.txt", "other.txt", "src\/b.secret"\./,
    ),
    'The plan and the settings do not allow changes to "docs/one.md". Leave it as it is.',
  ]);
  expect(await replayed(run)).toContain('replayed to the same patch');
  const { exitCode } = await runCli(['undo', run.runDir], { cwd: repository.root });
  expect([exitCode, treeOf(repository.root)]).toEqual([0, before]);
});

test('uncommitted work on a protected path comes back as it was before the command', async () => {
  const repository = await makeRepository(FILES);
  repository.write('docs/one.md', 'mine\n', 0o755);
  repository.write('docs/untracked.md', 'mine too\r\nof both kinds\n');
  const before = treeOf(repository.root);
  const turns = [command('rm docs/one.md; echo x > docs/untracked.md'), done];
  const run = await scriptedRun({ repository, turns, args: ['--protect', 'docs'] });
  expect([run.result.outcome, treeOf(repository.root)]).toEqual(['no_change', before]);
});

testAtNight('a flag’s globs replace the project file’s, and a negated one is refused', async () => {
  const repository = await makeRepository({ ...FILES, '.patchsmith.yml': 'protect: ["!docs"]\n' });
  const run = await runCli(['run', '-m', 'x', '--allow', ''], { cwd: repository.root });
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toContain('.patchsmith.yml:1: protect: the glob "!docs" cannot be negated');
});

describe('a run with protected paths that was killed', () => {
  testAtNight(
    'after any event is carried on to the same patch and the same tree',
    async () => {
      const turns = [
        command('echo x > docs/one.md; rm -r docs/deep; echo x > src/a.txt'),
        command('echo more >> kept.txt; echo y > src/b.txt'),
      ];
      const verify = 'echo v > docs/v; echo v > log.txt';
      const run = await cutRun(FILES, turns, [
        '--protect',
        'docs',
        '--protect',
        'kept.txt',
        '--verify',
        verify,
      ]);
      expect(run.result.outcome, run.stderr).toBe('done');
      const after = treeOf(run.root);
      const cuts = cutsOf(run.events);
      const ends: unknown[] = [];
      for (const { seq, type } of cuts) {
        run.goBackTo(seq);
        const end = await run.resume();
        if (typeof end === 'string') throw new Error(`${seq} ${type} ${end}`);
        ends.push([seq, type, end.result.outcome, end.patch, treeOf(run.root)]);
      }
      expect(ends).toEqual(cuts.map(({ seq, type }) => [seq, type, 'done', run.patch, after]));
    },
    MATRIX_MS,
  );

  test('while paths were being reverted reverts the rest, and leaves no trace', async () => {
    const run = await cutRun(
      FILES,
      [command('rm -r docs/deep; echo x > docs/one.md')],
      ['--protect', 'docs'],
    );
    run.goBackTo(run.events.find(({ type }) => type === 'tool.started')?.seq ?? 0);
    execFileSync('rm', ['-r', join(run.root, 'docs/deep')]);
    writeFileSync(join(run.root, 'docs/.patchsmith-0123456789abcdef.tmp'), 'on');
    const end = await run.resume();
    if (typeof end === 'string') throw new Error(end);
    expect([end.result.outcome, treeOf(run.root)]).toEqual([
      'no_change',
      treeOf((await makeRepository(FILES)).root),
    ]);
    expect(end.result.putBack).toEqual([
      { path: 'docs/deep/two.md', by: 'tool' },
      { path: 'docs/one.md', by: 'tool' },
    ]);
  });

  test('a command that the deadline cut short is replayed with what it had done', async () => {
    const turns = [command('echo x > docs/one.md; echo x > src/a.txt; sleep 600'), done];
    const before = treeOf((await makeRepository(FILES)).root);
    const { run, after } = await withEnoughTime(
      async (limitMs) => {
        const repository = await makeRepository(FILES);
        const args = ['--protect', 'docs', '--deadline', `${limitMs / 1000}s`];
        const run = await scriptedRun({ repository, turns, args });
        return { run, after: treeOf(repository.root) };
      },
      ({ after }) => after['src/a.txt'] === 'x\n',
    );
    expect([run.result.outcome, after]).toEqual(['deadline', { ...before, 'src/a.txt': 'x\n' }]);
    expect(await replayed(run)).toContain('replayed to the same patch');
  });
});
