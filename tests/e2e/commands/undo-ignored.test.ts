import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, type Repository } from '../../support/files/repository.ts';
import { makePipe, tempFolder } from '../../support/files/temp-folder.ts';
import { treeOf } from '../../support/files/tree.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { cutRun } from '../../support/runs/recorded-run.ts';
import { command, type FinishedRun, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const SECRET = 'KEY=private-canary-77aa\n';

const undo = ({ root }: Repository, runDir: string, ...args: string[]) =>
  runCli(['undo', runDir, ...args], { cwd: root });

async function withIgnored(): Promise<Repository> {
  const repository = await makeRepository({ '.gitignore': '.env\nlocal/\n*.db\n', 'a.txt': 'a\n' });
  repository.write('.env', SECRET, 0o600);
  repository.write('local/deep/config.ini', 'local\n');
  repository.write('local/tool', '#!/bin/sh\n', 0o755);
  symlinkSync('../a.txt', join(repository.root, 'local/link'));
  return repository;
}

async function runOf(repository: Repository, ...commands: string[]): Promise<FinishedRun> {
  const turns = [...commands.map(command), { text: 'Done.' }];
  const run = await scriptedRun({ repository, turns, args: ['--sandbox', 'off'] });
  expect(run.result.exitCode, run.stderr).toBe(0);
  return run;
}

/** A run without its end, which `work` goes on with; `env` has a key and the model's server. */
async function withServer<T>(
  texts: readonly string[],
  work: (runDir: string, env: Record<string, string>) => Promise<T>,
) {
  const server = await startClaudeServer({ turns: [...texts.map(command), { text: 'Done.' }], apiKey: KEY });
  try {
    return await work(join(tempFolder(), 'run'), { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url });
  } finally {
    await server.close();
  }
}

describe('small ignored files', () => {
  test('that a run removes or changes are restored with their modes, and are in nothing that people share', async () => {
    const repository = await withIgnored();
    const { root } = repository;
    const isPrivate = ['a.txt', '.env', 'local/deep/config.ini'].map((name) => join(root, name));
    repository.write('a.txt', 'mine\n');
    repository.write('keys/for/me', 'untracked\n');
    for (const path of isPrivate) chmodSync(path, 0o600);
    chmodSync(join(root, 'keys'), 0o700);
    const before = treeOf(root);
    const { runDir } = await runOf(
      repository,
      'umask 022; git clean -fdxq; mkfifo .env; rm a.txt; echo x > a.txt',
      'umask 022; mkdir -p local/deep; echo other > local/tool; echo > local/deep/config.ini',
    );
    expect(lstatSync(join(runDir, 'kept-files')).mode & 0o777).toBe(0o600);
    for (const name of ['events.jsonl', 'result.json', 'report.html', 'changes.patch'])
      expect(readFileSync(join(runDir, name), 'utf8'), name).not.toContain('private-canary');
    const shadow = [`--git-dir=${join(runDir, 'shadow.git')}`, 'cat-file', '--batch-all-objects'];
    expect(await repository.git(...shadow, '--batch-check')).not.toContain(` ${SECRET.length}\n`);
    const end = await undo(repository, runDir);
    expect([end.exitCode, end.stderr], end.stderr).toEqual([
      0,
      expect.stringContaining('Restored, though git ignores them: .env, local/deep/config.ini, local/link'),
    ]);
    expect(treeOf(root)).toEqual(before);
    for (const path of isPrivate) expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(lstatSync(join(root, 'keys')).mode & 0o777).toBe(0o700);
    expect((await undo(repository, runDir)).lastLine).toContain('Nothing to restore.');
  });

  test('that a run leaves alone are not kept, and stay deleted if a person deletes them', async () => {
    const repository = await withIgnored();
    const { runDir } = await runOf(repository, 'echo b > b.txt');
    expect(existsSync(join(runDir, 'kept-files'))).toBe(false);
    rmSync(join(repository.root, '.env'));
    expect((await undo(repository, runDir)).exitCode).toBe(0);
    expect(existsSync(join(repository.root, '.env'))).toBe(false);
  });

  test('that are too large to be kept are named if they have changed, also after a kill, and so are other repositories', async () => {
    const repository = await withIgnored();
    repository.write('data.db', Buffer.alloc(2 * 1024 * 1024, 'large '));
    repository.write('local/other.db', Buffer.alloc(2 * 1024 * 1024, 'large '));
    const { runDir } = await runOf(repository, 'echo > data.db; echo x > a.txt; echo x > local/new');
    for (const again of [
      /1 file restored .* Not restored: data\.db\.$/,
      /0 files .* Not restored: data\.db\.$/,
    ])
      expect((await undo(repository, runDir)).lastLine).toMatch(again);
    expect((await undo(repository, runDir, '--force')).lastLine).toMatch(/Not restored: data\.db\.$/);

    const nested = await makeRepository({ 'b.txt': 'b\n' });
    renameSync(nested.root, join(repository.root, 'nested'));
    const killed = join(tempFolder(), 'run');
    await scriptedRun({
      repository,
      turns: [
        command('echo >> local/other.db; echo >> nested/b.txt'),
        { fault: { kind: 'stall', afterEvents: 1 } },
      ],
      runDir: killed,
      during: async ({ pid }) => {
        const journal = join(killed, 'events.jsonl');
        const isOver = () => existsSync(journal) && readFileSync(journal, 'utf8').includes('tool.completed');
        await until('the file has changed', isOver);
        process.kill(pid, 'SIGKILL');
      },
    });
    expect((await undo(repository, killed)).lastLine).toMatch(
      /Not restored: local\/other\.db, nested\/ \(a repository of its own\)\.$/,
    );
  });

  test('that somebody has changed since are left, and named', async () => {
    const repository = await withIgnored();
    const { runDir } = await runOf(repository, 'echo > .env; echo x > a.txt');
    repository.write('.env', 'mine\n');
    const end = await undo(repository, runDir);
    expect(end.exitCode).toBe(1);
    expect(end.lastLine).toMatch(/\[ERR_NOT_RESTORED\]: 1 file restored .* Not restored: \.env\.$/);
    expect(readFileSync(join(repository.root, '.env'), 'utf8')).toBe('mine\n');
    expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('a\n');
  });

  test('are restored after a run that was killed, and what a person made meanwhile stays', async () => {
    const repository = await withIgnored();
    const before = treeOf(repository.root);
    const runDir = join(tempFolder(), 'run');
    await scriptedRun({
      repository,
      turns: [command('rm -r .env local'), { fault: { kind: 'stall', afterEvents: 1 } }],
      runDir,
      during: async ({ pid }) => {
        const journal = join(runDir, 'events.jsonl');
        const isOver = () => existsSync(journal) && readFileSync(journal, 'utf8').includes('tool.completed');
        await until('the files are gone', isOver);
        process.kill(pid, 'SIGKILL');
      },
    });
    repository.write('local/mine.txt', 'mine\n');
    const end = await undo(repository, runDir);
    expect([end.exitCode, end.stderr]).toEqual([0, expect.stringContaining('Not checked: ignored files')]);
    expect(treeOf(repository.root)).toEqual({ ...before, 'local/mine.txt': '644 mine\n' });
  });

  testAtNight('that only a resumed part of a run changes are restored, and larger ones named', async () => {
    const repository = await withIgnored();
    const { root } = repository;
    repository.write('data.db', LARGE);
    const before = treeOf(root);
    const runDir = await withServer(
      ['echo x > a.txt', 'rm -r .env local; echo > data.db'],
      async (dir, env) => {
        await runCli(['run', '-m', 'Do it', '--run-dir', dir, '--max-iterations', '1'], { cwd: root, env });
        await runCli(['resume', dir, '--max-iterations', '9'], { cwd: root, env });
        return dir;
      },
    );
    const end = await undo(repository, runDir);
    expect([end.exitCode, end.lastLine]).toEqual([1, expect.stringMatching(/Not restored: data\.db\.$/)]);
    expect({ ...treeOf(root), 'data.db': before['data.db'] }).toEqual(before);
  });

  const clone = (root: string) => execFileSync('git', ['clone', '--quiet', root, `${root}-moved`]);
  const elsewhere = [
    ['in its checkout, which has moved', (root: string) => renameSync(root, `${root}-moved`), '-moved'],
    ['in another checkout, for the first one', clone, ''],
  ] as const;

  test.each(sampled(elsewhere, () => 'checkout', 1))(
    'are restored after a run that was killed and went on %s',
    async (_, prepare, end) => {
      const repository = await withIgnored();
      const before = treeOf(repository.root);
      const moved = `${repository.root}-moved`;
      const runDir = await withServer(['rm -r .env local; sleep 60'], async (dir, env) => {
        const args = [CLI, 'run', '-m', 'Do it', '--run-dir', dir];
        const own = { env: { PATH: process.env.PATH, ...env }, extendEnv: false };
        const run = execa(process.execPath, args, {
          cwd: repository.root,
          ...own,
          reject: false,
          stdin: 'ignore',
        });
        await until('the files are gone', () => !existsSync(join(repository.root, 'local')));
        run.kill('SIGKILL');
        await run;
        prepare(repository.root);
        await runCli(['resume', dir, '--repo', moved], { cwd: moved, env });
        return dir;
      });
      const root = `${repository.root}${end}`;
      const undone = await runCli(['undo', runDir, '--repo', root], { cwd: root });
      expect([undone.exitCode, treeOf(root)], undone.stderr).toEqual([0, before]);
    },
  );

  testAtNight('that a person changed before a killed run was resumed are left, and named', async () => {
    const files = { '.gitignore': '.env\n', 'a.txt': 'a\n' };
    const turns = [command('echo x > a.txt'), { text: 'Done.' }];
    const prepare = (root: string) => writeFileSync(join(root, '.env'), SECRET);
    const run = await cutRun(files, turns, [], undefined, { prepare });
    run.goBackTo(run.events.find(({ type }) => type === 'tool.completed')?.seq ?? 0);
    writeFileSync(join(run.root, '.env'), 'mine\n');
    await run.resume();
    const end = await runCli(['undo', run.runDir], { cwd: run.root });
    expect([end.exitCode, end.lastLine]).toEqual([
      1,
      expect.stringMatching(/1 file restored .* Not restored: \.env\.$/),
    ]);
    expect(readFileSync(join(run.root, '.env'), 'utf8')).toBe('mine\n');
  });
});

const LARGE = Buffer.alloc(2 * 1024 * 1024, 'large ');

describe('what is lost', () => {
  const copies = [
    ['a copy', 'cp data.db other.bin; rm data.db'],
    ['an archive', 'gzip data.db; mv data.db.gz data.db.gzip'],
    ['an archive of another name', 'tar czf backup data.db; rm data.db'],
    ['a copy, with another file in its place,', 'cp data.db other.bin; echo > data.db'],
    ['a copy over a limit', 'cp data.db other.bin; rm data.db', '--max-changed-file-size', '1m'],
  ];

  test.each(sampled(copies, () => 'copy'))(
    '%s of a large ignored file that is gone stays, also with --force',
    async (_, text, ...args) => {
      const repository = await withIgnored();
      repository.write('data.db', LARGE);
      const turns = [command(`${text}; echo x > a.txt`), { text: 'Done.' }];
      const { runDir, result } = await scriptedRun({
        repository,
        turns,
        args: ['--sandbox', 'off', ...args],
      });
      expect(result.ignoredFiles).toEqual(['data.db']);
      const left = treeOf(repository.root);
      const refused = await undo(repository, runDir);
      expect([refused.exitCode, refused.lastLine]).toEqual([
        2,
        expect.stringContaining(
          'it may be a copy of "data.db", which was there when the run began and is gone',
        ),
      ]);
      const forced = await undo(repository, runDir, '--force');
      expect([forced.exitCode, forced.lastLine]).toEqual([
        1,
        expect.stringMatching(/1 file restored .* 1 path left as listed above\. Not restored: data\.db\.$/),
      ]);
      expect(treeOf(repository.root)).toEqual({ ...left, 'a.txt': '644 a\n' });
    },
  );

  test('is named where no file was kept: in folders that are filled by programs, or have very many files', async () => {
    const repository = await withIgnored();
    repository.write('.gitignore', 'node_modules/\ndata/\nlast/\n');
    await repository.git('commit', '--quiet', '--all', '-m', 'Ignore more');
    repository.write('node_modules/x/index.js', '');
    for (let file = 0; file <= 20_000; file += 1) repository.write(`data/${file}`, '');
    repository.write('last/one', 'one\n');
    const run = await runOf(repository, 'rm -r node_modules data last; echo x > a.txt');
    expect(run.result.ignoredFiles.sort()).toEqual(['data', 'last/one', 'node_modules']);
    const end = await undo(repository, run.runDir);
    expect([end.exitCode, end.lastLine]).toEqual([
      1,
      expect.stringMatching(/2 files restored .* Not restored: data, node_modules\.$/),
    ]);
    expect(readFileSync(join(repository.root, 'last/one'), 'utf8')).toBe('one\n');
  });

  test('is named where a link takes the place of a folder of packages', async () => {
    const repository = await makeRepository({ '.gitignore': 'node_modules/\n' });
    repository.write('node_modules/x/index.js', '');
    const { runDir } = await runOf(repository, 'rm -r node_modules; ln -s /usr node_modules');
    expect((await undo(repository, runDir)).lastLine).toMatch(
      /1 file restored .* Not restored: node_modules\.$/,
    );
  });

  testAtNight(
    'does not keep other files from being restored: a folder with new files in the place of one',
    async () => {
      const repository = await withIgnored();
      const { runDir } = await runOf(
        repository,
        'rm .env local/deep/config.ini; mkdir .env; echo > .env/mine; ln -s ../tool local/deep/config.ini; echo x > a.txt',
      );
      const end = await undo(repository, runDir);
      expect(end.stderr).toContain('  .env: a folder with other files is in its place\n');
      expect([end.exitCode, end.lastLine]).toEqual([
        1,
        expect.stringMatching(/2 files restored .* Not restored: \.env\.$/),
      ]);
      expect(readFileSync(join(repository.root, 'local/deep/config.ini'), 'utf8')).toBe('local\n');
    },
  );

  const moved = [
    ['out of a folder of packages', 'node_modules/x/own', 'mv node_modules/x/own own', 'older than the run'],
    ['out of another repository', 'nested/own', 'mv nested/own own', 'may be a copy of "nested/…"'],
  ] as const;

  test.each(sampled(moved, () => 'place'))(
    'stays where a command moves it, %s, also in a checkout that has moved',
    async (_, from, text, why) => {
      const repository = await withIgnored();
      const nested = await makeRepository({ 'b.txt': 'b\n' });
      renameSync(nested.root, join(repository.root, 'nested'));
      repository.write('.gitignore', 'node_modules/\n');
      await repository.git('commit', '--quiet', '--all', '-m', 'Ignore more');
      repository.write(from, 'mine\n');
      const turns = [command(`${text}; echo x > a.txt`), { text: 'Done.' }];
      const { runDir } = await scriptedRun({ repository, turns });
      for (const moved of [false, true]) {
        const root = moved ? `${repository.root}-moved` : repository.root;
        if (moved) renameSync(repository.root, root);
        const end = await runCli(['undo', runDir, '--repo', root, ...(moved ? ['--force'] : [])], {
          cwd: root,
        });
        expect([end.exitCode, end.stderr]).toEqual([moved ? 1 : 2, expect.stringContaining(why)]);
        expect(readFileSync(join(root, 'own'), 'utf8')).toBe('mine\n');
      }
    },
  );

  test('is named where it belongs to another repository', async () => {
    const repository = await withIgnored();
    const nested = await makeRepository({ 'b.txt': 'b\n' });
    renameSync(nested.root, join(repository.root, 'nested'));
    const { runDir } = await runOf(repository, 'echo x > nested/b.txt; echo x > a.txt');
    const end = await undo(repository, runDir);
    expect([end.exitCode, end.lastLine]).toEqual([
      1,
      expect.stringMatching(/1 file restored .* Not restored: nested\/ \(a repository of its own\)\.$/),
    ]);
  });
});

describe('a planted kept-files', () => {
  /** A file with the contents `evil`, as if it had been there before the run. */
  const entry = (path: string, more: object = {}) => ({
    path,
    before: { mode: '100644', blob: createHash('sha1').update('blob 5\0evil\n').digest('hex'), size: 5 },
    after: null,
    permissions: 0o644,
    bytes: Buffer.from('evil\n').toString('base64'),
    ...more,
  });

  async function planted(...files: ReturnType<typeof entry>[]) {
    const repository = await withIgnored();
    const { runDir } = await runOf(repository, 'echo x > a.txt');
    const text = JSON.stringify({ root: repository.root, files });
    writeFileSync(join(runDir, 'kept-files'), text, { mode: 0o600 });
    return { repository, runDir, text };
  }

  test.each(sampled(['../outside', '/etc/outside', 'local/../../outside', 'a\0b'], () => 'path', 2))(
    'leads nowhere outside: %j',
    async (path) => {
      const { repository, runDir } = await planted(entry(path));
      const end = await undo(repository, runDir);
      expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining('kept-files is damaged')]);
      expect(existsSync(join(repository.root, '../outside'))).toBe(false);
    },
  );

  test('writes nothing in a git dir, follows no link, and replaces nothing whose contents it cannot name', async () => {
    const zero = { mode: '100755', blob: '0'.repeat(40), size: 10 };
    const { repository, runDir } = await planted(
      entry('.git/hooks/post-commit'),
      entry('local/.GIT/config'),
      entry('out/hook'),
      entry('.env'),
      entry('local/link'),
      entry('local/tool', { after: zero }),
    );
    const outside = tempFolder();
    symlinkSync(outside, join(repository.root, 'out'));
    const before = treeOf(repository.root);
    expect((await undo(repository, runDir)).stderr).toContain("git's own folder");
    await undo(repository, runDir, '--force');
    expect(treeOf(repository.root)).toEqual({ ...before, 'a.txt': '644 a\n' });
    expect(treeOf(outside)).toEqual({});
    expect(existsSync(join(repository.root, '.git/hooks/post-commit'))).toBe(false);
  });

  test('is not read if it is huge, a link, a pipe, or asks for set-id bits', async () => {
    const { repository, runDir, text } = await planted(entry('x'));
    const file = join(runDir, 'kept-files');
    const refused = async (why: string) => {
      const end = await undo(repository, runDir);
      expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining(why)]);
      rmSync(file);
    };
    writeFileSync(file, text.replace('"permissions":420', '"permissions":2541'));
    await refused('kept-files is damaged');
    writeFileSync(file, Buffer.alloc(129 * 1024 * 1024));
    await refused('is larger than');
    symlinkSync('/etc/passwd', file);
    await refused('is a link');
    makePipe(file);
    await refused('is neither a file nor a folder');
  });
});
