/** Files of the work tree that have a name outside of it, as package managers link them to their store. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { isRoot, runAsNobody } from '../../support/runs/as-nobody.ts';
import { command, done, scriptedRun } from '../../support/runs/scripted-run.ts';

const AS_IT_WAS = "module.exports = 'as it was';\n";
const PLACE = 'node_modules/.pnpm/a@1.0.0/node_modules/a/index.js';

/** A checkout with a file that is linked to a store outside. */
async function linked() {
  const repository = await makeRepository({ '.gitignore': 'node_modules/\n', 'a.txt': 'a\n' });
  const store = join(temporaryFolder(), 'store');
  mkdirSync(store);
  const outside = join(store, 'index.js');
  writeFileSync(outside, AS_IT_WAS, { mode: 0o755 });
  utimesSync(outside, 1_600_000_000, 1_600_000_000);
  const inside = join(repository.root, PLACE);
  mkdirSync(join(inside, '..'), { recursive: true });
  linkSync(outside, inside);
  return { repository, outside, inside };
}

const stateOf = (path: string) => {
  const { mode, mtimeMs, nlink } = lstatSync(path);
  return [readFileSync(path, 'latin1'), mode & 0o7777, mtimeMs, nlink];
};

const EDIT = `touch -r ${PLACE} /tmp/time; echo evil >> ${PLACE}; chmod 777 ${PLACE}; touch -r /tmp/time ${PLACE}`;

test.each(['required', 'off'])(
  'a command that edits one in place changes nothing outside, with --sandbox %s',
  async (mode) => {
    const { repository, outside, inside } = await linked();
    const before = stateOf(outside);
    const run = await scriptedRun({
      repository,
      turns: [command(EDIT), done],
      args: ['--sandbox', mode],
    });
    expect([run.exitCode, readFileSync(inside, 'utf8')], run.stderr).toEqual([0, `${AS_IT_WAS}evil\n`]);
    expect(stateOf(outside)).toEqual([...before.slice(0, 3), 1]);
    expect(run.stderr).toContain(
      `[WARN_HARD_LINKS_COPIED] 1 file of the work tree (0 KB), such as "${PLACE}", is a hard link to a file outside of it`,
    );
  },
);

test('setup commands find copies too, with mode and time as they were', async () => {
  const { repository, outside, inside } = await linked();
  const before = stateOf(outside);
  const run = await scriptedRun({
    repository,
    turns: [done],
    args: ['--setup', `cp -p ${PLACE} node_modules/seen; echo evil >> ${PLACE}`],
  });
  expect(run.exitCode, run.stderr).toBe(0);
  expect(stateOf(outside)).toEqual([...before.slice(0, 3), 1]);
  expect(stateOf(join(repository.root, 'node_modules/seen'))).toEqual([...before.slice(0, 3), 1]);
  expect(readFileSync(inside, 'utf8')).toBe(`${AS_IT_WAS}evil\n`);
});

