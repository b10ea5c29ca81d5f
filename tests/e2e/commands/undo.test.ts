import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Script } from '../../support/claude-server/script.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { treeOf } from '../../support/files/tree.ts';
import { runCli } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, command, done, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const write = (path: string, content: string) => ({ calls: [call('write_file', { path, content })] });

const undo = (repository: Pick<Repository, 'root'>, runDir: string, ...args: string[]) =>
  runCli(['undo', runDir, ...args], { cwd: repository.root });

/** HEAD, index and refs, byte for byte. */
function gitState(root: string): string[] {
  return ['HEAD', 'index', 'refs/heads/main'].map((name) => readFileSync(join(root, '.git', name), 'latin1'));
}

describe('undo puts back', () => {
  test('a run on a split index and line ends that git converts', async () => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    await repository.git('config', 'core.autocrlf', 'input');
    await repository.git('update-index', '--split-index');
    const before = treeOf(repository.root);
    const files = 'for i in 1 2 3 4 5 6 7 8 9; do printf "z\\r\\n" > n$i; done';
    const { runDir } = await scriptedRun({ repository, turns: [command(files), done] });
    const { exitCode, stderr } = await undo(repository, runDir);
    expect([exitCode, treeOf(repository.root)], stderr).toEqual([0, before]);
  });

  test('every kind of change, including the user’s uncommitted work, and does not touch git', async () => {
    const repository = await makeRepository({
      'edit.txt': 'one\n',
      'gone.txt': 'gone\n',
      'old.txt': 'moved\n',
      'run.sh': '#!/bin/sh\n',
      'becomes-link': 'a file\n',
      'becomes-folder': 'a file\n',
      'folder/becomes-file': 'x\n',
      'dirty.txt': 'committed\n',
      'staged.txt': 'committed\n',
      'removed.txt': 'removed by the user\n',
    });
    const { root } = repository;
    symlinkSync('edit.txt', join(root, 'link'));
    symlinkSync('folder', join(root, 'link-to-folder'));
    repository.write('dirty.txt', 'work of the user\n');
    repository.write('staged.txt', 'staged\n');
    repository.write('untracked.bin', Buffer.from([0, 255, 1]), 0o600);
    repository.write('private-tool', 'untracked program\n', 0o700);
    repository.write('tool', 'untracked program\n', 0o755);
    rmSync(join(root, 'removed.txt'));
    mkdirSync(join(root, 'empty/inner'), { recursive: true });
    mkdirSync(join(root, 'was-empty'));
    await repository.git('add', 'staged.txt');
    const before = treeOf(root);
    const git = gitState(root);

    const finished = await scriptedRun({
      repository,
      turns: [
        write('edit.txt', 'changed\n'),
        write('deep/er/new.txt', 'new\n'),
        write('was-empty/new.txt', 'new\n'),
        write('dirty.txt', 'overwritten\n'),
        command(
          'rm gone.txt untracked.bin private-tool link link-to-folder && mv old.txt new-name.txt && chmod +x run.sh',
        ),
        command('rm becomes-link becomes-folder && ln -s edit.txt becomes-link && mkdir becomes-folder'),
        command(
          'echo x > becomes-folder/x && rm -r folder && echo f > folder && rm -r empty && chmod -x tool',
        ),
        command('ln -s deep link-to-folder; echo back > removed.txt; echo y >> staged.txt'),
        done,
      ],
      args: ['--verify', 'echo cache > cache.tmp && rm staged.txt'],
    });
    expect(finished.result.outcome, finished.stderr).toBe('done');
    const end = await undo(repository, finished.runDir);
    expect(end.lastLine).toMatch(
      /^patchsmith: done \(exit 0\): \d+ files restored to the state before the run\.$/,
    );
    expect(treeOf(root)).toEqual(before);
    expect(gitState(root)).toEqual(git);

    const again = await undo(repository, finished.runDir);
    expect(again.lastLine).toBe('patchsmith: no_change (exit 0): Nothing to restore.');
  });

  test('files of a checkout whose executable bits say nothing', async () => {
    const repository = await makeRepository({ a: 'a\n' });
    await repository.git('config', 'core.fileMode', 'false');
    repository.write('b', 'b\n', 0o755);
    chmodSync(join(repository.root, 'a'), 0o755);
    const before = treeOf(repository.root);
    const { runDir } = await scriptedRun({ repository, turns: [command('echo x | tee -a a b'), done] });
    const end = await undo(repository, runDir);
    expect([end.exitCode, treeOf(repository.root)], end.stderr).toEqual([0, before]);
  });

  test.each(
    sampled(
      [
        ['just committed', 0],
        ['committed a while ago', 2_100],
      ] as const,
      () => 'age',
      1,
    ),
  )('the very bytes of files that git keeps with other line endings or expansions, %s', async (_, ageMs) => {
    const id = '$Id: 0123456789012345678901234567890123456789 $';
    const repository = await makeRepository({
      '.gitattributes':
        '*.txt text\n*.c ident\n*.u16 working-tree-encoding=UTF-16LE-BOM text\n*.x filter=x\n',
      'crlf.txt': 'one\r\ntwo\r\n',
      'lf.txt': 'one\ntwo\n',
      'turned.txt': 'one\r\ntwo\r\n',
      'expanded.c': `${id}\n`,
      'wide.u16': Buffer.from('\ufeffwide\r\n', 'utf16le'),
      'dirty.txt': 'x\n',
    });
    const { root } = repository;
    await repository.git('config', 'filter.x.clean', 'tr a-z n-za-m');
    await repository.git('config', 'filter.x.smudge', 'tr a-z n-za-m');
    repository.write('secret.x', 'plain\n');
    await repository.git('add', 'secret.x');
    await repository.git('commit', '-q', '-m', 'filtered');
    // Git compares times by the second: only in the same one, files are read again.
    await setTimeout(ageMs);
    repository.write('dirty.txt', 'mixed\r\nendings\n');
    const before = treeOf(root);
    const finished = await scriptedRun({
      repository,
      turns: [
        command(
          'for f in *.txt *.c *.u16 *.x; do echo changed > $f; done; printf "one\\ntwo\\n" > turned.txt',
        ),
        done,
      ],
    });
    expect(finished.result.outcome, finished.stderr).toBe('done');
    expect((await undo(repository, finished.runDir)).exitCode).toBe(0);
    expect(treeOf(root)).toEqual(before);
  });
});

