import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { describe, expect, test } from 'vitest';
import { runDirectoryAt } from '../../../src/adapters/storage/run-directory.ts';
import { whyNotUsable } from '../../../src/adapters/storage/run-directory-check.ts';
import { makePipe, tempFolder } from '../../support/files/temp-folder.ts';

/** What a run leaves behind, by name. */
function runFolder(mode = 0o700): string {
  const folder = tempFolder({
    'events.jsonl': '',
    'result.json': '{}',
    'changes.patch': '',
    'report.html': '',
    'scratch/agent.git/hooks/post-commit': '',
    'shadow.git/HEAD': 'ref: refs/heads/none\n',
    'shadow.git/config': '[core]\n',
    'shadow.git/start.index': '',
    'shadow.git/run-start.json': '{}',
    'shadow.git/objects/info/alternates': '/x\n',
    'shadow.git/objects/ab/cdef': '',
    'shadow.git/objects/pack/pack-00.idx': '',
    'shadow.git/rules/git/config': '[core]\n',
    'shadow.git/rules/git/info/exclude': '',
    'shadow.git/rules/turning/deep/.gitignore': '',
  });
  mkdirSync(join(folder, 'shadow.git/refs/heads'), { recursive: true });
  mkdirSync(join(folder, 'shadow.git/info'));
  writeFileSync(
    Buffer.concat([Buffer.from(`${folder}/shadow.git/rules/turning/`), Buffer.from([0xe9, 0x2e])]),
    '',
  );
  chmodSync(folder, mode);
  return folder;
}

const whyNot = async (folder: string) =>
  (await whyNotUsable(runDirectoryAt(folder)))?.replaceAll(folder, 'RUN') ?? null;

const TAKEN = [
  'events.jsonl',
  'result.json',
  'result.json.new',
  'changes.patch',
  'report.html',
  'scratch',
  'shadow.git',
  'shadow.git/HEAD',
  'shadow.git/config',
  'shadow.git/start.index',
  'shadow.git/run-start.json',
  'shadow.git/objects',
  'shadow.git/objects/ab',
  'shadow.git/objects/ab/cdef',
  'shadow.git/objects/info/alternates',
  'shadow.git/objects/pack',
  'shadow.git/objects/pack/pack-00.idx',
  'shadow.git/rules',
  'shadow.git/rules/git/config',
  'shadow.git/rules/git/info/exclude',
  'shadow.git/rules/turning/deep/.gitignore',
];

describe('anything but regular files and folders is refused by name', () => {
  test.each(TAKEN)('%s', async (path) => {
    const folder = runFolder();
    const place = join(folder, path);
    rmSync(place, { recursive: true, force: true });
    symlinkSync('/etc/passwd', place);
    expect(await whyNot(folder)).toBe(
      `The run directory cannot be used: RUN/${path} is a link, and links are not followed there.`,
    );
    rmSync(place);
    makePipe(place);
    expect(await whyNot(folder)).toBe(
      `The run directory cannot be used: RUN/${path} is neither a file nor a folder.`,
    );
  });
});

describe('what git would read and no run makes is refused by name', () => {
  test.each([
    'shadow.git/commondir',
    'shadow.git/config.worktree',
    'shadow.git/packed-refs',
    'shadow.git/shallow',
    'shadow.git/hooks/post-index-change',
    'shadow.git/info/grafts',
    'shadow.git/refs/heads/none',
    'shadow.git/refs/replace/aa',
    'shadow.git/objects/info/commit-graph',
    'shadow.git/rules/git/commondir',
    'shadow.git/rules/git/refs/heads/main',
  ])('%s', async (path) => {
    const folder = runFolder();
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), 'x');
    expect(await whyNot(folder)).toMatch(
      /^The run directory cannot be used: RUN\/shadow\.git\/.* is not something that a run creates\.$/,
    );
  });
});

test('a directory that others may change is refused', async () => {
  const open = runFolder(0o755);
  chmodSync(join(open, 'shadow.git/config'), 0o666);
  expect(await whyNot(open)).toContain(
    'RUN/shadow.git/config is writable by other users, who may change it while it is read. Fix: chmod -R go-w RUN',
  );
  expect(await whyNot(runFolder(0o777))).toContain('is writable by other users');
  // In a folder that nobody else can enter, the modes of what is in it mean nothing.
  chmodSync(open, 0o700);
  expect(await whyNot(open)).toBe(null);
});

test.runIf(getuid?.() === 0)('a directory of another user is refused', async () => {
  const { chownSync } = await import('node:fs');
  const folder = runFolder();
  chownSync(folder, 12_345, 12_345);
  expect(await whyNot(folder)).toContain('belongs to another user');
  const shared = runFolder(0o755);
  chownSync(join(shared, 'shadow.git/objects/ab'), 12_345, 12_345);
  expect(await whyNot(shared)).toContain('shadow.git/objects/ab belongs to another user');
});
