import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askGit } from '../../src/git/git.ts';
import { git, tempFolder } from '../support/files/temp-folder.ts';
import { until } from '../support/waiting/until.ts';

test('an interrupted call to a server that says nothing ends at once, with all its processes', async () => {
  let arrived = () => {};
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const silent = createServer(() => arrived());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const stop = new AbortController();
  const call = askGit({
    cwd: tempFolder(),
    args: ['ls-remote', `http://127.0.0.1:${port}/a/b.git`],
    env: { GIT_ALLOW_PROTOCOL: 'http' },
    signal: stop.signal,
  });
  await asked;
  stop.abort();
  await expect(call).rejects.toThrow('killed by SIGKILL');
  silent.closeAllConnections();
  silent.close();
});

test('git dies with a runner that ends in the middle of a call', async () => {
  const folder = tempFolder();
  git(folder, 'init', '--quiet');
  const deep = 'a/'.repeat(120);
  mkdirSync(join(folder, deep), { recursive: true });
  // Takes git hours to compare with a path of that many folders.
  writeFileSync(join(folder, '.gitignore'), `${'**/a/'.repeat(12)}x\n`);
  const before = process.listeners('exit');
  const call = askGit({ cwd: folder, args: ['check-ignore', '--no-index', `${deep}f`] });
  const atExit = process.listeners('exit').filter((listener) => !before.includes(listener));
  for (const listener of atExit) listener(0);
  await expect(call).rejects.toThrow('killed by SIGKILL');
  expect(process.listeners('exit')).toEqual(before);
});

test('git that exceeds its memory limit fails, and says why', async () => {
  const folder = tempFolder();
  git(folder, 'init', '--quiet');
  writeFileSync(join(folder, '.gitattributes'), 'a b\n'.repeat(20_000_000));
  const answer = await askGit({ cwd: folder, args: ['check-attr', 'text', 'file'] });
  expect(answer.exitCode).not.toBe(0);
  expect(answer.stderr).toMatch(/^fatal: Out of memory, .* \(git may allocate 1 GiB\)$/);
});

test('an object missing from a partial clone is never fetched, by any version of git', async () => {
  const folder = tempFolder();
  const [mark, program] = [join(folder, 'mark'), join(folder, 'program')];
  writeFileSync(program, `#!/bin/sh\n: > ${mark}\n`, { mode: 0o755 });
  const settings = [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', `ext::${program}`],
    ['protocol.ext.allow', 'always'],
  ];
  git(folder, 'init', '--quiet');
  for (const setting of settings) git(folder, 'config', ...setting);
  // How git ends is chance: what it would have fetched with may be gone before or after it has written to it.
  const ask = (env: Record<string, undefined>) =>
    askGit({ cwd: folder, args: ['cat-file', '-e', '1'.repeat(40)], env }).catch(() => undefined);
  await ask({});
  // As a git that does not know this variable, which came with 2.45.
  await ask({ GIT_NO_LAZY_FETCH: undefined });
  expect(existsSync(mark)).toBe(false);
  await ask({ GIT_NO_LAZY_FETCH: undefined, GIT_ALLOW_PROTOCOL: undefined });
  await until('the program is asked', () => existsSync(mark));
});