test('a link into the git dir is one that leads out', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const hook = join(repository.root, '.git/hooks/pre-commit');
  mkdirSync(join(hook, '..'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\n', { mode: 0o755 });
  linkSync(hook, join(repository.root, 'hook.txt'));
  const run = await scriptedRun({
    repository,
    turns: [command('echo evil >> hook.txt'), done],
  });
  expect(run.exitCode, run.stderr).toBe(0);
  expect(readFileSync(hook, 'utf8')).toBe('#!/bin/sh\n');
});

test('so is one into a git dir of another name', async () => {
  const repository = await makeRepository({ '.gitignore': 'cache/\n', 'a.txt': 'a\n' });
  const { root } = repository;
  mkdirSync(join(root, 'cache'));
  execFileSync('git', ['init', '--quiet', '--separate-git-dir', 'cache/split', 'split'], { cwd: root });
  const hook = join(root, 'cache/split/hooks/pre-push');
  mkdirSync(join(hook, '..'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\n');
  linkSync(hook, join(root, 'split/hook.txt'));
  const turns = [command('echo evil >> split/hook.txt'), done];
  const run = await scriptedRun({ repository, turns });
  expect(run.exitCode, run.stderr).toBe(0);
  expect(readFileSync(hook, 'utf8')).toBe('#!/bin/sh\n');
});

test.runIf(isRoot)('a folder that is mounted a second time does not count twice', async () => {
  const { repository, outside } = await linked();
  const second = join(repository.root, 'node_modules/second');
  mkdirSync(second);
  execFileSync('mount', ['--bind', join(repository.root, PLACE, '..'), second]);
  try {
    const run = await scriptedRun({ repository, turns: [command(EDIT), done] });
    expect(run.exitCode, run.stderr).toBe(0);
    expect(readFileSync(outside, 'utf8')).toBe(AS_IT_WAS);
  } finally {
    execFileSync('umount', [second]);
  }
});

test('a file with a name that is no UTF-8, or with set-uid bits, is copied, the latter without them', async () => {
  const { repository, outside } = await linked();
  chmodSync(outside, 0o6755);
  const name = Buffer.from('node_modules/\xff', 'latin1');
  linkSync(outside, Buffer.concat([Buffer.from(`${repository.root}/`), name]));
  const turns = [command(`for one in ${PLACE} node_modules/?; do echo evil >> "$one"; done`), done];
  const run = await scriptedRun({ repository, turns });
  expect(run.exitCode, run.stderr).toBe(0);
  expect(stateOf(outside).slice(0, 2)).toEqual([AS_IT_WAS, 0o6755]);
  expect(lstatSync(join(repository.root, PLACE)).mode & 0o7777).toBe(0o755);
});

test.runIf(isRoot)(
  'a folder of the user that is closed is refused with the command that opens it',
  async () => {
    const repository = await makeRepository({ '.gitignore': "it's own/\n", 'a.txt': 'a\n' });
    const folder = join(repository.root, "it's own/deep");
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0);
    const turns = [command('echo b > a.txt'), done];
    const refused = await runAsNobody(repository, { turns });
    expect([refused.exitCode, refused.lastLine]).toEqual([
      2,
      expect.stringContaining('[ERR_LINKED_OUTSIDE]'),
    ]);
    expect(lstatSync(folder).mode & 0o777).toBe(0);
    const [, typed = ''] = / open it: (chmod .*)$/.exec(refused.lastLine) ?? [];
    execFileSync('sh', ['-c', typed], { cwd: '/' });
    expect(lstatSync(folder).mode & 0o777).toBe(0o500);
    const run = await runAsNobody(repository, { turns });
    expect(run.exitCode, run.stderr).toBe(0);
  },
);

test('files that are linked only with each other stay so', async () => {
  const repository = await makeRepository({ '.gitignore': 'target/\n', 'a.txt': 'a\n' });
  mkdirSync(join(repository.root, 'target/deps'), { recursive: true });
  const [one, two] = ['target/app', 'target/deps/app-1'].map((path) => join(repository.root, path));
  writeFileSync(one ?? '', 'built\n');
  linkSync(one ?? '', two ?? '');
  const { ino } = lstatSync(one ?? '');
  const run = await scriptedRun({ repository, turns: [command('echo b > a.txt'), done] });
  expect(run.exitCode, run.stderr).toBe(0);
  expect([one, two].map((path) => lstatSync(path ?? '').ino)).toEqual([ino, ino]);
  expect(run.stderr).not.toContain('WARN_HARD_LINKS_COPIED');
});

test('a run for which there is not enough space to copy them does not begin', async () => {
  const { repository, outside, inside } = await linked();
  truncateSync(outside, 2 ** 40);
  const run = await scriptedRun({
    repository,
    turns: [done],
    args: ['--setup', 'echo > began'],
  });
  expect([run.exitCode, run.lastLine], run.stderr).toEqual([
    2,
    expect.stringMatching(/\[ERR_LINKED_OUTSIDE\]: 1 file .*index\.js.*--max-disk allows 10 GB.*copy/),
  ]);
  expect(existsSync(join(repository.root, 'began'))).toBe(false);
  expect(lstatSync(inside).nlink).toBe(2);
});

test.each([
  ['writes through one', (file: string) => `echo evil >> ${file}`, 'report', 0],
  ['writes through one, which is an error', (file: string) => `echo evil >> ${file}`, 'error', 8],
  ['hides that by removing it', (file: string) => `echo evil >> ${file}; rm ${file}`, 'error', 8],
  ['changes another file', (file: string) => `echo more > ${file}.more`, 'error', 0],
])(
  'a writable mount with such links is named beforehand; a command %s',
  async (_does, does, ifDenied, exitCode) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const folder = temporaryFolder();
    const [mount, file] = [join(folder, 'mount'), join(folder, 'mount/deep/a.js')];
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(join(folder, 'store.js'), AS_IT_WAS);
    linkSync(join(folder, 'store.js'), file);
    for (const name of ['one', 'two']) {
      if (name === 'one') writeFileSync(join(mount, name), 'of the mount\n');
      else linkSync(join(mount, 'one'), join(mount, name));
    }
    const run = await scriptedRun({
      repository,
      turns: [command(does(file)), done],
      args: ['--sandbox', 'required', '--mount', `${mount}:rw`, '--if-denied', ifDenied],
    });
    expect(run.stderr).toContain(
      `[WARN_HARD_LINKS_MOUNTED] 1 file of --mount ${mount}:rw, such as "${file}"`,
    );
    const isChanged = exitCode === 8 || ifDenied === 'report';
    expect([run.exitCode, run.result.denied.map(({ what }) => what)], run.stderr).toEqual([
      exitCode,
      isChanged ? [file] : [],
    ]);
  },
);
