/** What a look finds where a work tree is hostile, unusual or large. */

import { chmodSync, existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reopenWorkspace } from '../../../../src/adapters/workspace/reopen.ts';
import type { CaptureScope, Workspace } from '../../../../src/ports/workspace.ts';
import { at, filesBelow, ScratchCheckout } from '../scratch-checkout.ts';

async function look(workspace: Workspace, scope: CaptureScope = 'after_commands'): Promise<string[]> {
  const changes = await workspace.capture(scope);
  return changes.map(({ path, before, after }) => `${before ? (after ? '~' : '-') : '+'}${path}`);
}

function committed(files: Record<string, string>, ...options: string[]): ScratchCheckout {
  const scratch = new ScratchCheckout(...options);
  for (const [path, text] of Object.entries(files)) scratch.write(path, text);
  scratch.commit();
  return scratch;
}

/** Continues the run of the last workspace opened, as if it had been killed. */
async function reopened(scratch: ScratchCheckout, workspace: Workspace) {
  return reopenWorkspace(
    await scratch.checkout(),
    { shadowDir: scratch.shadow, sandboxGitDir: join(scratch.shadow, '../agent.git'), env: scratch.env },
    { base: workspace.base(), states: new Map(), written: [], newGitDirs: 'accepted' },
  );
}

describe('names', () => {
  test('a folder is listed by its exact name', async () => {
    const scratch = committed({ 'd*/a': 'x\n', 'dd/a': 'x\n', 'e\udcff/a': 'x\n', 'e\udcfe/a': 'x\n' });
    const workspace = await scratch.open();
    for (const folder of ['d*', 'e\udcff'])
      expect(await workspace.listFiles(at(folder), null)).toEqual({ status: 'ok', paths: [`${folder}/a`] });
  });
});

describe('a path that turns', () => {
  test('into a link to a folder: nothing behind it is read', async () => {
    const scratch = committed({ 'd/secret': 'x\n' });
    scratch.write('../elsewhere/secret', 'theirs\n');
    scratch.write('../elsewhere/more', 'theirs\n');
    const workspace = await scratch.open();
    scratch.remove('d');
    scratch.link('d', '../elsewhere');
    expect(await look(workspace)).toEqual(['+d', '-d/secret']);
    expect(await look(workspace, ['d/secret', 'd/more'])).toEqual([]);
  });
});

describe('an index entry', () => {
  test('that is only meant to be added is in the base, empty or not', async () => {
    const scratch = committed({ a: 'x\n' });
    scratch.write('empty', '');
    scratch.write('full', 'x\n');
    scratch.git('add', '--intent-to-add', 'empty', 'full');
    const workspace = await scratch.open();
    const tree = scratch.gitIn(
      scratch.root,
      `--git-dir=${scratch.shadow}`,
      'ls-tree',
      '-r',
      '--name-only',
      workspace.base().tree,
    );
    expect(tree.split('\n')).toEqual(['a', 'empty', 'full', '']);
    expect(await look(workspace)).toEqual([]);
  });
});