describe('a run that was killed', () => {
  test('between two calls is undone by its journal, torn as it may be', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const before = treeOf(repository.root);
    const runDir = join(temporaryFolder(), 'run');
    await killedRun(
      repository,
      runDir,
      [write('a.txt', 'new\n'), { fault: { kind: 'stall', afterEvents: 1 } }],
      ({ type }) => type === 'tool.completed',
    );
    appendFileSync(join(runDir, 'events.jsonl'), '{"type":"tool.st');
    expect((await undo(repository, runDir)).lastLine).toContain('done (exit 0): 1 file restored');
    expect(treeOf(repository.root)).toEqual(before);
  });

  test('inside a command that had changed something is refused, since its author is unknown; --force reverts the rest', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const nested = await makeRepository({ 'c.txt': 'c\n' });
    renameSync(nested.root, join(repository.root, 'nested'));
    const runDir = join(temporaryFolder(), 'run');
    await killedRun(
      repository,
      runDir,
      [write('a.txt', 'new\n'), command('echo b > b.txt; sleep 60')],
      ({ type, call }) => type === 'tool.started' && call?.name === 'run_command',
    );
    repository.write('b.txt', 'b\n');
    repository.write('nested/c.txt', 'changed\n');
    const refused = await undo(repository, runDir);
    expect(refused.lastLine).toMatch(
      /^patchsmith: usage_error \(exit 2\) \[ERR_UNDO_CONFLICT\]: The run died during: run_command \w+\. Changed since the last record, .*: b\.txt\. /,
    );
    expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('new\n');
    expect((await undo(repository, runDir, '--force')).lastLine).toMatch(
      /1 file restored .* Not restored: b\.txt, nested\/ \(a repository of its own\)\.$/,
    );
    expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('old\n');
  });
});

