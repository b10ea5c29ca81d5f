import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { copyWorkTree } from '../../../src/adapters/workspace/work-tree-copy.ts';
import { temporaryFolder } from '../../support/files/repository.ts';

const never = new AbortController().signal;

test('a copy has files, links, modes and times, and no git dir, pipe or other repository', async () => {
  const from = temporaryFolder();
  const to = join(temporaryFolder(), 'new/copy');
  for (const folder of ['.git/hooks', 'made/deep', 'empty', 'vendor/lib/.git'])
    mkdirSync(join(from, folder), { recursive: true });
  writeFileSync(join(from, 'made/deep/program'), '#!/bin/sh\n');
  chmodSync(join(from, 'made/deep/program'), 0o4755);
  utimesSync(join(from, 'made/deep/program'), 1_000, 2_000);
  writeFileSync(join(from, '.git/hooks/pre-commit'), 'bad');
  writeFileSync(join(from, 'vendor/lib/file'), 'other');
  writeFileSync(Buffer.from(`${from}/caf\xe9`, 'latin1'), 'name');
  symlinkSync('/etc/hostname', join(from, 'link'));
  symlinkSync('made', join(from, 'folder-link'));
  await execa('mkfifo', [join(from, 'pipe')]);

  expect(await copyWorkTree({ from, to, signal: never })).toEqual({ status: 'ok', left: ['vendor/lib'] });
  expect(readdirSync(to, { encoding: 'latin1' }).sort()).toEqual([
    '.git',
    'caf\xe9',
    'empty',
    'folder-link',
    'link',
    'made',
    'vendor',
  ]);
  expect([readdirSync(join(to, '.git')), readdirSync(join(to, 'vendor/lib'))]).toEqual([[], []]);
  expect([readlinkSync(join(to, 'link')), readlinkSync(join(to, 'folder-link'))]).toEqual([
    '/etc/hostname',
    'made',
  ]);
  const program = join(to, 'made/deep/program');
  expect(readFileSync(program, 'utf8')).toBe('#!/bin/sh\n');
  expect([statSync(program).mode & 0o7777, statSync(program).mtimeMs]).toEqual([0o755, 2_000_000]);
  // What is written to one of them is not in the other, as it would be with hard links.
  writeFileSync(program, 'changed');
  expect(readFileSync(join(from, 'made/deep/program'), 'utf8')).toBe('#!/bin/sh\n');
  expect(lstatSync(join(from, 'made/deep/program')).nlink).toBe(1);
});

test('what cannot be copied is named, and a signal ends the copy', async () => {
  const from = temporaryFolder();
  let deep = from;
  while (deep.length < 3_900) deep = join(deep, 'd'.repeat(100));
  mkdirSync(deep, { recursive: true });
  const far = join(temporaryFolder(), 'f'.repeat(250));
  const failed = await copyWorkTree({ from, to: far, signal: never });
  expect(failed).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('cannot be copied: the name is too long'),
  });
  const to = join(temporaryFolder(), 'copy');
  expect(await copyWorkTree({ from, to, signal: AbortSignal.abort() })).toEqual({ status: 'interrupted' });
  expect(existsSync(join(to, 'd'.repeat(100)))).toBe(true);
});
