/** Git dirs that commands make: they are removed when the command has ended, and what lies beside them counts. */

import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Workspace } from '../../../../src/ports/workspace.ts';
import { filesBelow, ScratchCheckout } from '../scratch-checkout.ts';

/** `ignored/` is ignored, `kept/` a checkout of the user's, `module/` a submodule. */
function committed(): ScratchCheckout {
  const scratch = new ScratchCheckout();
  scratch.write('src/a.txt', 'one\n');
  scratch.write('.gitignore', '/ignored/\n');
  scratch.commit();
  scratch.git('clone', '--quiet', '.', '../module');
  scratch.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '../module', 'module');
  scratch.commit();
  scratch.git('clone', '--quiet', '.', 'kept');
  scratch.git('clone', '--quiet', '.', 'ignored/deep/kept');
  scratch.write('ignored/old/file.txt', 'old\n');
  return scratch;
}

/** What a capture finds after this was done, as paths. */
async function afterCommand(workspace: Workspace, command: () => void): Promise<string[]> {
  await workspace.capture('all');
  command();
  const changes = await workspace.capture('after_commands');
  return changes.map(({ path }) => path);
}

test('a folder that became a link is not followed to the git dir behind it', async () => {
  const scratch = committed();
  const workspace = await scratch.open();
  const outside = join(scratch.folder, 'outside');
  scratch.git('init', '--quiet', outside);
  await afterCommand(workspace, () => {
    scratch.link('ignored/old', outside);
    scratch.link('src/linked', outside);
  });
  expect(lstatSync(join(outside, '.git')).isDirectory()).toBe(true);
  expect(workspace.notes().removedGitDirs).toEqual([]);
});

test('what someone else created before the command is left alone, then and later', async () => {
  const scratch = committed();
  const workspace = await scratch.open();
  scratch.git('clone', '--quiet', '.', 'theirs');
  await afterCommand(workspace, () => undefined);
  await afterCommand(workspace, () => scratch.write('theirs/.git/description', 'x\n'));
  expect(workspace.notes().removedGitDirs).toEqual([]);
  expect(existsSync(join(scratch.root, 'theirs/.git/HEAD'))).toBe(true);
  expect(workspace.notes().warnings).toContain(
    '[WARN_GIT_DIR_KEPT] Something outside the run created "theirs/.git" within reach of commands.',
  );
});

test('what someone else moved here before the command is left alone, too', async () => {
  const scratch = committed();
  scratch.git('clone', '--quiet', '.', '../theirs');
  const workspace = await scratch.open();
  await afterCommand(workspace, () => undefined);
  renameSync(join(scratch.folder, 'theirs'), join(scratch.root, 'theirs'));
  await afterCommand(workspace, () => scratch.write('src/a.txt', 'two\n'));
  expect(workspace.notes().removedGitDirs).toEqual([]);
  expect(existsSync(join(scratch.root, 'theirs/.git/HEAD'))).toBe(true);
});

test('a run with an incomplete last scan still removes them, and leaves what was there', async () => {
  const scratch = committed();
  const workspace = await scratch.open();
  const before = filesBelow(scratch.root);
  await workspace.capture('all');
  for (const place of ['made', 'ignored/new', 'kept/inner', 'module/inner', 'src'])
    scratch.git('init', '--quiet', place);
  await workspace.sweep();
  expect(filesBelow(scratch.root)).toEqual(before);
  expect(workspace.notes().removedGitDirs).toHaveLength(5);
  expect(workspace.notes().warnings).toContain(
    '[WARN_GIT_DIR_REMOVED] A command created "src/.git"; it was removed, and the files next to it stay.',
  );
  expect(await workspace.capture('after_commands')).toEqual([]);
});

test('a capture that follows no command removes nothing, and neither does a later one', async () => {
  const scratch = committed();
  const workspace = await scratch.open();
  scratch.git('init', '--quiet', 'made');
  await workspace.capture('all');
  expect(existsSync(join(scratch.root, 'made/.git'))).toBe(true);
  await workspace.capture('after_commands');
  expect(existsSync(join(scratch.root, 'made/.git'))).toBe(true);
});

test('a folder that cannot be opened is named', async () => {
  const scratch = committed();
  const workspace = await scratch.open();
  const name = 'n'.repeat(200);
  await afterCommand(workspace, () => {
    // Deeper than any path can name.
    const dig = `for (let i = 0; i < 25; i += 1) {
      require('node:fs').mkdirSync('${name}');
      process.chdir('${name}');
    }`;
    mkdirSync(join(scratch.root, 'ignored'), { recursive: true });
    execFileSync(process.execPath, ['-e', dig], { cwd: join(scratch.root, 'ignored') });
  });
  execFileSync('rm', ['-rf', name], { cwd: join(scratch.root, 'ignored') });
  expect(workspace.notes().warnings).toContainEqual(expect.stringMatching(/^\[WARN_GIT_DIR_UNSEARCHED\] /));
});
