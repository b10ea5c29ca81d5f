/** A run in a folder of the repository: commands, file tools and command line have one base. */

import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, command, type ScriptedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

// The tests of the root pass; those of packages/a fail until x.txt there is right.
const MONOREPO = {
  'test.sh': 'exit 0\n',
  'x.txt': 'root\n',
  'packages/a/test.sh': 'grep -qx right x.txt\n',
  'packages/a/x.txt': 'wrong\n',
  'packages/b/x.txt': 'of b\n',
};
const FOLDER = 'packages/a';

const done = { calls: [call('finish', { status: 'done', summary: 'Done.' })] };
const fix = { calls: [call('edit_file', { path: 'x.txt', find: 'wrong', replace: 'right' })] };

async function runIn(
  folder: string,
  turns: ScriptedRun['turns'],
  { args = [], ...more }: Partial<ScriptedRun> = {},
) {
  const repository = await makeRepository(MONOREPO);
  const { root } = repository;
  const test = ['--verify', 'sh test.sh', ...args];
  const place = { root: join(root, folder) };
  const run = await scriptedRun({ repository: place, turns, args: test, ...more });
  const said = run.events.flatMap((event) =>
    event.type === 'tool.completed' && 'text' in event.outcome ? [event.outcome.text] : [],
  );
  return { ...run, root, said };
}

test.each(sampled(['worktree', 'checkout'] as const, () => 'place', 1))(
  'the tests where one stands judge the change, in the %s',
  async (place) => {
    const red = await runIn(FOLDER, [done, done], { args: ['--verify-in', place, '--fix-rounds', '1'] });
    expect(red.result.outcome, red.stderr).toBe('verify_failed');
    const green = await runIn(FOLDER, [fix, done], { args: ['--verify-in', place] });
    expect(green.result).toMatchObject({
      outcome: 'done',
      workingDirectory: FOLDER,
      changedFiles: [{ path: 'packages/a/x.txt' }],
    });
    expect(green.stderr).toContain('working directory: packages/a\n');
  },
);

test('file tools and commands agree about paths, up to the root and no further', async () => {
  const look = [
    call('run_command', { command: 'pwd; cat ../b/x.txt' }),
    call('read_file', { path: '../b/x.txt' }),
    call('list_files', { path: '..' }),
    call('search', { pattern: 'wrong' }),
    call('read_file', { path: '../../x.txt' }),
    call('read_file', { path: '../../../x.txt' }),
    call('read_file', { path: 'packages/a/x.txt' }),
  ];
  const { said, root } = await runIn(FOLDER, [{ calls: look }, fix, done]);
  expect(said.slice(0, 7)).toEqual([
    expect.stringContaining(`${root}/packages/a\nof b\n`),
    'of b\n',
    '../a/test.sh\n../a/x.txt\n../b/x.txt',
    'x.txt:1:wrong',
    'root\n',
    '"../../../x.txt" contains "..". Paths may not leave the repository.',
    '"packages" does not exist. Nearest names in ".": "test.sh", "x.txt".',
  ]);
});

test('flag, front matter and the place where one stands decide, in this order', async () => {
  const plan = join(temporaryFolder(), 'plan.md');
  writeFileSync(
    plan,
    '---\nworking_directory: packages/b\nallow: [packages/a/x.txt, packages/b/x.txt]\n---\nDo it.\n',
  );
  const write = { calls: [call('write_file', { path: 'x.txt', content: 'right\n' })] };
  const verify = { args: ['--verify', 'grep right x.txt'] };
  expect((await runIn('', [write, done], { plan, ...verify })).result.workingDirectory).toBe('packages/b');
  const flag = [...verify.args, '--working-directory', '../a'];
  const flagged = await runIn('packages/b', [write, done], { plan, args: flag });
  expect([flagged.result.workingDirectory, flagged.result.outcome]).toEqual([FOLDER, 'done']);
});

test('globs and paths of the command line are relative to where one stands', async () => {
  const both = { calls: [...fix.calls, call('write_file', { path: '../b/x.txt', content: 'no\n' })] };
  const kept = await runIn(FOLDER, [both, done], { args: ['--allow', './*.txt'] });
  expect(kept.result).toMatchObject({ outcome: 'done', changedFiles: [{ path: 'packages/a/x.txt' }] });
  expect(kept.said[1]).toContain('do not allow changes to "../b/x.txt"');
  const blamed = (path: string) =>
    runCli(['blame', kept.runDir, path], { cwd: join(kept.root, 'packages/b') });
  expect((await blamed('../a/x.txt')).stdout).toContain('packages/a/x.txt');
  expect((await blamed('x.txt')).exitCode).toBe(2);
});

test('a replay, and undo from anywhere, know where the run worked', async () => {
  const { runDir, root } = await runIn(FOLDER, [fix, command('sh test.sh && echo made > made.txt'), done]);
  const env = { XDG_STATE_HOME: temporaryFolder() };
  const replayed = await runCli(['replay', runDir], { cwd: root, env });
  expect(replayed.lastLine, replayed.stderr).toContain('replayed to the same patch, byte for byte');
  const undone = await runCli(['undo', runDir], { cwd: join(root, 'packages/b'), env });
  expect(undone.exitCode, undone.stderr).toBe(0);
  expect((await execa('git', ['status', '--porcelain'], { cwd: root })).stdout).toBe('');
});

testAtNight('each of several attempts works there', async () => {
  const turns = [fix, fix, done, done];
  const { result, stderr } = await runIn(FOLDER, turns, { args: ['--attempts', '2'] });
  expect(result, stderr).toMatchObject({ outcome: 'done', changedFiles: [{ path: 'packages/a/x.txt' }] });
});

test.each(
  sampled(
    [
      ['ln -s /tmp ../c && rm -r ../a && mv ../c ../a', 'is gone, or is behind a link'],
      ['rm -r ../../packages && ln -s /etc ../../packages', 'is gone, or is behind a link'],
      ['rm -r ../a && ln -s b ../a', 'is gone, or is behind a link'],
    ] as const,
    () => 'swap',
  ),
)('what a command puts in its place leads nowhere: %s', async (text, why) => {
  const swapped = [command(text), command('echo hi > here.txt'), done, done];
  const { result, said } = await runIn(FOLDER, swapped, { args: ['--fix-rounds', '1'] });
  expect(said[1]).toContain(why);
  expect(result.outcome).toBe('verify_failed');
  expect(result.verify[0]?.output).toContain(why);
  const off = { args: ['--fix-rounds', '1', '--sandbox', 'off'] };
  expect((await runIn(FOLDER, swapped, off)).said[1]).toContain(why);
});

test('a working directory that is none of the repository is refused', async () => {
  const { root } = await makeRepository(MONOREPO);
  symlinkSync(temporaryFolder(), join(root, 'out'));
  await execa('git', ['init', '--quiet', 'nested'], { cwd: root });
  const why = {
    'x.txt': 'is not a folder',
    out: 'is not in the checkout',
    nested: 'is in another repository',
    '.git': 'is inside a .git folder',
  };
  for (const [folder, reason] of Object.entries(why)) {
    const args = ['run', '-m', 'Do it', '--working-directory', folder];
    const env = { XDG_STATE_HOME: temporaryFolder(), ANTHROPIC_API_KEY: 'sk-ant-test' };
    const end = await runCli(args, { cwd: root, env });
    expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining(reason)]);
  }
});