describe('rule files', () => {
  test('that ignored themselves at the start still say what comes into view', async () => {
    const scratch = committed({ a: 'x\n' });
    scratch.write('cache/.gitignore', '*\n');
    scratch.write('cache/theirs', 'x\n');
    const workspace = await scratch.open();
    expect(await look(workspace, 'all')).toEqual([]);
    scratch.remove('cache/.gitignore');
    scratch.write('cache/made', 'x\n');
    expect(await look(workspace)).toEqual(['+cache/made']);
    expect(workspace.notes().exposed).toEqual(['cache/theirs']);
  });

  test('that are too large end the run with their name', async () => {
    const scratch = committed({ a: 'x\n' });
    const workspace = await scratch.open();
    scratch.write('d/.gitignore', '');
    truncateSync(scratch.path('d/.gitignore'), 17 * 1024 * 1024);
    await expect(look(workspace)).rejects.toMatchObject({
      name: 'UnusableFile',
      message: expect.stringContaining('d/.gitignore" is too large'),
    });
  });

  test.each(['.gitignore', 'd/.gitattributes', 'ignored/.gitignore'])(
    'a pipe as %s is refused at the start',
    async (path) => {
      const scratch = committed({ a: 'x\n', '.gitignore': 'ignored/\n', 'd/b': 'x\n' });
      scratch.write('ignored/x', 'x\n');
      scratch.remove(path);
      scratch.mkfifo(path);
      await expect(scratch.open()).rejects.toMatchObject({
        name: 'UnusableFile',
        message: expect.stringContaining(`${path}" is a pipe or device`),
      });
    },
  );

  test('pipes in their place are removed, wherever they are', async () => {
    const scratch = committed({ a: 'x\n', '.gitignore': 'ignored/\n', 'd/b': 'x\n', 'closed/b': 'x\n' });
    scratch.write('ignored/x', 'x\n');
    scratch.gitIn(scratch.root, 'init', '--quiet', 'nested');
    const workspace = await scratch.open();
    const pipes = [
      '.gitignore',
      'd/.gitattributes',
      'ignored/.gitignore',
      'nested/.gitignore',
      'closed/.gitignore',
    ];
    for (const path of pipes) {
      scratch.remove(path);
      scratch.mkfifo(path);
    }
    chmodSync(scratch.path('closed'), 0o500);
    expect(await look(workspace)).toEqual(['-.gitignore']);
    expect(pipes.filter((path) => existsSync(scratch.path(path)))).toEqual([]);
    expect(
      workspace
        .notes()
        .warnings.filter((one) => one.includes('WARN_SPECIAL_REMOVED'))
        .sort(),
    ).toEqual(
      pipes.map((path) => `[WARN_SPECIAL_REMOVED] "${path}" was a pipe or device, and was removed.`).sort(),
    );
  });

  test.each(['n/.git/HEAD', 'n/.git/commondir', '../elsewhere/HEAD'])(
    'a pipe as %s, which git opens to tell a repository from a folder, is refused at the start',
    async (path) => {
      const scratch = committed({ a: 'x\n' });
      scratch.gitIn(scratch.root, 'init', '--quiet', 'n');
      if (path.startsWith('..')) {
        scratch.gitIn(scratch.root, 'init', '--quiet', '--bare', '../elsewhere');
        scratch.remove('n/.git');
        scratch.write('n/.git', 'gitdir: ../../elsewhere\n');
      }
      scratch.remove(path);
      scratch.mkfifo(path);
      await expect(scratch.open()).rejects.toMatchObject({
        name: 'UnusableFile',
        message: expect.stringContaining(`${path.replace('..', '')}" is a pipe or device`),
      });
    },
  );

  test('one that a command makes in what may be a copy of a lost repository is removed', async () => {
    const scratch = committed({ a: 'x\n', '.gitignore': 'bare\n' });
    scratch.gitIn(scratch.root, 'init', '--quiet', '--bare', 'bare');
    const workspace = await scratch.open();
    await workspace.capture('all');
    scratch.remove('bare');
    scratch.write('n/.git/objects/x', '');
    scratch.mkfifo('n/.git/HEAD');
    expect(await look(workspace)).toEqual([]);
    expect(existsSync(scratch.path('n/.git/HEAD'))).toBe(false);
  });

  test('links in their place are not followed', async () => {
    const scratch = committed({ a: 'x\n' });
    scratch.mkfifo('../pipe');
    const workspace = await scratch.open();
    scratch.link('.gitignore', '../pipe');
    scratch.link('.gitattributes', '../pipe');
    expect(await look(workspace)).toEqual(['+.gitattributes', '+.gitignore']);
  });

  test('a pipe that a killed command has left is removed before git looks', async () => {
    const scratch = committed({ a: 'x\n', 'd/.gitattributes': '* text\n' });
    const workspace = await scratch.open();
    await workspace.capture('all');
    scratch.mkfifo('.gitattributes');
    expect(await reopened(scratch, workspace)).toMatchObject({ status: 'ok', found: [] });
    expect(filesBelow(scratch.root)).not.toHaveProperty(['.gitattributes']);
  });
});

test('of a submodule git reads no settings, which could name programs or say that it looks into it', async () => {
  const scratch = committed({ a: 'x\n' });
  scratch.gitIn(scratch.folder, 'init', '--quiet', 'library');
  const library = join(scratch.folder, 'library');
  writeFileSync(join(library, '.gitattributes'), '* filter=trap\n');
  writeFileSync(join(library, 'file'), 'x\n');
  scratch.gitIn(library, 'add', '--all');
  scratch.gitIn(library, 'commit', '--quiet', '--message', 'File');
  scratch.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'sub');
  scratch.git('config', '--file', '.gitmodules', 'submodule.sub.ignore', 'none');
  scratch.commit();
  const trap = join(scratch.folder, 'ran');
  for (const name of ['filter.trap.clean', 'filter.trap.process', 'core.fsmonitor'])
    scratch.gitIn(join(scratch.root, 'sub'), 'config', name, `touch ${trap}; cat`);
  writeFileSync(scratch.path('sub/file'), 'y\n');
  const workspace = await scratch.open();
  writeFileSync(scratch.path('sub/file'), 'z\n');
  scratch.write('a', 'y\n');
  expect(await look(workspace)).toEqual(['~a']);
  expect(existsSync(trap)).toBe(false);
  scratch.remove('.gitmodules');
  scratch.mkfifo('.gitmodules');
  expect(await look(workspace)).toEqual(['-.gitmodules']);
});

test('a git that fails is a message that says what it said', async () => {
  const scratch = committed({ a: 'x\n' });
  const workspace = await scratch.open();
  writeFileSync(join(scratch.shadow, 'start.index'), 'none');
  await expect(look(workspace)).rejects.toMatchObject({
    name: 'UnusableFile',
    message: expect.stringMatching(/git (diff|ls)-files.* index file smaller/),
  });
});

test('without core.fileMode, the bits of the disk do not count', async () => {
  const scratch = committed({ a: 'x\n' });
  scratch.git('config', 'core.fileMode', 'false');
  const workspace = await scratch.open();
  chmodSync(scratch.path('a'), 0o755);
  scratch.write('new', 'x\n', 0o755);
  expect(await workspace.capture('after_commands')).toMatchObject([
    { path: 'new', after: { mode: '100644' } },
  ]);
});

test('with core.ignoreCase, a file is seen whose name differs only in case, where the file system tells them apart', async () => {
  const scratch = committed({ README: 'x\n', 'src/a': 'x\n' });
  scratch.git('config', 'core.ignoreCase', 'true');
  const workspace = await scratch.open();
  scratch.write('readme', 'y\n');
  scratch.write('SRC/a', 'y\n');
  expect(await look(workspace)).toEqual(['+SRC/a', '+readme']);
});
