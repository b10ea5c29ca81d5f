import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCheckout } from '../../../src/adapters/workspace/find-checkout.ts';
import { appliedByGit, at, filesBelow, patchOfAll, ScratchCheckout } from './scratch-checkout.ts';

function committed(...initOptions: string[]): ScratchCheckout {
  const scratch = new ScratchCheckout(...initOptions);
  scratch.write('a.txt', 'one\n');
  scratch.write('sub/b.txt', 'one\n');
  scratch.commit();
  return scratch;
}

/** Changes, adds and removes a file and compares what plain git makes of the patch with the work tree. */
async function expectRoundTrip(scratch: ScratchCheckout, startDir = scratch.root): Promise<void> {
  const workspace = await scratch.open(startDir);
  scratch.write('a.txt', 'two\n');
  scratch.write('sub/c.txt', 'new\n');
  scratch.remove('sub/b.txt');
  const patch = await patchOfAll(workspace);
  expect(patch.files.map(({ path, kind }) => [path, kind])).toEqual([
    ['a.txt', 'modify'],
    ['sub/b.txt', 'delete'],
    ['sub/c.txt', 'create'],
  ]);
  expect(appliedByGit(scratch, patch.baseTree, patch.bytes)).toEqual(filesBelow(scratch.root));
}

describe('the workspace', () => {
  test('works in a clone that borrows its objects, over more than one step', async () => {
    const scratch = committed();
    scratch.git('clone', '--quiet', '--shared', '.', '../odd "name" # 1');
    scratch.gitIn(scratch.folder, 'clone', '--quiet', '--shared', 'odd "name" # 1', '#2\nnew line');
    scratch.root = join(scratch.folder, '#2\nnew line');
    await expectRoundTrip(scratch);
  });

  test('works in a partial clone, and fetches nothing', async () => {
    const scratch = committed();
    scratch.git('config', 'uploadpack.allowFilter', 'true');
    scratch.git('clone', '--quiet', '--filter=blob:none', `file://${scratch.root}`, '../partial');
    scratch.root = join(scratch.folder, 'partial');
    scratch.git('config', 'remote.origin.url', 'file:///nonexistent');
    await expectRoundTrip(scratch);
  });

  test.each<[string, (scratch: ScratchCheckout) => void]>([
    ['a commit on a branch', () => {}],
    ['a branch that is called HEAD', (scratch) => scratch.git('update-ref', 'refs/heads/HEAD', 'HEAD')],
    ['a file that is called HEAD', (scratch) => scratch.write('HEAD', 'x\n')],
    [
      'a branch that stands for another',
      (scratch) => {
        scratch.git('symbolic-ref', 'refs/heads/other', 'refs/heads/main');
        scratch.git('symbolic-ref', 'HEAD', 'refs/heads/other');
      },
    ],
    ['a branch without a commit', (scratch) => scratch.git('symbolic-ref', 'HEAD', 'refs/heads/new')],
    [
      'a branch that is broken',
      (scratch) => {
        scratch.git('symbolic-ref', 'HEAD', 'refs/heads/bad');
        writeFileSync(join(scratch.root, '.git/refs/heads/bad'), 'deadbeef\n');
      },
    ],
  ])('finds HEAD as git does with %s', async (_what, prepare) => {
    const scratch = committed();
    prepare(scratch);
    const found = await findCheckout(scratch.root, {});
    const answer = (...args: string[]) => {
      try {
        return scratch.git(...args).trim();
      } catch {
        return null;
      }
    };
    expect(found.status === 'ok' && found.checkout.head).toEqual({
      commit: answer('rev-parse', '--verify', '--quiet', 'HEAD'),
      branchRef: answer('symbolic-ref', '--quiet', 'HEAD'),
    });
  });

  test.each([
    ['version 4', ['update-index', '--index-version', '4']],
    ['a split index', ['update-index', '--split-index']],
    ['an untracked cache', ['update-index', '--force-untracked-cache']],
  ])('reads %s', async (_name, args) => {
    const scratch = committed();
    scratch.git(...args);
    scratch.git('status');
    expect((await scratch.open()).base().dirty).toBe(false);
    await expectRoundTrip(scratch);
  });

  test('counts files left out of a sparse checkout as present', async () => {
    const scratch = committed();
    scratch.write('left/out.txt', 'out\n');
    scratch.write('left/also.txt', 'out\n');
    scratch.write('left/.gitignore', '*.tmp\n');
    scratch.commit();
    scratch.git('sparse-checkout', 'set', '--no-cone', '/*', '!/left');
    const workspace = await scratch.open();
    expect(workspace.base().dirty).toBe(false);
    scratch.write('left/out.txt', 'changed\n');
    scratch.write('left/new.tmp', 'ignored by a rule that is not on disk\n');
    expect((await patchOfAll(workspace)).files).toEqual([
      { path: 'left/out.txt', kind: 'modify', additions: 1, deletions: 1 },
    ]);
    scratch.remove('left');
    expect((await workspace.capture('all')).map(({ path, after }) => [path, after?.size])).toEqual([
      ['left/out.txt', 0],
    ]);
    scratch.write('left', 'a file in the way\n');
    const displaced = await workspace.capture('all');
    expect(displaced.map(({ path, after }) => [path, after !== null])).toEqual([
      ['left', true],
      ['left/.gitignore', false],
      ['left/also.txt', false],
      ['left/out.txt', false],
    ]);
    expect((await workspace.makePatch(displaced)).status).toBe('proven');
    scratch.remove('left');
    expect((await workspace.capture('all')).map(({ path, after }) => [path, after !== null])).toEqual([
      ['left', false],
      ['left/.gitignore', true],
      ['left/also.txt', true],
      ['left/out.txt', true],
    ]);
  });

  test('reads a sparse index', async () => {
    const scratch = committed();
    scratch.write('left/deep/out.txt', 'out\n');
    scratch.commit();
    scratch.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'sub');
    expect((await scratch.open()).base().dirty).toBe(false);
  });

  test('leaves submodules unchanged, with a warning', async () => {
    const scratch = committed();
    scratch.git('clone', '--quiet', '.', '../library');
    scratch.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '../library', 'lib');
    scratch.commit();
    const workspace = await scratch.open();
    expect(workspace.base().dirty).toBe(false);
    expect(workspace.notes().warnings).toEqual(['[WARN_SUBMODULES_LEFT_OUT] Submodules are left out: lib.']);
    scratch.write('lib/a.txt', 'changed in the submodule\n');
    expect(await workspace.capture('all')).toEqual([]);
    expect(await workspace.capture(['lib/a.txt', 'lib'])).toEqual([]);
    expect(await workspace.writeFile(at('lib/x.txt'), Buffer.from('x'))).toEqual({
      status: 'failed',
      reason: 'path_refused',
      message: '"lib/x.txt" lies in the submodule "lib", which is left out.',
    });
    expect(await workspace.listFiles(at(''), '*.txt')).toEqual({
      status: 'ok',
      paths: ['a.txt', 'sub/b.txt'],
    });
    scratch.remove('lib');
    expect(await workspace.capture('all')).toEqual([]);
    scratch.write('lib', 'a file\n');
    const changes = await workspace.capture('all');
    expect(changes.map(({ path, before, after }) => [path, before?.mode, after?.mode])).toEqual([
      ['lib', '160000', '100644'],
    ]);
    expect((await workspace.makePatch(changes)).status).toBe('proven');
  });

  test('knows every folder whose .git commands must not reach, and warns of those that cannot be covered', async () => {
    const scratch = committed();
    scratch.git('clone', '--quiet', '.', '../lib');
    for (const path of ['module', 'deep/module', 'later', 'gone'])
      scratch.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '../lib', path);
    scratch.commit();
    scratch.git('submodule', '--quiet', 'deinit', 'later');
    scratch.remove('gone');
    scratch.git('clone', '--quiet', '.', 'other/nested');
    scratch.write('.gitignore', '/tools/\n/.worktrees/\n');
    scratch.git('clone', '--quiet', '.', 'tools');
    for (const name of ['.worktrees/feature', '.worktrees/removed', '../beside'])
      scratch.git('worktree', 'add', '--quiet', '--detach', name);
    scratch.remove('.worktrees/removed');
    scratch.write('linked/x.txt', 'x\n');
    scratch.link('linked/.git', '../other/nested/.git');
    const workspace = await scratch.open();
    expect(workspace.sandboxGitDir.nested).toEqual([
      { path: '.worktrees/feature', dotGit: 'file' },
      { path: 'deep/module', dotGit: 'file' },
      { path: 'later', dotGit: 'none' },
      { path: 'module', dotGit: 'file' },
      { path: 'other/nested', dotGit: 'folder' },
      { path: 'tools', dotGit: 'folder' },
    ]);
    expect(workspace.notes().warnings.filter((warning) => warning.includes('commands'))).toEqual([
      '[WARN_REPOSITORY_UNCOVERED] "linked/.git" can be reached by commands.',
    ]);
  });

  test('covers 64 repositories, for which submodules that are not checked out leave the room', async () => {
    const scratch = committed();
    const head = scratch.git('rev-parse', 'HEAD').trim();
    const entries = Array.from({ length: 70 }, (_, at) => `160000 ${head} 0\ta-${at}\n`).join('');
    execFileSync('git', ['update-index', '--index-info'], { cwd: scratch.root, input: entries });
    for (let at = 0; at < 70; at += 1) mkdirSync(join(scratch.root, `a-${at}`));
    for (let at = 0; at < 65; at += 1) scratch.write(`z/${at}/.git/HEAD`, 'ref: refs/heads/main\n');
    const { nested, uncovered } = (await scratch.open()).sandboxGitDir;
    expect([nested.length, nested.every(({ dotGit }) => dotGit === 'folder')]).toEqual([64, true]);
    expect(uncovered).toHaveLength(1);
    scratch.remove('z');
    const later = (await scratch.open()).sandboxGitDir;
    expect([later.nested.length, later.uncovered]).toEqual([64, []]);
  });

  test('a .git in a folder hides no tracked or known file, and a new one only where nothing is tracked', async () => {
    const scratch = committed();
    const workspace = await scratch.open();
    scratch.write('made/here.txt', 'x\n');
    await workspace.capture('all');
    for (const folder of ['sub', 'made']) {
      scratch.git('init', '--quiet', folder);
      scratch.write(`${folder}/more.txt`, 'more\n');
    }
    expect((await workspace.capture('all')).map(({ path }) => path)).toEqual(['sub/more.txt']);
    expect(workspace.notes().warnings).toEqual([
      '[WARN_GIT_DIR_KEPT] Something outside the run created "made/.git" within reach of commands.',
      '[WARN_GIT_DIR_KEPT] Something outside the run created "sub/.git" within reach of commands.',
      '[WARN_REPOSITORY_LEFT_OUT] "made" is a separate repository and is left out.',
    ]);
    scratch.write('sub/more.txt', 'even more\n');
    scratch.remove('made/here.txt');
    expect((await workspace.capture('all')).map(({ path }) => path)).toEqual([
      'made/here.txt',
      'sub/more.txt',
    ]);
  });

  test('a folder of tracked files with a git folder of its own is included, with a warning', async () => {
    const scratch = committed();
    scratch.git('init', '--quiet', 'sub');
    scratch.write('sub/more.txt', 'more\n');
    const workspace = await scratch.open();
    expect(workspace.notes().warnings).toEqual([
      '[WARN_GIT_FOLDER_INSIDE] "sub" has its own git folder; its files are included anyway.',
    ]);
  });

  test('names that git refuses are left out, and said', async () => {
    const scratch = committed();
    const workspace = await scratch.open();
    const files = ['GIT~1', '.git ', '.gi\u200ct', 'sub/.GIT/x', 'x\\.git', '.git\\x', 'x\\git~1'];
    for (const name of files) scratch.write(name, 'x\n');
    const links = [
      '.gitmodules',
      'sub/.GitModules',
      'x\\.gitmodules',
      'gitmod~4',
      'sub/gi7eba~1',
      'g~123456',
    ];
    for (const name of links) scratch.link(name, 'a.txt');
    scratch.write('sub/gitmod~4', 'x\n');
    scratch.write('kept.txt', 'x\n');
    const patch = await patchOfAll(workspace);
    expect(patch.files.map(({ path }) => path)).toEqual(['kept.txt', 'sub/gitmod~4']);
    const refused = workspace.notes().warnings.filter((one) => one.startsWith('[WARN_NAME_NOT_ACCEPTED]'));
    expect([...refused].sort()).toEqual(
      [...files.map((name) => name.replace('/x', '')), ...links]
        .map(
          (name) =>
            `[WARN_NAME_NOT_ACCEPTED] ${JSON.stringify(name)} has a name that git does not accept and is left out.`,
        )
        .sort(),
    );
  });

  test('more than fifty warnings are counted', async () => {
    const scratch = committed();
    const workspace = await scratch.open();
    for (let at = 0; at < 52; at += 1) scratch.write(`d${at}/GIT~1`, 'x\n');
    await workspace.capture('all');
    expect(workspace.notes().warnings).toHaveLength(51);
    expect(workspace.notes().warnings.at(-1)).toBe('[WARN_MORE_ABOUT_FILES] 54 more warnings about files.');
  });

  test('the executable bit counts only where the repository says so', async () => {
    const scratch = committed();
    scratch.write('tool.sh', 'x\n', 0o755);
    scratch.commit();
    scratch.git('config', 'core.fileMode', 'false');
    const workspace = await scratch.open();
    scratch.write('a.txt', 'one\n', 0o755);
    scratch.write('tool.sh', 'y\n', 0o644);
    scratch.write('new.sh', 'x\n', 0o755);
    expect((await workspace.capture('all')).map(({ path, after }) => [path, after?.mode])).toEqual([
      ['new.sh', '100644'],
      ['tool.sh', '100755'],
    ]);
  });
});

