import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Workspace } from '../../../src/ports/workspace.ts';
import { filesBelow, ScratchCheckout } from './scratch-checkout.ts';

/** Runs git as a command of the model would: with the throwaway git dir over the work tree. */
function agent(workspace: Workspace, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd: workspace.root,
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_DIR: workspace.sandboxGitDir.gitDir,
      GIT_WORK_TREE: workspace.root,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString();
}

function committed(...initOptions: string[]): ScratchCheckout {
  const scratch = new ScratchCheckout(...initOptions);
  scratch.write('a.txt', 'one\n');
  scratch.write('b.txt', 'one\n');
  scratch.write('.gitignore', '*.log\n');
  scratch.commit('first');
  return scratch;
}

describe("the model's git dir", () => {
  test('knows history, branches, tags and the index, and nothing that reaches the real repository', async () => {
    const scratch = committed();
    scratch.git('tag', '-a', '-m', 'tag', 'v1');
    scratch.git('branch', 'other');
    scratch.git('remote', 'add', 'origin', 'https://user:secret@example.org/x.git');
    scratch.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    scratch.git('config', 'http.extraheader', 'Authorization: secret');
    scratch.write('b.txt', 'stashed\n');
    scratch.git('stash', '--quiet');
    scratch.write('a.txt', 'staged\n');
    scratch.git('add', 'a.txt');
    scratch.write('b.txt', 'unstaged\n');
    scratch.write('new.log', 'x\n');
    const workspace = await scratch.open();
    expect(agent(workspace, 'status', '--porcelain', '--branch')).toBe('## main\nM  a.txt\n M b.txt\n');
    expect(agent(workspace, 'log', '--all', '--format=%s %D')).toBe(
      'first HEAD -> main, tag: v1, origin/main, other\n',
    );
    expect(agent(workspace, 'stash', 'list')).toBe('');
    expect(agent(workspace, 'remote')).toBe('');
    expect(JSON.stringify(filesBelow(workspace.sandboxGitDir.gitDir))).not.toContain('secret');
    expect(workspace.sandboxGitDir).toEqual({
      gitDir: join(scratch.folder, 'run-1/agent.git'),
      objects: join(scratch.root, '.git/objects'),
      dotGitIsFile: false,
      nested: [],
      uncovered: [],
    });
  });

  test.each<[string, (scratch: ScratchCheckout) => void, string]>([
    ['a detached HEAD', (scratch) => scratch.git('checkout', '--quiet', '--detach'), '## HEAD (no branch)\n'],
    ['packed refs', (scratch) => scratch.git('pack-refs', '--all'), '## main\n'],
    ['a split index', (scratch) => scratch.git('update-index', '--split-index'), '## main\n'],
    ['line endings turned by core.autocrlf', turnLineEndings, '## main\n'],
    ['modes that do not count', (scratch) => scratch.git('config', 'core.fileMode', 'false'), '## main\n'],
    ['a linked worktree', addWorktree, '## side\n'],
    ['a shallow clone', cloneShallow, '## main\n'],
  ])('works with %s', async (_name, change, status) => {
    const scratch = committed();
    change(scratch);
    const workspace = await scratch.open();
    expect(agent(workspace, 'status', '--porcelain', '--branch')).toBe(status);
    expect(agent(workspace, 'log', '--format=%s')).toBe('first\n');
  });

  test('works with SHA-256 and before the first commit', async () => {
    const sha256 = committed('--object-format=sha256');
    expect(agent(await sha256.open(), 'status', '--porcelain', '--branch')).toBe('## main\n');
    const unborn = new ScratchCheckout();
    unborn.write('a.txt', 'x\n');
    const workspace = await unborn.open();
    expect(agent(workspace, 'status', '--porcelain', '--branch')).toBe(
      '## No commits yet on main\n?? a.txt\n',
    );
    agent(workspace, 'add', '.');
    agent(workspace, 'commit', '--quiet', '-m', 'first');
    expect(unborn.git('status', '--porcelain', '--branch')).toBe('## No commits yet on main\n?? a.txt\n');
  });

  test('works next to submodules, and their git dirs are out of reach', async () => {
    const scratch = committed();
    scratch.git('clone', '--quiet', '.', '../library');
    scratch.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '../library', 'lib');
    scratch.commit('with lib');
    const workspace = await scratch.open();
    renameSync(join(scratch.root, '.git/modules'), join(scratch.folder, 'modules'));
    scratch.write('a.txt', 'two\n');
    scratch.write('lib/a.txt', 'two\n');
    expect(agent(workspace, 'status', '--porcelain')).toBe(' M a.txt\n');
    expect(agent(workspace, 'diff', '--name-only')).toBe('a.txt\n');
    agent(workspace, 'stash', '--quiet');
    agent(workspace, 'stash', 'pop', '--quiet');
    agent(workspace, 'add', '--all');
    agent(workspace, 'commit', '--quiet', '-m', 'by the model');
    expect(agent(workspace, 'show', '--format=', '--name-only')).toBe('a.txt\n');
  });

  test('is not older or younger than the real index, so that git sees what changed in the same moment', async () => {
    const scratch = committed();
    scratch.write('a.txt', 'abc\n');
    scratch.git('add', 'a.txt');
    scratch.writeInPlace('a.txt', 'xyz\n');
    const workspace = await scratch.open();
    expect(agent(workspace, 'status', '--porcelain')).toBe('MM a.txt\n');
  });
});

function turnLineEndings(scratch: ScratchCheckout): void {
  scratch.git('config', 'core.autocrlf', 'true');
  scratch.remove('a.txt');
  scratch.git('checkout', '--quiet', 'a.txt');
}

function addWorktree(scratch: ScratchCheckout): void {
  scratch.git('worktree', 'add', '--quiet', '-b', 'side', '../linked');
  scratch.root = join(scratch.folder, 'linked');
}

function cloneShallow(scratch: ScratchCheckout): void {
  scratch.git('commit', '--quiet', '--amend', '--no-edit');
  scratch.git(
    'clone',
    '--quiet',
    '--depth=1',
    '--no-tags',
    '--origin=o',
    `file://${scratch.root}`,
    '../shallow',
  );
  scratch.root = join(scratch.folder, 'shallow');
  scratch.git('branch', '--unset-upstream');
}
