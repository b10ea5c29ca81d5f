/** Commands over a run directory that somebody else has made: they read nothing outside, wait for nobody, and end. */

import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { makePipe } from '../../support/files/temp-folder.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, type FinishedRun, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const COMMANDS = ['replay', 'resume', 'undo', 'blame'] as const;
const CANARY = 'private-canary-5b1e';

let repository: Repository;
let recorded: FinishedRun;
let secret: Repository;
beforeAll(async () => {
  repository = await makeRepository({ 'a.txt': 'old\n' });
  recorded = await scriptedRun({
    repository,
    turns: [
      { calls: [call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' })] },
      { calls: [call('finish', { status: 'done', summary: 'Done.' })] },
    ],
  });
  expect(recorded.result.outcome, recorded.stderr).toBe('done');
  secret = await makeRepository({ 'private.txt': `${CANARY}\n` });
});

/** The run once more, as it would have come from elsewhere. `isKilled`: it has not come to its end. */
function foreign({ isKilled = false } = {}): string {
  const folder = join(temporaryFolder(), 'run');
  cpSync(recorded.runDir, folder, { recursive: true });
  if (isKilled) {
    rmSync(join(folder, 'result.json'));
    const lines = readFileSync(join(folder, 'events.jsonl'), 'utf8').trimEnd().split('\n');
    writeFileSync(join(folder, 'events.jsonl'), `${lines.slice(0, -1).join('\n')}\n`);
  }
  return folder;
}

/** Nobody answers as the model: whatever is refused is refused before it is asked. */
const over = (command: string, run: string, ...args: string[]) =>
  runCli([command, run, ...args], {
    cwd: repository.root,
    env: {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      XDG_STATE_HOME: temporaryFolder(),
    },
  });

function rewrite(run: string, change: (text: string) => string): void {
  const journal = join(run, 'events.jsonl');
  writeFileSync(journal, change(readFileSync(journal, 'utf8')));
}

const PIPES = [
  'events.jsonl',
  'shadow.git/objects/info/alternates',
  'shadow.git/config',
  'shadow.git/start.index',
];
const LINKS = ['result.json.new', 'shadow.git/config', 'shadow.git/objects/pack', 'report.html'];

// By day each command meets another one of each kind: all of them begin with the same look at the directory.
describe.each(COMMANDS.map((command, at) => ({ command, at })))('$command', ({ command, at }) => {
  test.each(sampled(PIPES, () => 'pipe', at))('does not wait for a pipe in place of %s', async (path) => {
    const run = foreign({ isKilled: command === 'resume' });
    rmSync(join(run, path));
    makePipe(join(run, path));
    const { exitCode, lastLine } = await over(command, run);
    expect([exitCode, lastLine]).toEqual([
      2,
      expect.stringContaining(`${path} is neither a file nor a folder`),
    ]);
  });

  test('follows no link out of it', async () => {
    const run = foreign({ isKilled: command === 'resume' });
    const target = join(temporaryFolder(), 'target');
    writeFileSync(target, CANARY);
    for (const path of sampled(LINKS, () => 'link', at)) {
      const mine = join(temporaryFolder(), 'run');
      cpSync(run, mine, { recursive: true });
      rmSync(join(mine, path), { recursive: true, force: true });
      symlinkSync(target, join(mine, path));
      const { exitCode, stdout, stderr, lastLine } = await over(command, mine);
      expect([exitCode, lastLine]).toEqual([2, expect.stringContaining(`${path} is a link`)]);
      expect(stdout + stderr).not.toContain(CANARY);
      expect(readFileSync(target, 'utf8')).toBe(CANARY);
    }
  });

  test('does not read an endless journal, or one that would exceed memory', async () => {
    const run = foreign({ isKilled: command === 'resume' });
    const journal = join(run, 'events.jsonl');
    const text = readFileSync(journal, 'utf8');
    const ends: [string, () => void][] = [
      ['is larger than', () => truncateSync(journal, 2 ** 40)],
      ['nested too deeply', () => writeFileSync(journal, `${'['.repeat(5_000_000)}\n`)],
      ['too many values', () => writeFileSync(journal, `[${'{},'.repeat(6_000_000)}{}]\n${text}`)],
    ];
    for (const [why, make] of sampled(ends, () => 'end', at)) {
      make();
      const { exitCode, lastLine } = await over(command, run);
      expect([exitCode, lastLine]).toEqual([2, expect.stringContaining(why)]);
    }
  });

  test('takes nothing for an id or a path that could be an option, or lead outside', async () => {
    for (const [from, to] of [
      [/"tree":"[0-9a-f]{40}"/, `"tree":"--index-output=${join(repository.root, 'made')}"`],
      [/"path":"a\.txt"(?=,"before)/, '"path":"../../a.txt"'],
      [/"blob":"[0-9a-f]{40}"/, '"blob":"-F/etc/passwd"'],
    ] as const) {
      const run = foreign({ isKilled: command === 'resume' });
      rewrite(run, (text) => text.replace(from, to));
      const { exitCode, lastLine } = await over(command, run);
      expect([exitCode, lastLine], String(from)).toEqual([
        2,
        expect.stringContaining('not an event of this version'),
      ]);
    }
    expect(existsSync(join(repository.root, 'made'))).toBe(false);
  });
});

test('objects of a repository that the run directory names are not read', async () => {
  const tree = (await secret.git('rev-parse', 'HEAD^{tree}')).trim();
  const run = foreign();
  const store = join(secret.root, '.git/objects');
  writeFileSync(join(run, 'shadow.git/objects/info/alternates'), `${store}\n`);
  rewrite(run, (text) => text.replace(/"tree":"[0-9a-f]{40}"/g, `"tree":"${tree}"`));
  const replayed = await over('replay', run);
  expect([replayed.exitCode, replayed.lastLine]).toEqual([
    2,
    expect.stringContaining('does not have the base of the run'),
  ]);
  const blob = (await secret.git('rev-parse', 'HEAD:private.txt')).trim();
  const stolen = foreign();
  writeFileSync(join(stolen, 'shadow.git/objects/info/alternates'), `${store}\n`);
  rewrite(stolen, (text) => text.replace(/("before":\{"mode":"100644","blob":")[0-9a-f]{40}/g, `$1${blob}`));
  const undone = await over('undo', stolen, '--force');
  expect(undone.stderr).not.toContain('1 file restored');
  const blamed = await over('blame', stolen);
  expect(`${undone.stdout}${undone.stderr}${blamed.stdout}${blamed.stderr}`).not.toContain(CANARY);
  expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('new\n');
});

describe('a journal that permits itself more than its caller does', () => {
  test('is continued only in the current checkout', async () => {
    const run = foreign({ isKilled: true });
    rewrite(run, (text) => text.replace(/"root":"[^"]*"/, `"root":"${secret.root}"`));
    const { exitCode, lastLine } = await over('resume', run);
    expect([exitCode, lastLine]).toEqual([
      2,
      expect.stringContaining(`The run worked in ${secret.root}, not in ${repository.root}.`),
    ]);
  });

  test('is not continued without its sandbox, with its hosts or by its limits', async () => {
    const run = foreign({ isKilled: true });
    rewrite(run, (text) =>
      text
        .replace(/"sandbox":"[^"]*"/, '"sandbox":"none"')
        .replace('"allowedDomains":[]', '"allowedDomains":["evil.example"]')
        .replace(/"maxIterations":\d+/, '"maxIterations":1000000'),
    );
    const { exitCode, lastLine } = await over('resume', run);
    expect([exitCode, lastLine]).toEqual([
      2,
      expect.stringContaining('--sandbox off --allow-domain evil.example --max-iterations 1000000'),
    ]);
  });

  test('is not replayed outside a checkout', async () => {
    for (const root of ['', '/', 'here', '/proc/1', '/a/../etc']) {
      const run = foreign();
      rewrite(run, (text) => text.replace(/"root":"[^"]*"/, `"root":"${root}"`));
      const { exitCode, lastLine } = await over('replay', run);
      expect([exitCode, lastLine]).toEqual([2, expect.stringContaining('where no checkout can be')]);
    }
  });
});

test('the configuration in it says nothing to git', async () => {
  const run = foreign();
  const planted = join(temporaryFolder(), 'planted');
  const pipe = join(temporaryFolder(), 'pipe');
  makePipe(pipe);
  writeFileSync(
    join(run, 'shadow.git/config'),
    `[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = touch ${planted}\n\thooksPath = ${run}\n[include]\n\tpath = ${pipe}\n`,
  );
  const blamed = await over('blame', run);
  expect(blamed.exitCode, blamed.stderr).toBe(0);
  const replayed = await over('replay', run);
  expect(replayed.exitCode, replayed.stderr).toBe(0);
  const undone = await over('undo', run);
  expect(undone.exitCode, undone.stderr).toBe(0);
  expect([existsSync(planted), readFileSync(join(repository.root, 'a.txt'), 'utf8')]).toEqual([
    false,
    'old\n',
  ]);
});
