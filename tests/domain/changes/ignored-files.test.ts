import { expect, test } from 'vitest';
import { inFewWords } from '../../../src/domain/changes/ignored-files.ts';

test('many paths are named by the folder that holds them, programs and single ones by themselves', () => {
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
