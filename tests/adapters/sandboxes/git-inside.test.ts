/** The throwaway git dir where `.git` is not a plain folder with a store of its own. */

import { chownSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, tempFolder } from '../../support/files/temp-folder.ts';
import { makePlace, open, placeOf } from './fixture.ts';

const SESSION = `git status --porcelain && git log --format=%s && git mv hello.txt moved.txt &&
  git commit --quiet --message Moved && git stash list && git log --format=%s && git show HEAD~1:hello.txt`;
const SAID = 'Start\nMoved\nStart\nhello\n';

describe.each(['required', 'off'] as const)('with sandbox %s', (mode) => {
  test('a linked worktree works, and neither it nor its repository sees the commits', async () => {
    const folder = tempFolder();
    const main = makePlace().root;
    const root = join(folder, 'tree');
    git(main, 'worktree', 'add', '--quiet', '-b', 'side', root);
    const { text } = await open(placeOf(root, join(folder, 'run')), mode);
    expect(await text(SESSION)).toBe(SAID);
    expect(git(root, 'log', '--format=%s')).toBe('Start\n');
    expect(git(root, 'status', '--porcelain')).toBe(' D hello.txt\n?? moved.txt\n');
    expect(readFileSync(join(root, '.git'), 'utf8')).toBe(`gitdir: ${main}/.git/worktrees/tree\n`);
  });

  test('a clone that borrows objects from another repository works', async () => {
    const lender = makePlace().root;
    const folder = tempFolder();
    git(folder, 'clone', '--quiet', '--shared', lender, 'repo');
    const { text } = await open(placeOf(join(folder, 'repo'), join(folder, 'run')), mode);
    expect(await text(SESSION)).toBe(SAID);
  });

  test("a project's own tests can make repositories, with identities of their own", async () => {
    const { text } = await open(makePlace(), mode);
    // Without containment GIT_DIR points to the throwaway git dir, until a test clears it as git's own suite does.
    const said = await text(`unset GIT_DIR GIT_WORK_TREE; dir=$(mktemp -d) && cd "$dir" && git init --quiet &&
      git config user.name Tester && git config --global init.defaultBranch trunk &&
      git commit --quiet --allow-empty --message x && git log --format='%an <%ae>'; rm -r "$dir"`);
    expect(said).toBe('Tester <patchsmith@localhost>\n');
  });
});

// Only root can give a tree to somebody else.
test.runIf(process.getuid?.() === 0)(
  'git trusts a tree of another owner, and the trouble ahead is told',
  async () => {
    const place = makePlace();
    chownSync(place.root, 12345, 12345);
    const { text, warnings } = await open(place, 'required');
    expect(await text('git status --porcelain && git log --format=%s')).toBe('Start\n');
    expect(warnings).toEqual([
      "[WARN_TREE_OF_OTHERS] The work tree belongs to user 12345: commands run as root without root's privileges, so they may be unable to write there.",
    ]);
  },
);
