/** What an operator can add to the sandbox, and what not even an operator can. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSandbox } from '../../../../src/adapters/sandboxes/open.ts';
import { userMounts } from '../../../../src/adapters/sandboxes/visible/user-mounts.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { makePlace, open, versionOutside } from '../fixture.ts';

test('a mount is read-only unless it is requested as writable', async () => {
  const folder = tempFolder({
    'read/file': 'read',
    'read/.npmrc': 'canary',
    'cache/file': 'cached',
    'one.txt': 'one',
  });
  const mounts = [`${folder}/cache:rw`, `${folder}/read/`, `${folder}/one.txt`];
  const { text, run } = await open(makePlace(), 'required', process.env, undefined, mounts);
  expect(await text(`cd '${folder}' && cat read/file cache/file one.txt read/.npmrc`)).toBe('readcachedone');
  expect((await run(`: > '${folder}/read/new'`)).end.exitCode).toBe(1);
  await text(`echo new > '${folder}/cache/new'`);
  expect(readFileSync(join(folder, 'cache/new'), 'utf8')).toBe('new\n');
  // What lies beside is not there.
  expect(await text(`ls '${folder}'`)).toBe('cache\none.txt\nread\n');
});

test('a mount named through a link is there under that name', async () => {
  const folder = tempFolder({ 'real/file': 'content' });
  symlinkSync('real', join(folder, 'link'));
  const { text } = await open(makePlace(), 'required', process.env, undefined, [`${folder}/link`]);
  expect(await text(`cat '${folder}/link/file'`)).toBe('content');
});

test('a mount that cannot be is a mistake, and no reason to do without a sandbox', async () => {
  const { root, sandboxGitDir, runDir } = makePlace();
  for (const mode of ['required', 'auto'] as const) {
    const options = { mode, root, sandboxGitDir, scratchDir: join(runDir, 'scratch'), hostEnv: process.env };
    expect(await openSandbox({ ...options, mounts: ['/'] })).toEqual({
      status: 'refused',
      reason: '--mount /: that is too broad: name the folder below it that commands need.',
    });
  }
});

/** What is said about one mount, in a world with a home, a work tree, a run directory and a repository elsewhere. */
function said(make: (folder: string) => string | string[]): string {
  const folder = tempFolder({
    'home/.ssh/id': '',
    'home/.config/gh/hosts.yml': '',
    'home/.cargo/bin/cargo': '',
    'home/.cargo/registry/x': '',
    'home/.cache/x': '',
    'home/.keys/credentials.json': '',
    'code/repo/src/x': '',
    'code/other/.git/config': '',
    'state/run/events.jsonl': '',
    'main/.git/objects/x': '',
  });
  mkdirSync(join(folder, 'repo-evil'));
  symlinkSync('../../home', join(folder, 'code/other/link'));
  symlinkSync('/etc/shadow', join(folder, 'innocent'));
  execFileSync('mkfifo', [join(folder, 'fifo'), join(folder, 'code/other/pipe')]);
  const asked = [make(folder)].flat();
  const got = userMounts(asked, {
    homes: [join(folder, 'home')],
    roots: [join(folder, 'code/repo')],
    offLimits: [join(folder, 'state/run'), join(folder, 'main/.git')],
    programs: [join(folder, 'home/.cargo/bin'), '/usr/bin'],
  });
  return got.status === 'ok' ? 'ok' : got.problem.replaceAll(folder, '');
}

const TOO_MUCH = 'that is too broad: name the folder below it that commands need.';
const PROGRAMS =
  'programs in it also run outside the sandbox, so it cannot be writable; name another folder.';

