import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ClosedPlaces } from '../../src/files/closed-places.ts';
import { ScratchCheckout } from '../adapters/workspace/scratch-checkout.ts';
import { temporaryFolder } from '../support/files/repository.ts';
import { isRoot } from '../support/runs/as-nobody.ts';

const NOBODY = 65_534;

/** Works as a user without privileges, whom everything of the checkout belongs to. */
async function asNobody<T>(scratch: ScratchCheckout, work: () => Promise<T>): Promise<T> {
  // The shell that starts git goes back to the user who started this process.
  writeFileSync(join(scratch.env.HOME ?? '', '.gitconfig'), '[safe]\n\tdirectory = *\n');
  execFileSync('chown', ['-R', String(NOBODY), scratch.folder]);
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

test('what a journal names outside of the work tree stays closed', () => {
  const folder = temporaryFolder();
  const [root, outside] = [join(folder, 'root'), join(folder, 'outside')];
  for (const path of [root, outside]) mkdirSync(path);
  chmodSync(outside, 0o100);
  const closed = new ClosedPlaces(root, () => undefined);
  closed.begin(0n);
  for (const path of ['../outside/x', 'a/../../outside/x']) expect(closed.open(path, 'write')).toBe(false);
  expect(lstatSync(outside).mode & 0o777).toBe(0o100);
});

describe.runIf(isRoot)('a user without privileges', () => {
  describe('a run of theirs', () => {
    async function opened(scratch: ScratchCheckout) {
      scratch.write('a/deep/one.txt', 'one\n');
      scratch.write('a/two.txt', 'two\n');
      scratch.write('b.txt', 'b\n');
      scratch.commit();
      return (first = () => {}) => {
        // So that git takes the index for younger than all files, and none is looked at for its age.
        scratch.git('update-index', '--refresh');
        const later = Date.now() / 1000 + 10;
        utimesSync(join(scratch.root, '.git/index'), later, later);
        first();
        return scratch.open();
      };
    }

    test.each([0o000, 0o111, 0o311, 0o444, 0o600])(
      'a folder closed with mode %o hides no change, whether it was read before or not',
      async (mode) => {
        const scratch = new ScratchCheckout();
        const open = await opened(scratch);
        await asNobody(scratch, async () => {
          const workspace = await open();
          await workspace.capture('all');
          for (const text of ['tampered\n', 'again\n']) {
            scratch.writeInPlace('a/deep/one.txt', text);
            chmodSync(join(scratch.root, 'a/deep'), mode);
            chmodSync(join(scratch.root, 'a'), mode);
            expect((await workspace.capture('all')).map(({ path }) => path)).toEqual(['a/deep/one.txt']);
            expect(workspace.notes().hidden).toEqual([]);
          }
          scratch.remove('a/two.txt');
          chmodSync(join(scratch.root, 'a'), mode);
          expect(await workspace.capture('all')).toMatchObject([{ path: 'a/two.txt', after: null }]);
        });
      },
    );

    test('what was closed before may be a way out, and is not begun with', async () => {
      const scratch = new ScratchCheckout();
      const open = await opened(scratch);
      const folder = join(scratch.root, 'a');
      await asNobody(scratch, async () => {
        const closed = open(() => chmodSync(folder, 0o000));
        await expect(closed).rejects.toThrow('"a" cannot be searched for hard links');
        expect(lstatSync(folder).mode & 0o777).toBe(0);
      });
    });

    test('a folder that is closed while the tree is looked at is opened again, or counts as hidden', async () => {
      const scratch = new ScratchCheckout();
      const open = await opened(scratch);
      await asNobody(scratch, async () => {
        const workspace = await open();
        for (let round = 0; round < 20; round += 1) {
          scratch.writeInPlace('a/two.txt', `round ${round}\n`);
          const looking = workspace.capture('all');
          for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
          chmodSync(join(scratch.root, 'a'), 0o000);
          const found = (await looking).map(({ path }) => path);
          expect(found.includes('a/two.txt') || workspace.notes().hidden.includes('a/two.txt')).toBe(true);
          chmodSync(join(scratch.root, 'a'), 0o755);
          await workspace.capture('all');
        }
      });
    });
  });

  test('a path through a link is not opened', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a/one.txt', 'one\n');
    scratch.commit();
    await asNobody(scratch, async () => {
      const workspace = await scratch.open();
      const outside = join(scratch.folder, 'outside');
      mkdirSync(outside, { mode: 0o000 });
      scratch.remove('a');
      scratch.link('a', outside);
      await workspace.capture('all');
      await workspace.listFiles('a' as never, null);
      expect(lstatSync(outside).mode & 0o777).toBe(0);
      rmdirSync(outside);
    });
  });
});
