/** A patch carries no folder that git takes for a repository: `git status` in it would run what its configuration names. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { call, command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

/** Files of a bare repository whose configuration names a program that leaves a mark. */
function bareFiles(mark: string): Record<string, string> {
  return {
    HEAD: 'ref: refs/heads/main\n',
    config: `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch ${mark}; false"\n`,
    'objects/x': '',
    'refs/x': '',
  };
}

/** A shell script that makes these files. */
function making(folder: string, files: Readonly<Record<string, string>>): string {
  return Object.entries(files)
    .map(
      ([path, text]) =>
        `mkdir -p ${dirname(`${folder}/${path}`)}; cat > ${folder}/${path} <<'END'\n${text}END\n`,
    )
    .join('');
}

const markPath = () => join(temporaryFolder(), 'mark');

/** Whether the program runs when somebody asks git for the status of the folder. */
async function springs(folder: string, mark: string): Promise<boolean> {
  if (existsSync(folder)) await execa('git', ['status'], { cwd: folder, reject: false });
  return existsSync(mark);
}

/** The same in a fresh clone that the patch was applied to. */
async function springsInClone(run: FinishedRun, repository: Repository, mark: string): Promise<boolean> {
  const clone = join(temporaryFolder(), 'clone');
  await execa('git', ['clone', '--quiet', repository.root, clone]);
  if (run.patch !== '') await execa('git', ['apply', join(run.runDir, 'changes.patch')], { cwd: clone });
  return springs(join(clone, 'evil'), mark);
}

