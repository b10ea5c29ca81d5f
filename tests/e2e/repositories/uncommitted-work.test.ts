import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

test('a run on uncommitted work keeps that work as a patch, after which its own applies', async () => {
  const repository = await makeRepository({ 'a.txt': 'one\ntwo\nthree\n' });
  const clean = join(temporaryFolder(), 'clean');
  cpSync(repository.root, clean, { recursive: true });
  writeFileSync(join(repository.root, 'a.txt'), 'one\nTWO\nthree\n');
  writeFileSync(join(repository.root, 'new.txt'), 'new\n');
  const run = await scriptedRun({
    repository,
    turns: [
      {
        calls: [
          call('write_file', { path: 'b.txt', content: 'b\n' }),
          call('run_command', { command: 'sed -i s/three/3/ a.txt' }),
        ],
      },
      { text: 'Done.' },
    ],
  });
  const uncommitted = join(run.runDir, 'uncommitted.patch');
  expect(run.result.uncommittedPatch).toMatchObject({ path: uncommitted });
  const sha = run.result.baseSha?.slice(0, 12);
  expect(run.result.warnings).toContain(
    `[WARN_UNCOMMITTED_WORK] The work tree had uncommitted changes when the run started. The patch applies to ${sha} after ${uncommitted}.`,
  );
  const apply = (patch: string) => execa('git', ['apply', patch], { cwd: clean, reject: false });
  const changes = join(run.runDir, 'changes.patch');
  expect((await apply(changes)).exitCode).not.toBe(0);
  expect((await apply(uncommitted)).stderr).toBe('');
  expect((await apply(changes)).stderr).toBe('');
  for (const name of ['a.txt', 'b.txt', 'new.txt'])
    expect(readFileSync(join(clean, name), 'utf8')).toBe(readFileSync(join(repository.root, name), 'utf8'));

  const published = await runCli(['publish', run.runDir], {
    cwd: repository.root,
    env: { GITHUB_TOKEN: 'ghp_0123456789abcdef0123456789abcdef0123', GITHUB_REPOSITORY: 'o/r' },
  });
  expect([published.exitCode, published.lastLine]).toEqual([
    2,
    expect.stringContaining('The run began with uncommitted changes'),
  ]);
});

test('a clean tree has no such patch', async () => {
  const repository = await makeRepository({ 'a.txt': 'one\n' });
  const turns = [{ calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] }, { text: 'Done.' }];
  const run = await scriptedRun({ repository, turns });
  expect([run.result.baseDirty, run.result.uncommittedPatch]).toEqual([false, null]);
});
