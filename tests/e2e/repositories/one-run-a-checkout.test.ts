import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { until } from '../../support/waiting/until.ts';

test('a second run in a checkout is refused, by whatever path it comes and from another network namespace, and so is undo', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'began\ngo\n' });
  const link = join(temporaryFolder(), 'link');
  symlinkSync(root, link);
  const busy = `Another run of patchsmith is working in ${root}. Wait for it, stop it, or use another checkout (git worktree add).`;
  let second: FinishedRun | null = null;
  let inContainer: FinishedRun | null = null;
  const first = await scriptedRun({
    repository: { root },
    turns: [
      {
        calls: [
          call('run_command', {
            command: 'echo b > a.txt; echo > began; until [ -e go ]; do sleep 0.05; done',
          }),
        ],
      },
      { text: 'Done.' },
    ],
    async during({ runDir }) {
      await until('the command runs', () => existsSync(join(root, 'began')));
      second = await scriptedRun({ repository: { root: link }, turns: [] });
      inContainer = await scriptedRun({
        repository: { root },
        turns: [],
        args: ['--sandbox', 'off'],
        wrap: ['unshare', '--map-root-user', '--net'],
      });
      const undone = await runCli(['undo', runDir], { cwd: root });
      expect(undone.exitCode).toBe(2);
      for (const command of [['show'], ['blame']]) {
        const line = [
          '--map-root-user',
          '--net',
          '--pid',
          '--fork',
          process.execPath,
          CLI,
          ...command,
          runDir,
        ];
        const { all } = await execa('unshare', line, { cwd: root, reject: false, all: true });
        expect([command, all]).toEqual([command, expect.stringContaining('running')]);
      }
      // Another work tree of the same repository is another place.
      const other = join(temporaryFolder(), 'other');
      await execa('git', ['worktree', 'add', '-q', other], { cwd: root });
      const beside = await scriptedRun({ repository: { root: other }, turns: [{ text: 'Done.' }] });
      expect(beside.exitCode, beside.stderr).toBe(0);
      writeFileSync(join(root, 'go'), '');
    },
  });
  for (const refused of [second, inContainer])
    expect(refused).toMatchObject({ exitCode: 2, lastLine: expect.stringContaining(busy) });
  expect(readdirSync(join(root, '.git')).filter((name) => name.startsWith('patchsmith'))).toEqual([]);
  expect(first.lastLine).toContain('done (exit 0): 1 file changed');
  const undone = await runCli(['undo', first.runDir], { cwd: root });
  expect(undone.exitCode, undone.stderr).toBe(0);
});
