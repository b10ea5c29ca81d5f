/** Repositories in the work tree beside its own: commands see their files, and not what is in their `.git`. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { NestedRepository } from '../../../src/ports/workspace.ts';
import { git } from '../../support/files/temp-folder.ts';
import { makePlace, open, type Place } from './fixture.ts';

const NESTED = [
  { path: 'later', dotGit: 'none' },
  { path: 'lib/deep/inner', dotGit: 'folder' },
  { path: 'sub', dotGit: 'file' },
] as const;

/** A place with a checkout at `lib/deep/inner` and a submodule, as far as its `.git` goes, at `sub`. */
function makeNested(): Place {
  const place = makePlace();
  const inner = join(place.root, 'lib/deep/inner');
  mkdirSync(inner, { recursive: true });
  git(inner, 'init', '--quiet');
  git(inner, 'config', 'http.extraheader', 'canary');
  writeFileSync(join(inner, 'file.txt'), 'inner\n');
  writeFileSync(join(place.root, 'lib/beside.txt'), 'beside\n');
  mkdirSync(join(place.root, 'sub'));
  writeFileSync(join(place.root, 'sub/.git'), 'gitdir: ../.git/modules/sub\n');
  // And one that is not checked out.
  mkdirSync(join(place.root, 'later'));
  return { ...place, sandboxGitDir: { ...place.sandboxGitDir, nested: NESTED } };
}

function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    names.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), 'latin1'),
    ]),
  );
}

test('a read-only one can be read, but neither it nor its contents can be changed or moved', async () => {
  const place = makeNested();
  const within = join(place.root, 'lib/deep/inner/within');
  mkdirSync(within);
  git(within, 'init', '--quiet');
  writeFileSync(join(within, 'file.txt'), 'within\n');
  const nested: NestedRepository[] = [
    { path: 'later', dotGit: 'none', readOnly: true },
    { path: 'lib/deep/inner', dotGit: 'folder', readOnly: true },
    { path: 'lib/deep/inner/within', dotGit: 'folder' },
    { path: 'sub', dotGit: 'file', readOnly: true },
  ];
  const { run, text } = await open(
    { ...place, sandboxGitDir: { ...place.sandboxGitDir, nested } },
    'required',
  );
  const before = contentOf(join(place.root, 'lib/deep'));
  for (const attempt of [
    'echo x > lib/deep/inner/file.txt',
    'echo x > lib/deep/inner/new.txt',
    'rm lib/deep/inner/file.txt',
    'chmod 000 lib/deep/inner',
    'touch lib/deep/inner/file.txt',
    'ln lib/deep/inner/file.txt hard',
    'echo x > lib/deep/inner/within/file.txt',
    'mv lib/deep/inner/within lib/deep/inner/away',
    'mv lib away',
    'mv lib/deep away',
    'cat lib/deep/inner/.git/config | grep canary',
    'ls lib/deep/inner/within/.git | grep .',
    'echo x > sub/new.txt',
    'echo x > sub/.git',
    'echo x > later/new.txt',
    'mount -o remount,rw lib/deep/inner',
    'umount lib/deep/inner',
  ]) {
    const { end } = await run(attempt);
    expect([attempt, end.exitCode]).toEqual([attempt, expect.toSatisfy((code) => code !== 0)]);
  }
  expect(contentOf(join(place.root, 'lib/deep'))).toEqual(before);
  expect(await text('cat lib/deep/inner/file.txt lib/deep/inner/within/file.txt')).toBe('inner\nwithin\n');
  expect(await text('echo x > lib/deep/beside.txt; cat lib/deep/beside.txt sub/.git')).toBe(
    'x\ngitdir: ../.git/modules/sub\n',
  );
});

test('they are covered from the first command after they have become known', async () => {
  const place = makeNested();
  const nested: NestedRepository[] = [];
  const { run, text } = await open(
    { ...place, sandboxGitDir: { ...place.sandboxGitDir, nested } },
    'required',
  );
  expect(await text('git config --file lib/deep/inner/.git/config http.extraheader')).toBe('canary\n');
  nested.push(...place.sandboxGitDir.nested);
  expect((await run('cat lib/deep/inner/.git/config')).end.exitCode).not.toBe(0);
});

test.each([
  ['its folder', 'lib/deep/inner'],
  ['its git dir', 'lib/deep/inner/.git'],
  ['the folder of one that is not checked out', 'later'],
])('if %s of one is gone, no commands run, and it is not recreated', async (_what, path) => {
  const place = makeNested();
  const { run, text } = await open(place, 'required');
  expect(await text('cat lib/beside.txt')).toBe('beside\n');
  rmSync(join(place.root, path), { recursive: true });
  await expect(run('cat hello.txt')).rejects.toThrow('was there when the run began and is gone');
  expect(existsSync(join(place.root, path))).toBe(false);
});
