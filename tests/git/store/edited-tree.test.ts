/** Trees that are made without an index are those that git makes with one. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { repositoriesInTree } from '../../../src/domain/review/git-folder.ts';
import { type EditedTree, editedTree } from '../../../src/git/store/edited-tree.ts';
import { pathsOfTree } from '../../../src/git/store/tree-listing.ts';
import { repositoriesAmong } from '../../../src/git/store/tree-repositories.ts';
import { ScratchIndex, type TreeEdit } from '../../../src/git/store/trees.ts';
import { removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { randomCases } from '../../support/setup/sample.ts';

afterAll(removeFolders);

const git = (gitDir: string, args: readonly string[], input = '') =>
  execFileSync('git', [`--git-dir=${gitDir}`, ...args], { input, encoding: 'utf8' }).trim();

/** A bare repository with the tree of `paths`, made by git. */
async function repositoryOf(paths: readonly string[], objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const gitDir = join(temporaryFolder(), 'bare.git');
  execFileSync('git', ['init', '--quiet', '--bare', `--object-format=${objectFormat}`, gitDir]);
  const blobs = ['one\n', 'two\n'].map((text) => git(gitDir, ['hash-object', '-w', '--stdin'], text));
  const blob = (at: number) => blobs[at] ?? '';
  const index = new ScratchIndex(gitDir, 'base.index');
  index.empty(objectFormat);
  const tree = await index.editedTree(
    paths.map((path) => ({ path, state: { mode: '100644', blob: blob(0) } })),
  );
  /** What git makes of the edits. */
  const byGit = async (edits: readonly TreeEdit[]) => {
    const edited = new ScratchIndex(gitDir, 'edited.index');
    await edited.readTree(tree);
    return edited.editedTree(edits);
  };
  return { gitDir, tree, objectFormat, blob, byGit };
}

const PATHS = [
  'a',
  'a.b',
  'a/b',
  'a/b/c',
  'a-b',
  'a/b.c',
  'd/e/f',
  'd/e',
  'caf\udce9/x',
  'li\nne/x',
  'li\nne/y/z',
  'A/b',
];

test.each(['sha1', 'sha256'] as const)(
  'files come, go and take the place of folders, in a %s repository',
  async (format) => {
    const repository = await repositoryOf(
      ['a/b/c', 'a/b/d', 'a.x', 'gone/for/good', 'li\nne/x', 'file'],
      format,
    );
    const state = { mode: '100755', blob: repository.blob(1) } as const;
    const edits: TreeEdit[] = [
      { path: 'a/b/c', state: null },
      { path: 'a/b/d', state: null },
      { path: 'a/b', state },
      { path: 'gone/for/good', state: null },
      { path: 'li\nne/x', state },
      { path: 'file', state: null },
      { path: 'file/of/folder', state },
      { path: 'new/link', state: { mode: '120000', blob: repository.blob(0) } },
      { path: 'never/there', state: null },
    ];
    expect((await editedTree(repository, edits))?.id).toBe(await repository.byGit(edits));
    const all = ['a/b/c', 'a/b/d', 'a.x', 'gone/for/good', 'li\nne/x', 'file'].map((path) => ({
      path,
      state: null,
    }));
    expect((await editedTree(repository, all))?.id).toBe(await repository.byGit(all));
    expect((await editedTree(repository, []))?.id).toBe(repository.tree);
  },
);

const edit = fc.record({ path: fc.constantFrom(...PATHS), kind: fc.constantFrom('gone', 'new', 'program') });

