import { execFileSync } from 'node:child_process';
import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readPatchText } from '../../../src/domain/changes/patch-text.ts';
import { openScratchRepository } from '../../../src/git/store/scratch-apply.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';

afterAll(removeFolders);

const bytes = (text: string) => Buffer.from(text);

/** A patch that real git makes, with the contents before it. */
async function gitPatch() {
  const { root, git, write } = await makeRepository({
    'text.txt': 'one\ntwo\nthree\n',
    'binary.bin': Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 7) % 256)),
    'moved.txt': 'a\nb\nc\nd\ne\nf\n',
    'tool.sh': 'echo\n',
    'file-to-link': 'x\n',
  });
  write('text.txt', 'one\nzwei\nthree');
  write(
    'binary.bin',
    Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 7 + (at > 2_000 ? 1 : 0)) % 256)),
  );
  await git('mv', 'moved.txt', 'new.txt');
  write('tool.sh', 'echo\n', 0o755);
  await git('update-index', '--chmod=+x', 'tool.sh');
  unlinkSync(join(root, 'file-to-link'));
  symlinkSync('text.txt', join(root, 'file-to-link'));
  write('made.txt', 'made\r\n');
  await git('-c', 'core.autocrlf=false', 'add', '-A');
  const patch = execFileSync('git', ['diff', '--cached', '--binary', '--full-index', '--find-renames=50%'], {
    cwd: root,
  });
  const read = readPatchText(patch.toString('latin1'));
  if (read.status === 'failed') throw new Error(`${read.line}: ${read.why}`);
  const { files } = read;
  const contents = new Map(
    files.flatMap(({ before }) =>
      before?.blob
        ? [[before.blob, execFileSync('git', ['cat-file', 'blob', before.blob], { cwd: root })] as const]
        : [],
    ),
  );
  return { root, patch, files, contents };
}

describe('a patch of git', () => {
  test('makes what it says, and its contents can be read', async () => {
    const { patch, files, contents } = await gitPatch();
    const bench = openScratchRepository(temporaryFolder());
    expect(await bench.apply(patch, files, contents)).toBe(null);
    const made = files.find(({ path }) => path === 'made.txt')?.after?.blob ?? '';
    expect((await bench.read([made])).get(made)?.toString()).toBe('made\r\n');
  });

  test('with too large contents in total is refused, before and after it is applied', async () => {
    const { patch, files, contents } = await gitPatch();
    const before = [...contents.values()].reduce((sum, { length }) => sum + length, 0);
    for (const limit of [before - 1, before + 1])
      expect(await openScratchRepository(temporaryFolder(), limit).apply(patch, files, contents)).toBe(
        `its contents come to more than ${limit} bytes`,
      );
  });

  test('that makes something else than it says is refused', async () => {
    const { patch, files, contents } = await gitPatch();
    const lies = [
      Buffer.from(patch.toString('latin1').replace('+zwei', '+drei'), 'latin1'),
      Buffer.from(patch.toString('latin1').replace(/^\+made/m, '+node'), 'latin1'),
    ];
    for (const lie of lies)
      expect(await openScratchRepository(temporaryFolder()).apply(lie, files, contents)).toMatch(
        /^it changes .* in a different way/,
      );
    const fewer = files.filter(({ path }) => path !== 'made.txt');
    expect(await openScratchRepository(temporaryFolder()).apply(patch, fewer, contents)).toBe(
      'it changes made.txt in a different way than it says',
    );
    const without = new Map([...contents].slice(1));
    expect(await openScratchRepository(temporaryFolder()).apply(patch, files, without)).toMatch(
      /^git does not apply it/,
    );
  });
});

test('a small patch that says it makes a huge content does not get the memory for it', async () => {
  const text = [
    'diff --git a/b b/b',
    'new file mode 100644',
    `index ${'0'.repeat(40)}..${'1'.repeat(40)}`,
    'GIT binary patch',
    'literal 629145600',
    'Lc${NkU|;|M00aO5',
    '',
    'literal 0',
    'HcmV?d00001',
    '',
    '',
  ].join('\n');
  const read = readPatchText(text);
  if (read.status === 'failed') throw new Error(read.why);
  expect(await openScratchRepository(temporaryFolder()).apply(bytes(text), read.files, new Map())).toContain(
    'attempting to allocate 629145600 over limit',
  );
});

describe('a merge', () => {
  const before = bytes('1\n2\n3\n4\n5\n6\n7\n');
  test('of texts that change in different places has both changes', async () => {
    const bench = openScratchRepository(temporaryFolder());
    const merged = await bench.merge({
      before,
      now: bytes('one\n2\n3\n4\n5\n6\n7\n'),
      after: bytes('1\n2\n3\n4\n5\n6\nseven\n'),
    });
    expect(merged?.bytes.toString()).toBe('one\n2\n3\n4\n5\n6\nseven\n');
  });

  test('of the same lines, and of binary files, is empty', async () => {
    const bench = openScratchRepository(temporaryFolder());
    expect(await bench.merge({ before, now: bytes('x\n'), after: bytes('y\n') })).toBe(null);
    expect(await bench.merge({ before: bytes('a\0'), now: bytes('b\0'), after: bytes('c\0') })).toBe(null);
  });
});
