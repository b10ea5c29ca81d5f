import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isGitDirName, parseRepoPath } from '../../src/domain/changes/path.ts';
import { readFile } from '../../src/files/nofollow-files.ts';
import { makePipe, tempFolder } from '../support/files/temp-folder.ts';
import { fuzzRuns } from '../support/setup/sample.ts';

const CASES = fuzzRuns('cases');

const component = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('..', '.', '', '...', '..a', 'a', 'b', 'link', 'up', 'loop', 'file', 'proc'),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '.git',
      '.GIT',
      '.git ',
      '.git.',
      'git~1',
      '.git::$DATA',
      '.g\u200dit',
      '.ｇit',
      '.gitx',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '%2e%2e',
      '..\\..',
      '~',
      '$HOME',
      'a\0b',
      '\udcff',
      'x'.repeat(256),
      'new\nline',
      'secret',
      'pipe',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: 'binary' }) },
);
const written = fc
  .tuple(fc.constantFrom('', '', '', '/', './', '//'), fc.array(component, { maxLength: 7 }))
  .map(([start, parts]) => start + parts.join('/'));

test('whatever is written as a path, what is let in stays below the root and out of .git', () => {
  fc.assert(
    fc.property(written, (text) => {
      const verdict = parseRepoPath(text);
      if (!verdict.ok) return;
      // What every other program makes of it is the same place.
      expect(posix.resolve('/root', text)).toBe(posix.join('/root', verdict.path).replace(/\/$/, ''));
      expect(verdict.path.split('/').some((part) => isGitDirName(part) || part === '..')).toBe(false);
      expect(verdict.path.includes('\0')).toBe(false);
      expect(parseRepoPath(verdict.path)).toEqual(verdict);
    }),
    { numRuns: CASES },
  );
});

/** A tree in which every name leads somewhere that it should not. */
function hostileTree() {
  const folder = tempFolder({ 'outside/secret': 'classified', 'root/a/b/file': 'ours', 'root/file': 'ours' });
  const root = join(folder, 'root');
  const links = {
    link: '../outside',
    up: '..',
    loop: 'loop',
    proc: '/proc/self',
    'a/link': '../../outside/secret',
    'a/b/up': '../../..',
    b: 'a/b',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  makePipe(join(root, 'a/pipe'));
  mkdirSync(join(root, '.git'));
  writeFileSync(join(root, '.git/secret'), 'classified');
  return { folder, root };
}

test('whatever path is read, no byte from outside the root or from .git comes back', async () => {
  const { root } = hostileTree();
  await fc.assert(
    fc.asyncProperty(written, async (text) => {
      const verdict = parseRepoPath(text);
      if (!verdict.ok) return;
      const read = readFile(root, verdict.path, 1_000);
      expect(read.status === 'ok' ? read.bytes.toString() : 'ours').toBe('ours');
    }),
    { numRuns: CASES },
  );
});