test('the tree is the one that git makes, for any change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(PATHS),
      fc.uniqueArray(edit, { selector: ({ path }) => path }),
      async (paths, drawn) => {
        const isFree = (path: string) => !paths.some((other) => other.startsWith(`${path}/`));
        const repository = await repositoryOf(paths.filter(isFree));
        const puts = drawn.filter(({ kind }) => kind !== 'gone').map(({ path }) => path);
        const edits = drawn
          // No two files of one change are in each other's way.
          .filter(({ path, kind }) => kind === 'gone' || !puts.some((other) => other.startsWith(`${path}/`)))
          .map(
            ({ path, kind }): TreeEdit => ({
              path,
              state:
                kind === 'gone'
                  ? null
                  : {
                      mode: kind === 'new' ? '100644' : '100755',
                      blob: repository.blob(kind === 'new' ? 1 : 0),
                    },
            }),
          );
        expect((await editedTree(repository, edits))?.id).toBe(await repository.byGit(edits));
      },
    ),
    { numRuns: randomCases(200) },
  );
});

test('a tree that the repository does not have is an error', async () => {
  const repository = await repositoryOf(['a']);
  const edits: TreeEdit[] = [{ path: 'b', state: { mode: '100644', blob: repository.blob(0) } }];
  await expect(editedTree({ ...repository, tree: '1'.repeat(40) }, edits)).rejects.toThrow('git has no tree');
});

/** Bytes of a tree, as a list of mode, name and id. */
const treeOf = (...entries: [mode: string, name: string, id: string][]) =>
  Buffer.concat(
    entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  );

test.each([
  ['a mode of old', '100664', 'a', 'b'],
  ['a mode with a zero', '040000', 'a', 'sub'],
  ['an empty folder', '40000', 'empty', '4b825dc642cb6eb9a060e54bf8d69288fbee4904'],
  ['a name twice', '100644', 'x', 'b'],
  ['another order', '100644', 'w', 'b'],
  ['a slash in a name', '100644', 'y/z', 'b'],
])('a tree that has %s is left to git', async (_, mode, name, of) => {
  const { gitDir, objectFormat, tree: plain, blob } = await repositoryOf(['sub/a']);
  const ids: Record<string, string> = { b: blob(0), sub: git(gitDir, ['rev-parse', `${plain}:sub`]) };
  const last = [mode, name, ids[of] ?? of] as [string, string, string];
  const odd = treeOf(
    ...(name < 'x' && name !== 'w' ? [last] : []),
    ['100644', 'x', blob(0)],
    ...(name >= 'w' ? [last] : []),
  );
  const tree = execFileSync(
    'git',
    [`--git-dir=${gitDir}`, 'hash-object', '-t', 'tree', '--literally', '-w', '--stdin'],
    { input: odd, encoding: 'utf8' },
  ).trim();
  const edits: TreeEdit[] = [{ path: 'new', state: { mode: '100644', blob: blob(1) } }];
  expect(await editedTree({ gitDir, tree, objectFormat }, edits)).toBe(null);
});

test('repositories around changed paths are those that a look at all paths finds', async () => {
  const trees = [
    ['r/HEAD', 'r/objects/x', 'r/refs/y', 'src/a'],
    ['r/head', 'R/objects/x', 'r/REFS/y', 'r/config', 'src/a'],
    ['deep/in/r/HEAD', 'deep/in/r/objects/x', 'deep/in/r/refs/y', 'deep/in/r/hooks/z'],
    ['HEAD', 'objects/x', 'refs/y', 'src/a'],
    ['li\nne/HEAD', 'li\nne/objects/x', 'li\nne/refs/y'],
    ['w/HEAD', 'w/commondir', 'w/a/b'],
  ];
  for (const paths of trees) {
    const repository = await repositoryOf(paths);
    const state = { mode: '100644', blob: repository.blob(1) } as const;
    for (const changed of [...paths.map((path) => [path]), paths, ['src/a', 'gone/x', 'R/gone']]) {
      const edits = changed.map((path) => ({ path, state: path.includes('gone') ? null : state }));
      const { id, folders } = (await editedTree(repository, edits)) as EditedTree;
      const all = () => pathsOfTree(repository.gitDir, id);
      expect(await repositoriesAmong(changed, folders, all), `${changed} in ${paths}`).toEqual(
        repositoriesInTree(changed, await all()),
      );
    }
  }
});
