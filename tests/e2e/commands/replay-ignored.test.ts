import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

const PROVEN = /^patchsmith: done \(exit 0\): \d+ events replayed to the same patch, byte for byte/;

/** A project whose tests need a dependency that git ignores, such as a real one has after `npm ci`. */
async function project(files: Record<string, string> = {}): Promise<Repository> {
  const repository = await makeRepository({
    '.gitignore': 'node_modules/\n.env\n',
    'sum.js': 'exports.sum = (a, b) => a - b;\n',
    'test.sh': "node -e \"require('adding').check(require('./sum.js').sum)\"\n",
    ...files,
  });
  install(repository);
  return repository;
}

function install({ root }: Repository): void {
  const folder = join(root, 'node_modules/adding');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'index.js'),
    "exports.check = (sum) => { if (sum(1, 2) !== 3) throw new Error('wrong sum'); console.log('right'); };\n",
  );
}

function fixed(repository: Repository, args: readonly string[] = [], plan?: string): Promise<FinishedRun> {
  return scriptedRun({
    repository,
    turns: [
      { calls: [call('run_command', { command: 'sh test.sh 2>&1 | grep -o "wrong sum" | head -1' })] },
      { calls: [call('edit_file', { path: 'sum.js', find: 'a - b', replace: 'a + b' })] },
      { calls: [call('run_command', { command: 'sh test.sh; touch node_modules/.cache' })] },
      { calls: [call('read_file', { path: 'node_modules/adding/index.js' })] },
      { text: 'Done.' },
    ],
    args: plan === undefined ? ['--verify', 'sh test.sh', ...args] : args,
    ...(plan === undefined ? {} : { plan }),
  });
}

function replayIn(cwd: string, { runDir }: FinishedRun, ...args: string[]) {
  return runCli(['replay', runDir, ...args], { cwd, env: { XDG_STATE_HOME: temporaryFolder() } });
}

describe('a run whose tests need an ignored node_modules', () => {
  test.each(['required', 'off'])('is proven with it and --sandbox %s', async (sandbox) => {
    const repository = await project();
    const recorded = await fixed(repository);
    const again = join(temporaryFolder(), 'again');
    const args = ['--sandbox', sandbox, '--run-dir', again];
    const end = await replayIn(repository.root, recorded, ...args);
    expect(end.lastLine, end.stderr).toMatch(PROVEN);
    expect(end.lastLine).toMatch(/ Ignored files were those of this checkout: node_modules\.$/);
    expect(end.exitCode).toBe(0);
    expect(readFileSync(join(again, 'changes.patch'), 'utf8')).toBe(recorded.patch);
  });

  test('is proven without the flag when setup makes it, in the work tree and in a fresh checkout', async () => {
    const repository = await project({
      'install.sh': `mkdir -p node_modules/adding; echo "exports.check = (sum) => { if (sum(1, 2) !== 3) throw new Error('wrong sum'); console.log('right') }" > node_modules/adding/index.js\n`,
      'plan.md': '---\nsetup: [sh install.sh]\nverify: [sh test.sh]\n---\nMend the sum.\n',
    });
    for (const place of ['worktree', 'checkout']) {
      await repository.git('checkout', '--', '.');
      const plan = join(repository.root, 'plan.md');
      const recorded = await fixed(repository, ['--verify-in', place], plan);
      expect(recorded.result.outcome, recorded.stderr).toBe('done');
      const end = await replayIn(repository.root, recorded);
      expect(end.lastLine, end.stderr).toMatch(PROVEN);
    }
  });
});

test('what is copied never gets into the patch, nor back into the checkout', async () => {
  const repository = await project();
  const recorded = await fixed(repository);
  writeFileSync(join(repository.root, 'node_modules/adding/more.js'), 'of today\n');
  writeFileSync(join(repository.root, 'node_modules/.cache'), 'mine\n');
  const end = await replayIn(repository.root, recorded);
  expect(end.lastLine, end.stderr).toMatch(PROVEN);
  expect(readFileSync(join(repository.root, 'node_modules/.cache'), 'utf8')).toBe('mine\n');
});

test('links in a copied folder stay links, and git dirs are left out', async () => {
  const repository = await project();
  const recorded = await scriptedRun({
    repository,
    turns: [
      {
        calls: [
          call('run_command', {
            command: 'cd node_modules; readlink out; cat out/secret; cat in; ls -A; ls -A adding',
          }),
        ],
      },
      { text: 'Done.' },
    ],
  });
  const secret = temporaryFolder();
  writeFileSync(join(secret, 'secret'), 'of another place\n');
  symlinkSync(secret, join(repository.root, 'node_modules/out'));
  symlinkSync('adding/index.js', join(repository.root, 'node_modules/in'));
  mkdirSync(join(repository.root, 'node_modules/adding/.git/hooks'), { recursive: true });
  const again = join(temporaryFolder(), 'again');
  await replayIn(repository.root, recorded, '--run-dir', again);
  const said = readFileSync(join(again, 'events.jsonl'), 'utf8');
  expect(said).toContain(secret);
  expect(said).toContain('wrong sum');
  expect(said).not.toContain('of another place');
  expect(said).not.toMatch(/\\n\.git\\n/);
});

test('a link of the base where the checkout has a folder stays a link, and the other folders come along', async () => {
  const outside = temporaryFolder();
  const repository = await makeRepository({ '.gitignore': 'linked\nother\n' });
  symlinkSync(outside, join(repository.root, 'linked'));
  await repository.git('add', '-f', 'linked');
  await repository.git('commit', '-qm', 'a link');
  mkdirSync(join(repository.root, 'other'));
  const turns = [{ calls: [call('run_command', { command: 'ls' })] }, { text: 'Done.' }];
  const recorded = await scriptedRun({ repository, turns, args: ['--keep-base'] });
  await repository.git('rm', '-q', 'linked');
  mkdirSync(join(repository.root, 'linked'));
  writeFileSync(join(repository.root, 'linked/file'), 'mine\n');
  const { stderr, exitCode } = await replayIn(repository.root, recorded);
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toContain('Ignored files were those of this checkout: other.');
  expect(readdirSync(outside)).toEqual([]);
});
