/** Submodules and other repositories in the work tree: what changes there is named, and what may not change does not pass. */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { call, command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

/** A repository with a submodule at `lib`, one that is not checked out at `later`, and a checkout at `inner`. */
async function withOthers(): Promise<Repository> {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const script = `
    git clone -q . lib; git clone -q . inner
    git -c advice.addEmbeddedRepo=false add lib
    git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),later; mkdir later
    git -c user.name=T -c user.email=t@example.invalid commit -qm others`;
  execFileSync('sh', ['-ec', script], { cwd: repository.root, stdio: 'ignore' });
  return repository;
}

const outcomeOf = ({ exitCode, result }: FinishedRun) => ({
  exitCode,
  outcome: result.outcome,
  nestedChanges: result.nestedChanges,
});

const off = ['--sandbox', 'off'];
const fenced = ['--sandbox', 'required'];

describe.each([
  ['in the sandbox', fenced],
  ['without a sandbox', off],
])('%s', (_where, args) => {
  test('files that change in other repositories are named, since no patch shows them', async () => {
    const repository = await withOthers();
    const run = await scriptedRun({
      repository,
      turns: [
        command('echo b >> lib/a.txt; mkdir inner/new; echo c > inner/new/c.txt; echo d > d.txt'),
        done,
      ],
      args,
    });
    expect(outcomeOf(run)).toEqual({
      exitCode: 0,
      outcome: 'done',
      nestedChanges: [
        { path: 'inner', files: ['inner', 'inner/new', 'inner/new/c.txt'] },
        { path: 'lib', files: ['lib/a.txt'] },
      ],
    });
    expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['d.txt']);
    expect(run.stderr).toContain(
      '[WARN_REPOSITORY_CHANGED] Not in the patch, because "lib" is a separate repository that changed during the run: lib/a.txt.',
    );
  });

  test('nothing is named where commands only read', async () => {
    const repository = await withOthers();
    const run = await scriptedRun({
      repository,
      turns: [command('cat lib/a.txt inner/a.txt; ls later; git status; echo d > d.txt'), done],
      args,
    });
    expect(outcomeOf(run)).toEqual({ exitCode: 0, outcome: 'done', nestedChanges: [] });
    expect(run.stderr).not.toContain('separate repository that changed');
  });

  test('a tool writes no file of a submodule, and what it writes in another repository is named', async () => {
    const repository = await withOthers();
    const write = (path: string) => call('write_file', { path, content: 'x\n' });
    const run = await scriptedRun({
      repository,
      turns: [{ calls: [write('lib/new.txt'), write('later/new.txt'), write('inner/new.txt')] }, done],
      args,
    });
    const statuses = run.events.flatMap((event) =>
      event.type === 'tool.completed' ? [event.outcome.status] : [],
    );
    expect(statuses).toEqual(['failed', 'failed', 'ok']);
    expect(run.result.nestedChanges).toEqual([{ path: 'inner', files: ['inner', 'inner/new.txt'] }]);
  });
});

test('in the sandbox, a protected file of a submodule cannot be changed, but one next to it can', async () => {
  const repository = await withOthers();
  const run = await scriptedRun({
    repository,
    turns: [command('echo b >> lib/a.txt; echo b >> inner/a.txt; echo d > d.txt'), done],
    args: [...fenced, '--protect', 'lib/**'],
  });
  expect(outcomeOf(run)).toEqual({
    exitCode: 0,
    outcome: 'done',
    nestedChanges: [{ path: 'inner', files: ['inner/a.txt'] }],
  });
  expect(readFileSync(join(repository.root, 'lib/a.txt'), 'utf8')).toBe('a\n');
});

test('in the sandbox, setup commands may write in a repository that is read-only for the model, but not to its `.git`', async () => {
  const repository = await withOthers();
  const plan = join(temporaryFolder(), 'plan.md');
  writeFileSync(
    plan,
    '---\nallow: ["a.txt"]\nsetup: ["echo setup >> inner/a.txt; ! echo x >> inner/.git/config"]\n---\nDo it.\n',
  );
  const run = await scriptedRun({
    repository,
    plan,
    turns: [command('echo model >> inner/a.txt; echo b >> a.txt'), done],
    args: fenced,
  });
  expect(outcomeOf(run), run.stderr).toEqual({ exitCode: 0, outcome: 'done', nestedChanges: [] });
  expect(readFileSync(join(repository.root, 'inner/a.txt'), 'utf8')).toBe('a\nsetup\n');
});

test.each([
  ['a file that is protected', 'echo b >> lib/a.txt', ['--protect', 'lib/**'], 'lib/a.txt'],
  ['a file of a protected name', 'echo b >> inner/a.txt', ['--protect', 'a.txt'], 'inner/a.txt'],
  ['a protected file that is deleted', 'rm lib/a.txt', ['--protect', 'lib/*.txt'], 'lib'],
  ['the whole repository', 'rm -rf lib', ['--protect', 'lib/**'], 'lib'],
  ['a link in its place', 'mv lib gone; ln -s gone lib', ['--protect', 'lib/**'], 'lib'],
  ['one that was not checked out', 'echo b > later/new.txt', ['--protect', 'later/**'], 'later'],
  ['a path that is not allowed', 'echo b >> lib/a.txt', ['--allow', 'd.txt'], 'lib/a.txt'],
])('without a sandbox, %s ends the run with exit 8', async (_what, text, policy, named) => {
  const repository = await withOthers();
  const run = await scriptedRun({
    repository,
    turns: [command(`${text}; echo d > d.txt`), done],
    args: [...off, ...policy],
  });
  expect([run.exitCode, run.result.outcome]).toEqual([8, 'policy_violation']);
  expect(run.result.reason).toMatch(new RegExp(`: .*\\b${named.replace('.', '\\.')}\\b`));
});
