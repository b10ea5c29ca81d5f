import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const LARGE = 8 * 1024 * 1024 + 1;
const SANDBOX = ['--sandbox', 'off'];

test('a run directory keeps what the repository does not have, within bounds, and undo, blame and replay do with it', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n', 'other.txt': 'never touched\n' });
  const { root } = repository;
  repository.write('staged.txt', 'staged\n');
  await repository.git('add', 'staged.txt');
  repository.write('small.txt', 'small and untracked\n');
  repository.write('large.bin', randomBytes(LARGE));
  const doomed = randomBytes(LARGE);
  repository.write('doomed.bin', doomed);
  const run = await scriptedRun({
    repository,
    turns: [
      {
        calls: [
          call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' }),
          call('run_command', { command: 'rm doomed.bin' }),
        ],
      },
      { text: 'Done.' },
    ],
    args: SANDBOX,
  });
  expect(run.result.outcome, run.stderr).toBe('done');
  expect(run.result.warnings).toContain(
    '[WARN_UNCOMMITTED_NOT_KEPT] 1 large uncommitted file that the run did not change is not kept: "large.bin".',
  );
  rmSync(join(run.runDir, 'shadow.git/objects/info/alternates'));
  const shadow = `--git-dir=${join(run.runDir, 'shadow.git')}`;
  const isKept = async (path: string) => {
    const id = (await repository.git('hash-object', path)).trim();
    return (await execa('git', [shadow, 'cat-file', '-e', id], { reject: false })).exitCode === 0;
  };
  writeFileSync(join(root, 'was'), 'old\n');
  writeFileSync(join(root, 'is-gone'), doomed);
  const paths = ['was', 'is-gone', 'staged.txt', 'small.txt', 'a.txt', 'other.txt', 'large.bin'];
  expect(await Promise.all(paths.map(isKept))).toEqual([true, true, true, true, true, false, false]);
  for (const name of ['was', 'is-gone']) rmSync(join(root, name));

  const over = (command: string, ...more: string[]) =>
    runCli([command, run.runDir, ...more], { cwd: temporaryFolder() });
  expect((await over('blame')).stdout).toContain('a.txt');
  const incomplete = await over('replay', '--repo', root, ...SANDBOX);
  expect([incomplete.exitCode, incomplete.lastLine]).toEqual([
    2,
    expect.stringMatching(/does not have "large.bin" as of then .*git hash-object -w PATH/),
  ]);
  await repository.git('hash-object', '-w', 'large.bin');
  const replayed = await over('replay', '--repo', root, ...SANDBOX);
  expect(replayed.lastLine).toContain('replayed to the same patch, byte for byte');
  const nowhere = await over('replay', ...SANDBOX);
  expect([nowhere.exitCode, nowhere.lastLine]).toEqual([
    2,
    expect.stringMatching(/The base of the run \(commit \w{12}\) is not kept in its directory, .* --repo/),
  ]);
  const other = await makeRepository({ 'b.txt': 'another history\n' });
  const elsewhere = await over('replay', '--repo', other.root, ...SANDBOX);
  expect(elsewhere.lastLine).toMatch(/does not have "large.bin", "other.txt".*\(git fetch origin \w{40}/);

  const undone = await over('undo', '--repo', root);
  expect(undone.lastLine).toContain('2 files restored');
  expect(readFileSync(join(root, 'doomed.bin')).equals(doomed)).toBe(true);
});

testAtNight('with --keep-base a run directory has the whole base, once', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n', 'b.txt': 'never touched\n' });
  repository.write('large.bin', randomBytes(LARGE));
  const turns = [{ calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] }, { text: 'Done.' }];
  const run = await scriptedRun({ repository, turns, args: [...SANDBOX, '--keep-base'] });
  const objects = join(run.runDir, 'shadow.git/objects');
  const id = (await repository.git('hash-object', 'large.bin')).trim();
  expect(existsSync(join(objects, id.slice(0, 2), id.slice(2)))).toBe(false);
  rmSync(repository.root, { recursive: true });
  const replayed = await runCli(['replay', run.runDir, ...SANDBOX], { cwd: temporaryFolder() });
  expect(replayed.lastLine).toContain('replayed to the same patch, byte for byte');
});

test('a replay refuses a base with contents that do not match their ids', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  repository.write('new.txt', 'untracked\n');
  const turns = [{ calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] }, { text: 'Done.' }];
  const run = await scriptedRun({ repository, turns, args: SANDBOX });
  const objectFile = (objects: string, id: string) => join(objects, id.slice(0, 2), id.slice(2));
  const id = (await repository.git('hash-object', 'new.txt')).trim();
  repository.write('evil.txt', 'something else\n');
  const evil = (await repository.git('hash-object', '-w', 'evil.txt')).trim();
  const stored = objectFile(join(run.runDir, 'shadow.git/objects'), id);
  rmSync(stored);
  writeFileSync(stored, readFileSync(objectFile(join(repository.root, '.git/objects'), evil)));
  const end = await runCli(['replay', run.runDir, '--repo', repository.root, ...SANDBOX], {
    cwd: temporaryFolder(),
  });
  expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining('cannot be restored')]);
});
