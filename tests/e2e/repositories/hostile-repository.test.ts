/** A repository whose own files are pipes, devices or endless: the runner waits for none of them, and names the file. */

import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { makePipe } from '../../support/files/temp-folder.ts';
import { runCli } from '../../support/runs/cli.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const PLACES = [
  '.git/HEAD',
  '.git/config',
  '.git/commondir',
  '.git/index',
  '.git/packed-refs',
  '.git/shallow',
  '.git/info/exclude',
  '.git/info/attributes',
  '.git/objects/info/alternates',
  '.git/refs/heads/other',
  '.git/objects/pack/pack-1.idx',
];

const KINDS = {
  'a pipe': makePipe,
  'a link to a device without an end': (path: string) => symlinkSync('/dev/zero', path),
} as const;

async function run(root: string, recording = '/dev/null') {
  return runCli(['run', '--message', 'Do it.', '--provider', 'replay', '--recording', recording], {
    cwd: root,
    env: { XDG_STATE_HOME: temporaryFolder() },
  });
}

describe.each(Object.entries(KINDS))('%s', (_, make) => {
  test.each(PLACES)('as %s is a usage error that names it', async (place) => {
    const { root } = await makeRepository({ 'a.txt': 'old\n' });
    const path = join(root, place);
    rmSync(path, { force: true });
    mkdirSync(dirname(path), { recursive: true });
    make(path);
    const end = await run(root);
    expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining(path)]);
  });

  test('as the recording is a usage error that names it', async () => {
    const { root } = await makeRepository({ 'a.txt': 'old\n' });
    const path = join(temporaryFolder(), 'recording');
    make(path);
    const end = await run(root, path);
    expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining(path)]);
  });
});

testAtNight(
  'a pipe that the configuration includes is waited for no longer than a disk would be',
  async () => {
    const { root, git } = await makeRepository({ 'a.txt': 'old\n' });
    makePipe(join(root, '.git/more'));
    await git('config', 'include.path', 'more');
    const end = await run(root);
    expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining('include.path')]);
  },
);

test('packed refs of a terabyte are not read', async () => {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const path = join(root, '.git/packed-refs');
  writeFileSync(path, '');
  truncateSync(path, 2 ** 40);
  const end = await run(root);
  expect([end.exitCode, end.lastLine]).toEqual([2, expect.stringContaining(path)]);
});