test('what a killed and resumed run did to uncommitted files that git would store in another form is undone exactly', async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 9\n`;
  const repository = await makeRepository({
    '.gitattributes': '*.lfs filter=lfs -text\n*.txt text\n',
    'lines.txt': 'one\r\n',
    'model.lfs': pointer,
  });
  repository.write('lines.txt', 'one\r\ntwo\r\n');
  repository.write('model.lfs', Buffer.alloc(5_000, 3));
  repository.write('new.lfs', Buffer.alloc(4_000, 5));
  const before = treeOf(repository.root);
  const runDir = join(temporaryFolder(), 'run');
  const change = command(
    'rm *.txt; for f in *.lfs; do echo > $f; done; [ -e slept ] || { touch slept; sleep 60; }',
  );
  await scriptedRun({
    repository,
    turns: [change],
    runDir,
    during: async ({ pid }) => {
      await until('the files have changed', () => existsSync(join(repository.root, 'slept')));
      process.kill(pid, 'SIGKILL');
    },
  });
  const server = await startClaudeServer({ turns: patient([change, done]), apiKey: KEY });
  try {
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url };
    const resumed = await runCli(['resume', runDir], { cwd: repository.root, env });
    expect(resumed.exitCode, resumed.stderr).toBe(0);
  } finally {
    await server.close();
  }
  expect((await undo(repository, runDir)).exitCode).toBe(0);
  expect(treeOf(repository.root)).toEqual(before);
});

/** Starts a run and kills it when its journal has such an event; what it left is in `runDir`. */
async function killedRun(
  repository: Repository,
  runDir: string,
  turns: Script,
  isLast: (event: { type: string; call?: { name: string } }) => boolean,
): Promise<void> {
  await scriptedRun({
    repository,
    turns,
    runDir,
    during: async ({ pid }) => {
      const journal = join(runDir, 'events.jsonl');
      const lines = () => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').slice(0, -1) : []);
      await until('the event is recorded', () => lines().some((line) => isLast(JSON.parse(line))));
      process.kill(pid, 'SIGKILL');
    },
  });
}

describe('a tree that moved on since the run', () => {
  test('is refused with the paths named, and nothing is changed', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n', 'b.txt': 'old\n' });
    const { runDir } = await scriptedRun({
      repository,
      turns: [write('a.txt', 'new\n'), write('b.txt', 'new\n'), write('c.txt', 'new\n'), done],
    });
    repository.write('b.txt', 'newer\n');
    rmSync(join(repository.root, 'c.txt'));
    writeFileSync(join(repository.root, 'unrelated.txt'), 'x');
    const moved = treeOf(repository.root);
    const refused = await undo(repository, runDir);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain('b.txt: it has changed since the run');
    expect(refused.stderr).not.toContain('c.txt');
    expect(refused.lastLine).toMatch(/Nothing was changed; --force restores the others\.$/);
    expect(treeOf(repository.root)).toEqual(moved);

    const forced = await undo(repository, runDir, '--force');
    expect(forced.lastLine).toBe(
      'patchsmith: internal_error (exit 1) [ERR_NOT_RESTORED]: 1 file restored to the state before the run; 1 path left as listed above.',
    );
    expect(treeOf(repository.root)).toEqual({ ...moved, 'a.txt': '644 old\n' });
    expect((await undo(repository, runDir)).lastLine).toMatch(/Nothing was changed\.$/);
  });

  test('a link in the place of a folder is not followed', async () => {
    const repository = await makeRepository({ 'd/a.txt': 'old\n' });
    const outside = await makeRepository({ 'a.txt': 'new\n' });
    const { runDir } = await scriptedRun({ repository, turns: [write('d/a.txt', 'new\n'), done] });
    rmSync(join(repository.root, 'd'), { recursive: true });
    symlinkSync(outside.root, join(repository.root, 'd'));
    expect((await undo(repository, runDir)).exitCode).toBe(2);
    expect((await undo(repository, runDir, '--force')).exitCode).toBe(1);
    expect(treeOf(outside.root)).toEqual({ 'a.txt': '644 new\n' });
  });
});

test.each(
  sampled(
    [
      ['a file', ['--max-changed-file-size', '100k']],
      ['all files', ['--max-changed-files', '2']],
    ] as const,
    () => 'limit',
  ),
)('what is over a limit on %s, in the place of a pipe, or work on a file of Git LFS', async (_, args) => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 9\n`;
  const repository = await makeRepository({
    '.gitattributes': '*.lfs filter=lfs -text\n',
    '.gitignore': '*.db\n',
    'a.txt': 'old\n',
    'committed.bin': Buffer.alloc(300_000, 1),
    'becomes-pipe': 'x\n',
    'model.lfs': pointer,
  });
  const { root } = repository;
  repository.write('model.lfs', Buffer.alloc(5_000, 3));
  repository.write('untracked.bin', Buffer.alloc(400_000, 7));
  repository.write('only.db', Buffer.alloc(1_300_000, 9));
  const before = treeOf(root);
  const { result, runDir, stderr } = await scriptedRun({
    repository,
    turns: [
      command(
        'for f in committed untracked new; do head -c 350000 /dev/zero > $f.bin; done; rm becomes-pipe; mkfifo becomes-pipe; echo work > model.lfs; echo new > a.txt',
      ),
      done,
    ],
    args,
  });
  expect(result.outcome, stderr).toBe('limit_reached');
  const end = await undo(repository, runDir);
  expect(end.lastLine).toBe('patchsmith: done (exit 0): 6 files restored to the state before the run.');
  expect(treeOf(root)).toEqual(before);
});

