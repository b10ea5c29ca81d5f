import { lstatSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ScratchCheckout } from '../scratch-checkout.ts';

const OLD = new Date('2020-01-01T00:00:00Z');

/** A checkout whose files are years older than its index, so that git trusts their stats. */
function committed(): ScratchCheckout {
  const scratch = new ScratchCheckout();
  for (const name of ['a', 'b', 'folder/c']) {
    scratch.write(name, 'one\n');
    utimesSync(scratch.path(name), OLD, OLD);
  }
  scratch.commit();
  return scratch;
}

/** Writes other content of the same size into the same file, and sets its time back. */
function writeAndHide(scratch: ScratchCheckout, path: string, content: string): void {
  const { atime, mtime, ino } = lstatSync(scratch.path(path));
  writeFileSync(scratch.path(path), content);
  utimesSync(scratch.path(path), atime, mtime);
  expect(lstatSync(scratch.path(path))).toMatchObject({ ino, mtime });
}

/** What the baseline says that a path holds. */
async function baselineOf(scratch: ScratchCheckout): Promise<string> {
  const workspace = await scratch.open();
  return scratch.git('--git-dir', scratch.shadow, 'cat-file', 'blob', `${workspace.base().tree}:a`);
}

describe('the index of the user', () => {
  test('a file hidden by a faked time is in the baseline with its real content', async () => {
    const scratch = committed();
    await sleep(1_000);
    writeAndHide(scratch, 'a', 'two\n');
    expect(await baselineOf(scratch)).toBe('two\n');
  });

  test.each(['--assume-unchanged', '--skip-worktree'])('%s proves nothing of a file', async (flag) => {
    const scratch = committed();
    scratch.git('update-index', flag, 'a');
    scratch.write('a', 'two\n');
    expect(await baselineOf(scratch)).toBe('two\n');
  });

  test('a change that is hidden by its time is captured, whatever looks came before', async () => {
    const scratch = committed();
    const workspace = await scratch.open();
    // Git compares times by the second.
    await sleep(1_000);
    for (const scope of ['all', 'after_commands', 'all'] as const)
      expect(await workspace.capture(scope)).toEqual([]);
    writeAndHide(scratch, 'folder/c', 'two\n');
    expect(await workspace.capture('after_commands')).toMatchObject([
      { path: 'folder/c', before: { size: 4 }, after: { size: 4 } },
    ]);
  });

  test('an index that contradicts the disk is not part of the baseline', async () => {
    const scratch = committed();
    const blob = scratch.git('hash-object', '-w', '--stdin').trim();
    // The content of the index is another, and its stat is none.
    scratch.git('update-index', '--cacheinfo', `100644,${blob},a`);
    expect(await baselineOf(scratch)).toBe('one\n');
  });

  test('a change within the second in which the file was committed is seen, though git compares seconds', async () => {
    for (const round of ['first', 'again', 'third']) {
      const scratch = new ScratchCheckout();
      scratch.write('a', 'one\n');
      scratch.write('b', 'one\n');
      scratch.commit(round);
      const workspace = await scratch.open();
      scratch.writeInPlace('a', 'two\n');
      const [change, ...more] = await workspace.capture('all');
      expect([change?.path, more]).toEqual(['a', []]);
      // The file may get the same inode again.
      scratch.remove('b');
      expect(await workspace.capture('all')).toMatchObject([{ path: 'b', after: null }]);
      scratch.write('b', 'one\n');
      expect(await workspace.capture('all')).toMatchObject([{ path: 'b', before: null }]);
    }
  });
});
