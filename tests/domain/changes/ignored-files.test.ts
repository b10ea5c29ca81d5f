import { expect, test } from 'vitest';
import { inFewWords } from '../../../src/domain/changes/ignored-files.ts';

test('many paths are named by their folder, programs and single files individually', () => {
  expect(
    inFewWords([
      'target/debug/incremental/heck/',
      '.npmrc',
      'target/debug/incremental/heck/a.o',
      'src/__pycache__/',
      'target/debug/deps/b.o',
      'src/__pycache__/a.pyc',
      'node_modules/.bin/tool',
      '.cache/one',
    ]),
  ).toEqual(['node_modules/.bin/tool', 'target/debug/', '.npmrc', 'src/__pycache__/', '.cache/one']);
  expect(inFewWords([])).toEqual([]);
});