describe('a folder that is not a checkout', () => {
  test('is named together with what to do', async () => {
    const scratch = committed();
    scratch.gitIn(scratch.folder, 'init', '--quiet', '--bare', 'bare.git');
    scratch.gitIn(scratch.folder, 'init', '--quiet', 'half');
    mkdirSync(join(scratch.folder, 'half/sub'));
    rmSync(join(scratch.folder, 'half/.git/HEAD'));
    const messages = [];
    for (const folder of [
      scratch.folder,
      join(scratch.folder, 'bare.git'),
      join(scratch.root, '.git'),
      join(scratch.folder, 'missing'),
      join(scratch.root, 'a.txt'),
      join(scratch.root, 'a.txt/below'),
      join(scratch.folder, 'half/sub'),
    ]) {
      const found = await findCheckout(folder, scratch.env);
      messages.push(found.status === 'failed' ? found.message.replaceAll(scratch.folder, '…') : found);
    }
    expect(messages).toEqual([
      '… is not in a git repository. Name a checkout with --repo, or create one: with actions/checkout in a workflow, otherwise with git init',
      '…/bare.git is a bare repository, which has no work tree. Clone it, or add one: git worktree add <folder>',
      '…/checkout/.git is inside a .git folder. Run patchsmith in the work tree, or name it with --repo.',
      '…/missing does not exist. Name a checkout with --repo.',
      '…/checkout/a.txt is not a folder. Name a checkout with --repo.',
      '…/checkout/a.txt/below does not exist. Name a checkout with --repo.',
      '…/half/.git is not a git repository: a part of it is missing or unreadable. Repair it, or name another checkout with --repo.',
    ]);
  });

  test.runIf(process.getuid?.() === 0)(
    'is a checkout of somebody else until it is declared safe',
    async () => {
      const scratch = committed();
      for (const path of [scratch.root, join(scratch.root, '.git')]) chownSync(path, 65534, 65534);
      const refused = await findCheckout(scratch.root, scratch.env);
      expect(refused).toEqual({
        status: 'failed',
        message: `The repository of ${scratch.root} belongs to another user, so git refuses it. If you trust it: git config --global --add safe.directory ${scratch.root}`,
      });
      writeFileSync(join(scratch.home, '.gitconfig'), `[safe]\n\tdirectory = ${scratch.root}\n`);
      await expectRoundTrip(scratch);
    },
  );
});
