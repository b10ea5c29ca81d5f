import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeProvenPatch } from '../../../src/adapters/workspace/patch.ts';
import { appliedByGit, filesBelow, patchOfAll, ScratchCheckout } from './scratch-checkout.ts';

describe('the patch', () => {
  test('is proven on a base that git would not have written: an empty folder, modes of old, folders of empty folders', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a.txt', 'a\n');
    scratch.write('sub/b.txt', 'b\n');
    scratch.commit();
    const tree = (...entries: string[][]) => {
      const bytes = entries.map(([mode, name, id = '']) =>
        Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
      );
      writeFileSync(join(scratch.home, 'tree'), Buffer.concat(bytes));
      return scratch.git('hash-object', '-t', 'tree', '--literally', '-w', join(scratch.home, 'tree')).trim();
    };
    const [a = '', sub = ''] = scratch.git('rev-parse', 'HEAD:a.txt', 'HEAD:sub').split('\n');
    const empty = tree(['40000', 'none', tree()]);
    for (const odd of [
      tree(['100664', 'a.txt', a], ['040000', 'sub', sub]),
      tree(['100644', 'a.txt', a], ['40000', 'empty', empty], ['40000', 'sub', sub]),
    ]) {
      scratch.git('reset', '--quiet', '--hard', scratch.git('commit-tree', odd, '-m', 'odd').trim());
      scratch.write('mine.txt', 'mine\n');
      const workspace = await scratch.open();
      scratch.write('new.txt', 'new\n');
      scratch.write('sub/b.txt', 'new\n');
      const patch = await patchOfAll(workspace);
      expect(appliedByGit(scratch, patch.baseTree, patch.bytes)).toEqual(filesBelow(scratch.root));
    }
  });

  test('finds repositories that are not called .git', async () => {
    const scratch = new ScratchCheckout();
    const paths = ['a', 'b', 'c', 'r/HEAD', 'r/objects/x', 'r/refs/y'];
    for (const path of paths) scratch.write(path, `${path}\n`);
    scratch.commit();
    const gitDir = join(scratch.root, '.git');
    const tree = scratch.git('rev-parse', 'HEAD^{tree}').trim();
    const state = (path: string) => ({
      mode: '100644' as const,
      blob: scratch.git('rev-parse', `HEAD:${path}`).trim(),
      size: path.length + 1,
    });
    const inRepository = [{ path: 'r/refs/y', before: state('r/refs/y'), after: null }];
    const deleted = await makeProvenPatch(gitDir, { tree, objectFormat: 'sha1' }, inRepository, paths);
    expect(deleted).toMatchObject({ status: 'proven', patch: { repositories: [] } });
    const inside = [{ path: 'r/objects/x', before: state('r/objects/x'), after: state('a') }];
    const changed = await makeProvenPatch(gitDir, { tree, objectFormat: 'sha1' }, inside, paths);
    expect(changed).toMatchObject({ status: 'proven', patch: { repositories: ['r'] } });
  });

  test('it lists its files with kinds, old names and line counts', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('modified.txt', 'one\ntwo\n');
    scratch.write('deleted.txt', 'one\n');
    scratch.write('mode.sh', '#!/bin/sh\n');
    scratch.write('old\udce9.txt', 'a\nb\nc\nd\ne\nf\ng\nh\n');
    scratch.write('was-file', 'x\n');
    scratch.write('binary', Buffer.of(0, 1, 2));
    scratch.commit();
    const workspace = await scratch.open();
    scratch.write('modified.txt', 'one\n2\n3\n');
    scratch.remove('deleted.txt');
    chmodSync(scratch.path('mode.sh'), 0o755);
    scratch.remove('old\udce9.txt');
    scratch.write('new "name".txt', 'a\nb\nc\nd\ne\nf\ng\nH\n');
    scratch.link('was-file', 'mode.sh');
    scratch.write('binary', Buffer.of(0, 1, 2, 3));
    scratch.write('created.txt', '1\n2\n3\n');
    expect((await patchOfAll(workspace)).files).toEqual([
      { path: 'binary', kind: 'modify', additions: null, deletions: null },
      { path: 'created.txt', kind: 'create', additions: 3, deletions: 0 },
      { path: 'deleted.txt', kind: 'delete', additions: 0, deletions: 1 },
      { path: 'mode.sh', kind: 'mode', additions: 0, deletions: 0 },
      { path: 'modified.txt', kind: 'modify', additions: 2, deletions: 1 },
      { path: 'new "name".txt', kind: 'rename', from: 'old\udce9.txt', additions: 1, deletions: 1 },
      { path: 'was-file', kind: 'modify', additions: 1, deletions: 1 },
    ]);
  });

  test('a rename that git finds and does not apply is reported as two changes', async () => {
    const scratch = new ScratchCheckout();
    scratch.link('link', 'target');
    const workspace = await scratch.open();
    scratch.remove('link');
    scratch.link('link/moved', 'target');
    const patch = await patchOfAll(workspace);
    expect(patch.files.map(({ path, kind }) => [path, kind])).toEqual([
      ['link', 'delete'],
      ['link/moved', 'create'],
    ]);
    expect(appliedByGit(scratch, patch.baseTree, patch.bytes)).toEqual(filesBelow(scratch.root));
  });

  test('the same trees give the same bytes whatever the user configured', async () => {
    const patches: string[] = [];
    for (const configuration of ['', NOISY]) {
      const scratch = new ScratchCheckout();
      scratch.write('a.txt', Array.from({ length: 60 }, (_, i) => `line ${i}\n`).join(''));
      scratch.write('sub/b.txt', 'one\ntwo\n');
      scratch.commit();
      scratch.write('../home/.gitconfig', configuration);
      const workspace = await scratch.open();
      scratch.write('a.txt', Array.from({ length: 60 }, (_, i) => `line ${i % 30 ? i : 'x'}\n`).join(''));
      scratch.write('sub/b.txt', 'one\n2\n');
      patches.push(Buffer.from((await patchOfAll(workspace)).bytes).toString());
    }
    expect(patches[1]).toBe(patches[0]);
    expect(patches[0]).toMatch(/^diff --git a\/a\.txt b\/a\.txt\n/);
  });

  test('attributes that hide differences do not matter', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitattributes', '*.txt -diff\n*.md binary\n*.c diff=c\n');
    scratch.write('sub/.gitattributes', '* -diff\n');
    for (const name of ['a.txt', 'a.md', 'sub/a.c']) scratch.write(name, 'one\n');
    scratch.commit();
    const workspace = await scratch.open();
    for (const name of ['a.txt', 'a.md', 'sub/a.c']) scratch.write(name, 'two\n');
    const patch = Buffer.from((await patchOfAll(workspace)).bytes).toString();
    expect(patch.match(/^\+two$/gm)).toEqual(['+two', '+two', '+two']);
  });
});

const NOISY = `[diff]
  noprefix = true
  mnemonicPrefix = true
  renames = copies
  context = 9
  algorithm = histogram
  indentHeuristic = false
  interHunkContext = 30
  external = /bin/false
  orderFile = /dev/null
[color]
  ui = always
[core]
  autocrlf = false
  quotePath = false
  abbrev = 4
  pager = /bin/false
[apply]
  whitespace = error
`;
