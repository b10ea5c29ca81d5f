import { describe, expect, test } from 'vitest';
import { repositoriesAround, repositoriesInTree } from '../../../src/domain/review/git-folder.ts';

const BARE = ['r/HEAD', 'r/config', 'r/objects/x', 'r/refs/x'];

describe('a folder that git takes for a repository', () => {
  test.each([
    ['as git makes it', BARE, ['r']],
    ['in a folder', BARE.map((path) => `a/b/${path}`), ['a/b/r']],
    ['with links or executable files for folders', ['r/HEAD', 'r/objects', 'r/refs'], ['r']],
    ['of a linked worktree', ['r/HEAD', 'r/commondir'], ['r']],
    ['in other letters', ['r/head', 'r/Objects/x', 'r/REFS/x'], ['r']],
    ['in folders that are one where letters count little', ['r/HEAD', 'R/objects/x', 'R/refs/x'], ['R', 'r']],
    ['in names that NTFS and HFS+ take for the same', ['r/HEAD.', 'r/objects /x', 'r/re\u200cfs/x'], ['r']],
    ['in the root', ['HEAD', 'objects/x', 'refs/x'], ['']],
    ['without refs', ['r/HEAD', 'r/objects/x', 'r/config'], []],
    ['without HEAD', ['r/objects/x', 'r/refs/x', 'r/config'], []],
    ['with its parts in two folders', ['r/HEAD', 'r/objects/x', 's/refs/x'], []],
  ])('%s', (_what, tree, folders) => {
    expect(repositoriesInTree(tree, [...tree, 'src/a.ts'])).toEqual(folders);
  });

  test('counts if a part of it is new or changed, but not if it is unchanged', () => {
    const tree = [...BARE, 'r/hooks/post-checkout', 'src/a.ts', 'src/r/HEAD'];
    for (const path of [...BARE, 'r/hooks/post-checkout', 'r/gone'])
      expect(repositoriesInTree([path], tree)).toEqual(['r']);
    expect(repositoriesInTree(['src/a.ts', 'src/r/HEAD', 'r2'], tree)).toEqual([]);
  });

  test('in the root leaves the other files of the root alone', () => {
    const tree = ['HEAD', 'objects/x', 'refs/x', 'config', 'src/a.ts', 'README.md'];
    expect(repositoriesInTree(['src/a.ts', 'README.md'], tree)).toEqual([]);
    expect(repositoriesInTree(['config'], tree)).toEqual(['']);
  });
});

test('thousands of files thousands of folders deep are looked through in linear time', () => {
  const folder = Array(1_900).fill('a').join('/');
  const paths = Array.from({ length: 5_000 }, (_, at) => `${folder}/${at}`);
  const before = process.cpuUsage();
  expect(repositoriesAround(paths, () => [])).toEqual([]);
  // For each file anew, it takes a minute.
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});