testAtNight('contents that are too large for memory are restored, committed and untracked ones', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const { root } = repository;
  const size = 300_000_000;
  for (const name of ['committed.bin', 'untracked.bin']) {
    repository.write(name, name);
    truncateSync(join(root, name), size);
  }
  await repository.git('add', 'committed.bin');
  await repository.git('commit', '--quiet', '--message', 'More');
  const { runDir } = await scriptedRun({ repository, turns: [command('rm *.bin'), done] });
  const end = await undo(repository, runDir);
  expect(end.lastLine).toBe('patchsmith: done (exit 0): 2 files restored to the state before the run.');
  for (const name of ['committed.bin', 'untracked.bin']) {
    const bytes = readFileSync(join(root, name));
    expect(bytes.length).toBe(size);
    expect(bytes.toString('latin1', 0, name.length)).toBe(name);
    expect(bytes.subarray(name.length).every((byte) => byte === 0)).toBe(true);
  }
  expect(readdirSync(join(runDir, 'shadow.git')).filter((name) => name.startsWith('put-back'))).toEqual([]);
});

test('a file over a limit that has changed since, or that was moved there, stays', async () => {
  const repository = await makeRepository({ '.gitignore': '*.db\n', 'big.bin': Buffer.alloc(300_000, 1) });
  repository.write('only.db', Buffer.alloc(1_300_000, 9));
  const { runDir } = await scriptedRun({
    repository,
    turns: [command('mv only.db only.bin; echo >> big.bin'), done],
    args: ['--max-changed-file-size', '100k'],
  });
  repository.write('big.bin', 'mine\n');
  const end = await undo(repository, runDir, '--force');
  expect(end.stderr).toContain('big.bin: it has changed since the run');
  expect(end.stderr).toContain('only.bin: it is older than the run, and so was moved or linked there');
  expect(Object.keys(treeOf(repository.root))).toEqual(['.gitignore', 'big.bin', 'only.bin']);
});

test('undo leaves what a person has committed during a run', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n', 'b.txt': 'old\n', 'gone.txt': 'x\n' });
  const { root, git } = repository;
  repository.write('b.txt', 'my work\n');
  const { result, runDir, stderr } = await scriptedRun({
    repository,
    turns: [
      write('a.txt', 'new\n'),
      command('rm gone.txt; until [ -e go ]; do sleep 0.05; done; rm go; echo new > b.txt'),
      done,
    ],
    during: async () => {
      await until('the command has begun', () => !existsSync(join(root, 'gone.txt')));
      await git('checkout', '-q', '-b', 'mine');
      await git('commit', '-q', '-m', 'a.txt and gone.txt', '--', 'a.txt', 'gone.txt');
      repository.write('go', '');
    },
  });
  expect(result.outcome, stderr).toBe('done');
  expect(result.changedFiles.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'gone.txt']);
  const end = await undo(repository, runDir);
  expect(end.stderr).toContain(
    `Left as they are, because they were committed since (git revert takes a commit back, and ${runDir}/uncommitted.patch has your work from before): a.txt, gone.txt.`,
  );
  expect(end.lastLine).toBe('patchsmith: done (exit 0): 1 file restored to the state before the run.');
  expect(treeOf(root)).toEqual({ 'a.txt': '644 new\n', 'b.txt': '644 my work\n' });
  expect(await git('status', '--porcelain')).toBe(' M b.txt');
});

