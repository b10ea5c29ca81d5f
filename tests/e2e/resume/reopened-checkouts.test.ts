/** Runs that were killed, in checkouts that are not plain, and what they leave running without a sandbox. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { treeOf } from '../../support/files/tree.ts';
import { isRunning, oddSeconds } from '../../support/machine/processes.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, command, done, KEY } from '../../support/runs/scripted-run.ts';
import { holdingEvents } from '../../support/runs/valid-events.ts';
import { until } from '../../support/waiting/until.ts';

const write = (path: string, content: string) => ({ calls: [call('write_file', { path, content })] });

/** Starts a run in `root` and kills it when `file` is there; `then` has the model's server still. */
async function killedWhen(
  file: string,
  {
    root,
    turns,
    args = [],
  }: { root: string; turns: Parameters<typeof patient>[0]; args?: readonly string[] },
  then: (runDir: string, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const runDir = join(temporaryFolder(), 'run');
  const server = await startClaudeServer({ turns: patient(turns), apiKey: KEY });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: server.url,
  };
  try {
    const line = [CLI, 'run', '-m', 'Do it', '--repo', root, '--run-dir', runDir, ...args];
    await holdingEvents({ args: line, cwd: root, env }, async () => {
      const child = execa(process.execPath, line, { env, extendEnv: false, reject: false, stdin: 'ignore' });
      await until(`${file} is there`, () => existsSync(file));
      child.kill('SIGKILL');
      await child;
    });
    await then(runDir, env);
  } finally {
    await server.close();
  }
}

const KINDS: Readonly<Record<string, string>> = {
  'a repository with SHA-256':
    'git init -q -b main --object-format=sha256 .; echo one > a.txt; git add -A; git commit -qm start',
  'a sparse checkout':
    'git init -q -b main .; echo one > a.txt; mkdir in out; echo i > in/i.txt; echo o > out/o.txt; git add -A; git commit -qm start; git sparse-checkout set in',
  'a repository with a submodule':
    'git init -q -b main ../module; git -C ../module commit -q --allow-empty -m start; git init -q -b main .; echo one > a.txt; git -c protocol.file.allow=always submodule add -q "$PWD/../module" module; git add -A; git commit -qm start',
};

describe.each(Object.entries(KINDS))('in %s', (_kind, script) => {
  const turns = [write('a.txt', 'two\n'), command('echo b > b.txt; [ -e .gone ] || sleep 60'), done];
  const made = async () => {
    const root = join(temporaryFolder(), 'main');
    const identity = {
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b',
    };
    await execa('bash', ['-euc', `mkdir "$0"; cd "$0"; ${script}`, root], { env: identity, stdin: 'ignore' });
    writeFileSync(join(root, '.git/info/exclude'), '.gone\n');
    const status = async () => (await execa('git', ['status', '--porcelain'], { cwd: root })).stdout;
    return { root, status };
  };

  test('a run killed inside a command is continued, and then undone', async () => {
    const { root, status } = await made();
    const before = treeOf(root);
    await killedWhen(join(root, 'b.txt'), { root, turns }, async (runDir, env) => {
      const refused = await runCli(['undo', runDir], { cwd: root, env });
      expect([refused.exitCode, refused.lastLine]).toEqual([
        2,
        expect.stringMatching(
          /died during: run_command \S+ Changed since the last record.*: b\.txt\. Nothing was restored/,
        ),
      ]);
      writeFileSync(join(root, '.gone'), '');
      const resumed = await runCli(['resume', runDir], { cwd: root, env });
      expect(resumed.lastLine, resumed.stderr).toContain('done (exit 0): 2 files changed');
      const undone = await runCli(['undo', runDir], { cwd: root, env });
      expect(undone.lastLine, undone.stderr).toContain('done (exit 0): 2 files restored');
      await execa('rm', ['.gone'], { cwd: root });
      expect(treeOf(root)).toEqual(before);
      expect(await status()).toBe('');
    });
  });
});

test('undo takes back a run that was killed inside a command which had changed nothing by then', async () => {
  const { root } = await makeRepository({ 'a.txt': 'one\n', '.gitignore': 'began\n' });
  const before = treeOf(root);
  const turns = [write('a.txt', 'two\n'), command('echo > began; sleep 60')];
  await killedWhen(join(root, 'began'), { root, turns }, async (runDir, env) => {
    const undone = await runCli(['undo', runDir], { cwd: root, env });
    expect(undone.lastLine, undone.stderr).toContain('done (exit 0): 1 file restored');
    await execa('rm', ['began'], { cwd: root });
    expect(treeOf(root)).toEqual(before);
  });
});

describe('a git dir that a command had made when the run was killed', () => {
  const script =
    '[ -e sub ] && exit; env -u GIT_DIR -u GIT_WORK_TREE git init -q sub; echo x > sub/x.txt; mkdir -p cache/y; mv sub/.git/hooks cache/y/.git; echo > began; sleep 60';
  const turns = [write('a.txt', 'two\n'), command(script), done];
  const made = () => makeRepository({ 'a.txt': 'one\n', '.gitignore': 'began\n/cache/\n' });

  const gitDirs = ['cache/y/.git', 'sub/.git'];
  const areThere = (root: string) => gitDirs.map((path) => existsSync(join(root, path)));

  test('is named by resume, which a person may answer with --accept-changes', async () => {
    const { root } = await made();
    await killedWhen(join(root, 'began'), { root, turns }, async (runDir, env) => {
      for (let again = 0; again < 2; again += 1) {
        const refused = await runCli(['resume', runDir], { cwd: root, env });
        expect([refused.exitCode, refused.lastLine]).toEqual([
          2,
          expect.stringMatching(
            /cache\/y\/\.git \(new, and your git would run what it configures\), sub\/\.git/,
          ),
        ]);
      }
      const { exitCode, stderr } = await runCli(['resume', runDir, '--accept-changes'], { cwd: root, env });
      expect(exitCode, stderr).toBe(0);
      expect(areThere(root)).toEqual([true, true]);
    });
  });

  test('is named by undo, and left with --force', async () => {
    const { root } = await made();
    await killedWhen(join(root, 'began'), { root, turns }, async (runDir, env) => {
      for (const [exitCode, ...flags] of [[2], [1, '--force']] as const) {
        const end = await runCli(['undo', runDir, ...flags], { cwd: root, env });
        expect([end.exitCode, end.lastLine]).toEqual([
          exitCode,
          expect.stringContaining('cache/y/.git, sub/.git'),
        ]);
      }
      expect(areThere(root)).toEqual([true, true]);
    });
  });
});

describe('without a sandbox a command ends with its runner', () => {
  test.each(['undo', 'resume'])('%s goes on where nothing is left of it', async (what) => {
    const marker = oddSeconds();
    const { root } = await makeRepository({ 'a.txt': 'one\n', '.gitignore': 'began\n' });
    const script = `[ -e began ] && exit; echo > began; (sleep ${marker}; echo late > a.txt) & sleep ${marker}`;
    const turns = [write('a.txt', 'two\n'), command(script), done];
    await killedWhen(
      join(root, 'began'),
      { root, turns, args: ['--sandbox', 'off'] },
      async (runDir, env) => {
        await until('the command has ended', () => !isRunning(marker));
        const end = await runCli([what, runDir, ...(what === 'resume' ? ['--sandbox', 'off'] : [])], {
          cwd: root,
          env,
        });
        expect(end.exitCode, end.stderr).toBe(0);
        expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(what === 'undo' ? 'one\n' : 'two\n');
      },
    );
  });
});
