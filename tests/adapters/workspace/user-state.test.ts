import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { appliedByGit, at, filesBelow, patchOfAll, ScratchCheckout } from './scratch-checkout.ts';

/** Everything of the user's that git keeps: bytes and times of the index, HEAD, refs, stash, configuration. */
function gitState(scratch: ScratchCheckout): Record<string, unknown> {
  const index = lstatSync(`${scratch.root}/.git/index`, { bigint: true });
  return {
    index: [index.mtimeNs, index.ino, readFileSync(`${scratch.root}/.git/index`, 'latin1')],
    files: filesBelow(`${scratch.root}/.git`),
  };
}

/** A checkout with every kind of uncommitted work in it. */
function dirtyCheckout(): ScratchCheckout {
  const scratch = new ScratchCheckout();
  for (const name of [
    'staged',
    'staged-then-edited',
    'unstaged',
    'deleted',
    'deleted-staged',
    'clean',
    'stashed',
  ]) {
    scratch.write(`${name}.txt`, 'committed\n');
  }
  scratch.write('.gitignore', '*.log\n');
  scratch.commit();
  scratch.write('stashed.txt', 'stashed\n');
  scratch.git('stash', '--quiet');
  scratch.write('staged.txt', 'staged\n');
  scratch.write('staged-then-edited.txt', 'staged\n');
  scratch.write('staged-new.txt', 'staged\n');
  scratch.git('add', '--all');
  scratch.write('staged-then-edited.txt', 'edited\n');
  scratch.write('unstaged.txt', 'unstaged\n');
  scratch.remove('deleted.txt');
  scratch.git('rm', '--quiet', 'deleted-staged.txt');
  scratch.write('untracked.txt', 'untracked\n');
  scratch.write('ignored.log', 'ignored\n');
  return scratch;
}

describe('uncommitted work', () => {
  test('is the baseline, and no part of the patch', async () => {
    const scratch = dirtyCheckout();
    const workspace = await scratch.open();
    const { 'ignored.log': _ignored, ...before } = filesBelow(scratch.root);
    expect(appliedByGit(scratch, workspace.base().tree, Buffer.alloc(0))).toEqual(before);
    expect({ ...workspace.base(), tree: '', commit: '' }).toEqual({
      commit: '',
      tree: '',
      branch: 'main',
      dirty: true,
      objectFormat: 'sha1',
    });
    expect(workspace.base().commit).toBe(scratch.git('rev-parse', 'HEAD').trim());

    scratch.write('staged-then-edited.txt', 'edited\nby the model\n');
    scratch.write('untracked.txt', 'untracked\nby the model\n');
    scratch.write('deleted.txt', 'back\n');
    const patch = await patchOfAll(workspace);
    expect(patch.files).toEqual([
      { path: 'deleted.txt', kind: 'create', additions: 1, deletions: 0 },
      { path: 'staged-then-edited.txt', kind: 'modify', additions: 1, deletions: 0 },
      { path: 'untracked.txt', kind: 'modify', additions: 1, deletions: 0 },
    ]);
  });

  test('stays as it was in HEAD, index, stash, refs and configuration', async () => {
    const scratch = dirtyCheckout();
    const before = gitState(scratch);
    const workspace = await scratch.open();
    await workspace.writeFile(at('staged.txt'), Buffer.from('model\n'));
    await workspace.writeFile(at('new/file.txt'), Buffer.from('model\n'));
    await workspace.readFile(at('clean.txt'));
    await workspace.listFiles(at(''), null);
    rmSync(scratch.path('clean.txt'));
    await patchOfAll(workspace);
    expect(gitState(scratch)).toEqual(before);
  });

  test('files are known by names that look like the lines git lists them in', async () => {
    const scratch = new ScratchCheckout();
    const names = [
      'a\n  size: 1\tflags: 0\n',
      '100644 0123456789012345678901234567890123456789 0\tb',
      'c\tflags: 0\n1',
    ];
    for (const name of names) scratch.write(name, 'text\n');
    // More than one piece of what git says at a time.
    for (let at = 0; at < 600; at += 1)
      scratch.write(`${'x'.repeat(1 + (at % 150))}/${names[at % 3]}${at}`, 'text\n');
    scratch.commit();
    // The second one is listed by git.
    for (const version of ['2', '4']) {
      scratch.git('update-index', `--index-version=${version}`);
      const workspace = await scratch.open();
      expect(workspace.base().dirty).toBe(false);
      expect(workspace.base().tree).toBe(scratch.git('rev-parse', 'HEAD^{tree}').trim());
    }
  });
});