test('ignored files that file tools made are removed unless they have changed, and what they replaced is restored', async () => {
  const repository = await makeRepository({ '.gitignore': 'build/\n', 'a.txt': 'old\n' });
  repository.write('build/theirs.txt', 'theirs\n');
  const { runDir, result, events } = await scriptedRun({
    repository,
    turns: [
      write('build/out.txt', 'x\n'),
      write('build/log.txt', 'x\n'),
      write('build/theirs.txt', 'x\n'),
      write('a.txt', 'new\n'),
      done,
    ],
  });
  const excluded = events.flatMap((event) =>
    event.type === 'change.recorded' ? event.changes.filter((change) => change.excluded) : [],
  );
  expect(excluded.map(({ path, kind, excluded: why }) => [path, kind, why])).toEqual([
    ['build/out.txt', 'create', 'ignored'],
    ['build/log.txt', 'create', 'ignored'],
    ['build/theirs.txt', 'modify', 'ignored'],
  ]);
  expect(result.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
  repository.write('build/log.txt', 'more\n');
  const end = await undo(repository, runDir);
  expect(end.exitCode, end.stderr).toBe(0);
  expect(end.stderr).toContain('Restored, though git ignores them: build/theirs.txt.');
  expect(end.stderr).toContain('git ignores them and they have changed since the run: build/log.txt.');
  const left = treeOf(repository.root);
  expect(left).toMatchObject({
    'a.txt': '644 old\n',
    'build/log.txt': '644 more\n',
    'build/theirs.txt': '644 theirs\n',
  });
  expect(left).not.toHaveProperty('build/out.txt');
});

testAtNight(
  'what commands wrote to ignored paths stays and is named, and so does what their own rules hide and they change',
  async () => {
    const repository = await makeRepository({ '.gitignore': 'build/\n', 'a.txt': 'old\n' });
    repository.write('build/theirs.txt', 'theirs\n');
    const { runDir, result, events } = await scriptedRun({
      repository,
      turns: [
        write('seen.log', 'x\n'),
        write('same.log', 'x\n'),
        command('echo "*.log" >> .gitignore; echo x > made.log; echo y > seen.log'),
        command('cd build; echo x > theirs.txt; for i in $(seq 520); do echo > $i; done'),
        write('build/1', 'z\n'),
        done,
      ],
      args: ['--verify', 'echo x > build/cache'],
    });
    expect(result.changedFiles.map(({ path }) => path)).toEqual(['.gitignore']);
    const changes = events.flatMap((event) => (event.type === 'change.recorded' ? event.changes : []));
    expect(changes.flatMap(({ path, excluded }) => (excluded === undefined ? [] : [path]))).toEqual([
      'build/1',
    ]);
    const end = await undo(repository, runDir);
    expect(end.exitCode, end.stderr).toBe(0);
    expect(end.stderr).toMatch(
      /their earlier contents were not stored: build\/.* more files that the result does/,
    );
    expect(end.stderr).toContain('git ignores them and they have changed since the run: seen.log.');
    const left = treeOf(repository.root);
    expect(left).toMatchObject({
      'made.log': '644 x\n',
      'seen.log': '644 y\n',
      'build/theirs.txt': '644 theirs\n',
    });
    expect(left).not.toHaveProperty('same.log');
  },
);

test('a folder that is not a run is named', async () => {
  const repository = await makeRepository({});
  expect((await undo(repository, 'no-such-run')).lastLine).toMatch(
    /^patchsmith: usage_error \(exit 2\) \[ERR_RUN_NOT_FOUND\]: There is no run "no-such-run" \(looked in /,
  );
  expect((await runCli(['undo'], { cwd: repository.root })).lastLine).toContain(
    `usage_error (exit 2) [ERR_RUN_NOT_FOUND]: No run in `,
  );
});