test('git runs what such a folder names', async () => {
  const mark = markPath();
  const folder = join(temporaryFolder(), 'evil');
  for (const [path, text] of Object.entries(bareFiles(mark))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  expect(await springs(folder, mark)).toBe(true);
});

describe('a folder that git takes for a repository is reverted when a command', () => {
  const half = (mark: string) => {
    const { 'refs/x': _, ...files } = bareFiles(mark);
    return Object.fromEntries(Object.entries(files).map(([path, text]) => [`evil/${path}`, text]));
  };
  test.each<[string, (mark: string) => Record<string, string>, (mark: string) => string[]]>([
    ['makes all of it', () => ({}), (mark) => [making('evil', bareFiles(mark))]],
    [
      'makes it with links for folders',
      () => ({}),
      (mark) => {
        const { HEAD = '', config = '' } = bareFiles(mark);
        return [`${making('evil', { HEAD, config })} ln -s . evil/objects; ln -s . evil/refs`];
      },
    ],
    [
      'makes a part of it, and another the rest',
      () => ({}),
      (mark) => {
        const { HEAD = '', ...files } = bareFiles(mark);
        return [making('evil', files), making('evil', { HEAD })];
      },
    ],
    ['adds what the base lacks', half, () => ['mkdir -p evil/refs; echo > evil/refs/x']],
    [
      'leaves a folder of it without a file',
      () => ({ 'evil/HEAD': 'ref: refs/heads/main\n', 'evil/objects/x': '' }),
      (mark) => [`mkdir evil/refs; ${making('evil', { config: bareFiles(mark).config ?? '' })}`],
    ],
    [
      'moves it there',
      () => ({}),
      (mark) => [`mkdir /tmp/aside; ${making('/tmp/aside', bareFiles(mark))} mv /tmp/aside evil`],
    ],
    [
      'changes the configuration of one that was there',
      (mark) => {
        const { config: _, ...files } = bareFiles(mark);
        return Object.fromEntries(Object.entries(files).map(([path, text]) => [`evil/${path}`, text]));
      },
      (mark) => [making('evil', { config: bareFiles(mark).config ?? '' })],
    ],
  ])('%s', async (_what, base, commands) => {
    const mark = markPath();
    const repository = await makeRepository({ 'src/a.txt': 'a\n', ...base(mark) });
    const turns = [...commands(mark).map(command), command('echo b >> src/a.txt'), done];
    const run = await scriptedRun({ repository, turns });
    expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
    expect(run.result.putBack.some(({ path }) => path.startsWith('evil/'))).toBe(true);
    expect(await springsInClone(run, repository, mark)).toBe(false);
    expect(await springs(join(repository.root, 'evil'), mark)).toBe(false);
    const [said] = run.events.flatMap((event) =>
      event.type === 'tool.completed' && event.outcome.text.includes('as repositories')
        ? [event.outcome]
        : [],
    );
    expect(said?.text).toContain('"evil"');
  });
});

test.each([
  ['one after the other', (parts: ReturnType<typeof call>[]) => parts.map((one) => ({ calls: [one] }))],
  ['at once', (parts: ReturnType<typeof call>[]) => [{ calls: parts }]],
])('file tools are refused what makes such a folder, %s', async (_how, turnsOf) => {
  const mark = markPath();
  const repository = await makeRepository({ 'src/a.txt': 'a\n' });
  const parts = Object.entries(bareFiles(mark)).map(([path, content]) =>
    call('write_file', { path: `evil/${path}`, content }),
  );
  const run = await scriptedRun({ repository, turns: [...turnsOf(parts), done] });
  expect(run.exitCode, run.stderr).toBe(0);
  const refused = run.events.filter(
    (event) =>
      event.type === 'tool.completed' &&
      event.outcome.status === 'failed' &&
      event.outcome.reason === 'policy',
  );
  expect(refused.length).toBeGreaterThan(0);
  expect(await springsInClone(run, repository, mark)).toBe(false);
  expect(await springs(join(repository.root, 'evil'), mark)).toBe(false);
});

test('verify commands do not leave one either', async () => {
  const mark = markPath();
  const repository = await makeRepository({ 'src/a.txt': 'a\n' });
  const verify = making('evil', bareFiles(mark));
  writeFileSync(join(repository.root, 'src/verify.sh'), verify);
  const run = await scriptedRun({
    repository,
    args: ['--verify', 'sh src/verify.sh'],
    turns: [command('echo b >> src/a.txt'), done],
  });
  expect([run.exitCode, run.result.putBack.map(({ by }) => by)], run.stderr).toEqual([
    0,
    ['verify', 'verify', 'verify', 'verify'],
  ]);
  expect(await springs(join(repository.root, 'evil'), mark)).toBe(false);
});

test('one that belongs to the project and is not changed is not an obstacle', async () => {
  const files = Object.entries(bareFiles('/nowhere')).map(([path, text]) => [
    `tests/fixtures/repo.git/${path}`,
    text,
  ]);
  const repository = await makeRepository({ 'tests/a.test.txt': 'a\n', ...Object.fromEntries(files) });
  const run = await scriptedRun({
    repository,
    turns: [command('echo b >> tests/a.test.txt; echo c > tests/fixtures/new.txt'), done],
  });
  expect([run.exitCode, run.result.changedFiles.length, run.result.putBack], run.stderr).toEqual([0, 2, []]);
});

test('one whose other parts a sparse checkout leaves out is seen in the tree of the patch, which is withheld', async () => {
  const mark = markPath();
  const { 'refs/x': refs = '', ...files } = bareFiles(mark);
  const repository = await makeRepository({
    'src/a.txt': 'a\n',
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`evil/${path}`, text])),
  });
  await repository.git('sparse-checkout', 'set', '--no-cone', '/src/');
  const run = await scriptedRun({
    repository,
    turns: [command(`mkdir -p evil/refs; echo '${refs}' > evil/refs/x`), done],
  });
  expect([run.exitCode, run.result.outcome, run.result.patch], run.stderr).toEqual([
    8,
    'policy_violation',
    null,
  ]);
  expect(run.result.reason).toContain('a folder that git treats as a repository');
  expect(run.result.reason).toContain('evil');
});

test('a `.git` that is a file and leads to such a folder is refused as ever', async () => {
  const repository = await makeRepository({ 'src/a.txt': 'a\n' });
  const run = await scriptedRun({
    repository,
    turns: [
      { calls: [call('write_file', { path: 'x/.git', content: 'gitdir: ./y\n' })] },
      command('mkdir x; echo "gitdir: ./y" > x/.git; echo x > x/a.txt; echo b >> src/a.txt'),
      done,
    ],
  });
  expect(run.patch).not.toContain('gitdir');
  expect(readFileSync(join(repository.root, 'src/a.txt'), 'utf8')).toBe('a\nb\n');
});