describe('captures', () => {
  test('name what changed since the last one, with the states before and after', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a.txt', 'one\n');
    scratch.write('gone.txt', 'x\n');
    scratch.commit();
    const workspace = await scratch.open();
    scratch.write('a.txt', 'two\n', 0o755);
    scratch.remove('gone.txt');
    scratch.link('link', 'a.txt');
    expect(await workspace.capture('all')).toEqual([
      {
        path: 'a.txt',
        before: { mode: '100644', blob: '5626abf0f72e58d7a153368ba57db4c673c0e171', size: 4 },
        after: { mode: '100755', blob: 'f719efd430d52bcfc8566a43b2eb655688d38871', size: 4 },
      },
      {
        path: 'gone.txt',
        before: { mode: '100644', blob: '587be6b4c3f93f93c489c0111bba5596147a26cb', size: 2 },
        after: null,
      },
      {
        path: 'link',
        before: null,
        after: { mode: '120000', blob: '8d14cbf983b3fad683171c9418998d9f68340823', size: 5 },
      },
    ]);
    expect(await workspace.capture('all')).toEqual([]);
  });

  test('of single paths see these and what stood in their way, and nothing else', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a.txt', 'a\n');
    scratch.write('folder/x', 'x\n');
    scratch.write('folder/y', 'y\n');
    scratch.write('file', 'f\n');
    scratch.commit();
    const workspace = await scratch.open();
    const paths = async (scope: string[]) =>
      (await workspace.capture(scope)).map(({ path, after }) => [path, after !== null]);
    scratch.write('a.txt', 'changed\n');
    scratch.write('other.txt', 'o\n');
    scratch.remove('folder');
    scratch.write('folder', 'now a file\n');
    scratch.remove('file');
    scratch.write('file/inside', 'i\n');
    expect(await paths(['other.txt'])).toEqual([['other.txt', true]]);
    expect(await paths(['folder'])).toEqual([
      ['folder', true],
      ['folder/x', false],
      ['folder/y', false],
    ]);
    expect(await paths(['file/inside'])).toEqual([['file/inside', true]]);
    expect(await paths(['missing', 'missing/too', 'a.txt/below'])).toEqual([['a.txt', true]]);
    expect((await workspace.capture('all')).map(({ path }) => path)).toEqual(['file']);
  });

  test('a change within the clock tick of the last capture is seen', async () => {
    const scratch = new ScratchCheckout();
    const workspace = await scratch.open();
    for (let round = 0; round < 100; round += 1) {
      scratch.writeInPlace('a.txt', `round ${String(round).padStart(3, '0')}\n`);
      expect((await workspace.capture('all')).map(({ path }) => path)).toEqual(['a.txt']);
    }
  });

  test('asked for at once, they come one after the other and tell each change once', async () => {
    const scratch = new ScratchCheckout();
    const workspace = await scratch.open();
    for (let i = 0; i < 20; i += 1) scratch.write(`f${i}`, `${i}\n`);
    const seen = await Promise.all([
      workspace.capture(['f3']),
      workspace.capture('all'),
      workspace.capture('all'),
    ]);
    expect(seen.map((changes) => changes.length)).toEqual([1, 19, 0]);
  });

  test('a closed folder is examined anyway: its owner opens it', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a.txt', 'a\n');
    scratch.write('folder/b.txt', 'b\n');
    scratch.commit();
    const workspace = await scratch.open();
    scratch.write('a.txt', 'changed\n', 0o000);
    scratch.forbid('folder');
    const changes = (await workspace.capture('all')).map(({ path }) => path);
    expect(changes).toEqual(['a.txt']);
    // Root reads everything, and opens nothing.
    const opened = (name: string, closed: string, open: string) =>
      `[WARN_OPENED_AGAIN] "${name}" was closed (mode ${closed}) during the run and has been opened again (mode ${open}).`;
    expect(workspace.notes().warnings).toEqual(
      process.getuid?.() === 0 ? [] : [opened('folder', '0000', '0700'), opened('a.txt', '0000', '0600')],
    );
  });
});