test.each<[string, (folder: string) => string | string[], string]>([
  ['the root', () => '/', `--mount /: ${TOO_MUCH}`],
  ['the root, writable', () => '/:rw', `--mount /:rw: ${TOO_MUCH}`],
  ['the root by a detour', () => '/usr/..', `--mount /usr/..: ${TOO_MUCH}`],
  ['the home folder', (at) => `${at}/home`, `--mount /home: ${TOO_MUCH}`],
  ['the home folder by a link', (at) => `${at}/code/other/link`, `--mount /code/other/link: ${TOO_MUCH}`],
  ['what holds the home folder', (at) => at, `--mount : ${TOO_MUCH}`],
  ['all home folders', () => '/home', `--mount /home: ${TOO_MUCH}`],
  ['keys', (at) => `${at}/home/.ssh`, '--mount /home/.ssh: it holds credentials.'],
  ['tokens', (at) => `${at}/home/.config/gh`, '--mount /home/.config/gh: it holds credentials.'],
  [
    'the work tree',
    (at) => `${at}/code/repo`,
    '--mount /code/repo: it is in the work tree, which commands see anyway.',
  ],
  [
    'a part of the work tree',
    (at) => `${at}/code/repo/src:rw`,
    '--mount /code/repo/src:rw: it is in the work tree, which commands see anyway.',
  ],
  ['what holds the work tree', (at) => `${at}/code`, '--mount /code: the work tree is inside it.'],
  [
    'the run directory',
    (at) => `${at}/state/run`,
    '--mount /state/run: the run directory and the repository stay out of the sandbox.',
  ],
  [
    'what holds the run directory',
    (at) => `${at}/state`,
    '--mount /state: the run directory and the repository stay out of the sandbox.',
  ],
  [
    'another .git',
    (at) => `${at}/code/other/.git`,
    '--mount /code/other/.git: a .git folder stays out of the sandbox.',
  ],
  [
    'what holds the repository',
    (at) => `${at}/main`,
    '--mount /main: the run directory and the repository stay out of the sandbox.',
  ],
  ['sockets of the machine', () => '/run', '--mount /run: the contents of /run stay out of the sandbox.'],
  [
    'sockets of the machine by a link',
    () => '/var/run',
    '--mount /var/run: the contents of /run stay out of the sandbox.',
  ],
  [
    'password hashes',
    () => '/etc/passwd',
    '--mount /etc/passwd: the contents of /etc stay out of the sandbox.',
  ],
  ['other processes', () => '/proc/1', '--mount /proc/1: the contents of /proc stay out of the sandbox.'],
  ['a device', () => '/dev/null', '--mount /dev/null: the contents of /dev stay out of the sandbox.'],
  ['a pipe', (at) => `${at}/fifo`, '--mount /fifo: it is neither a folder nor a plain file.'],
  [
    'a folder with a pipe',
    (at) => `${at}/code/other`,
    '--mount /code/other: it contains pipe, a socket or named pipe that leads to a process outside of the sandbox; name a folder or file that does not contain it.',
  ],
  ['nothing', (at) => `${at}/none`, '--mount /none: it does not exist or cannot be opened.'],
  ['programs to be written', (at) => `${at}/home/.cargo:rw`, `--mount /home/.cargo:rw: ${PROGRAMS}`],
  ['system programs to be written', () => '/usr/lib:rw', `--mount /usr/lib:rw: ${PROGRAMS}`],
  [
    'credentials that cannot be hidden',
    (at) => `${at}/home/.keys:rw`,
    '--mount /home/.keys:rw: it contains credentials.json, which can only be hidden in a read-only mount.',
  ],
  [
    'the same twice',
    (at) => [`${at}/home/.cache`, `${at}/home/.cache/:rw`],
    '--mount /home/.cache: is given twice.',
  ],
  [
    'one in another that can be written',
    (at) => [`${at}/home/.cargo/registry/x`, `${at}/home/.cargo/registry:rw`],
    '--mount /home/.cargo/registry/x: is in /home/.cargo/registry, which commands can write to.',
  ],
  ['a cache', (at) => `${at}/home/.cache:rw`, 'ok'],
  ['a cache beside programs', (at) => [`${at}/home/.cargo`, `${at}/home/.cargo/registry:rw`], 'ok'],
  ['a name that begins as the work tree does', (at) => `${at}/repo-evil:rw`, 'ok'],
  ['a system folder for reading', () => '/usr/share', 'ok'],
])('%s', (_, make, verdict) => {
  expect(said(make)).toBe(verdict);
});

test('a link to what stays out is refused', () => {
  if (!existsSync('/etc/shadow') || process.getuid?.() !== 0) return;
  expect(said((at) => `${at}/innocent`)).toBe(
    '--mount /innocent: the contents of /etc stay out of the sandbox.',
  );
});

test('a package manager finds the cache that was mounted, and no other', async () => {
  const home = tempFolder({
    '.npm/_cacache/x': 'cached',
    '.cargo/registry/x': 'crate',
    'go/pkg/mod/x': 'module',
    '.m2/repository/x': 'jar',
  });
  const { PATH } = process.env;
  const env = { PATH, HOME: home };
  const mounts = [`${home}/.npm:rw`, `${home}/.cargo/registry`, `${home}/.m2`];
  const { text } = await open(makePlace(), 'required', env, undefined, mounts);
  expect(await text('cat "$npm_config_cache/_cacache/x" "$CARGO_HOME/registry/x"; echo "$GOMODCACHE"')).toBe(
    'cachedcrate\n',
  );
  expect(await text('echo "$MAVEN_OPTS"')).toBe(`-Dmaven.repo.local=${home}/.m2/repository\n`);
  if (versionOutside('npm --version') !== null)
    expect(await text('npm config get cache')).toBe(`${home}/.npm\n`);
});
