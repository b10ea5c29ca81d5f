import { chmodSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { nowByBoth } from '../../../../src/adapters/workspace/snapshot/earlier-changes.ts';
import { ScratchCheckout } from '../scratch-checkout.ts';

/** Longer than a tick of the file system's clock. */
const tick = () => setTimeout(30);

/** Paths that changed before a line and after it; `inOne` for a file that was changed in both. */
async function sidesOf(
  files: Readonly<Record<string, string>>,
  before: (scratch: ScratchCheckout) => void,
  after: (scratch: ScratchCheckout) => void,
): Promise<{ earlier: string[]; since: string[] }> {
  const scratch = new ScratchCheckout();
  for (const [path, text] of Object.entries(files)) scratch.write(path, text);
  scratch.commit();
  await tick();
  const workspace = await scratch.open();
  await workspace.capture('all');
  before(scratch);
  await tick();
  const line = await workspace.checkpoint();
  expect(line.changes).toEqual([]);
  await tick();
  after(scratch);
  const { earlier, since } = await line.captureSince();
  return { earlier: earlier.map(({ path }) => path), since: since.map(({ path }) => path) };
}

describe('changes before a command are distinguished from the command’s own', () => {
  test('files that were written, made and removed on either side of the line', async () => {
    const sides = await sidesOf(
      { 'a.txt': 'a\n', 'b.txt': 'b\n', 'old/x': 'x\n', 'gone/y': 'y\n', 'gone/z': 'z\n' },
      (scratch) => {
        scratch.writeInPlace('a.txt', 'foreign\n');
        scratch.write('new/foreign.txt', 'foreign\n');
        rmSync(join(scratch.root, 'gone/y'));
      },
      (scratch) => {
        scratch.writeInPlace('b.txt', 'command\n');
        scratch.write('old/made.txt', 'command\n');
        rmSync(join(scratch.root, 'old/x'));
      },
    );
    expect(sides).toEqual({
      earlier: ['a.txt', 'gone/y', 'new/foreign.txt'],
      since: ['b.txt', 'old/made.txt', 'old/x'],
    });
  });

  test('a file written in place counts as earlier although the command created another one next to it', async () => {
    const sides = await sidesOf(
      { 'src/a.txt': 'a\n' },
      (scratch) => scratch.writeInPlace('src/a.txt', 'foreign\n'),
      (scratch) => scratch.write('src/b.txt', 'command\n'),
    );
    expect(sides).toEqual({ earlier: ['src/a.txt'], since: ['src/b.txt'] });
  });

  test('old files that come with a renamed folder are the work of who renamed it', async () => {
    const sides = await sidesOf(
      { 'src/deep/a.txt': 'a\n', 'src/b.txt': 'b\n', 'kept.txt': 'k\n' },
      () => {},
      (scratch) => renameSync(join(scratch.root, 'src'), join(scratch.root, 'lib')),
    );
    expect(sides).toEqual({
      earlier: [],
      since: ['lib/b.txt', 'lib/deep/a.txt', 'src/b.txt', 'src/deep/a.txt'],
    });
  });

  test('a rename and a change of mode are attributed to their author', async () => {
    const sides = await sidesOf(
      { 'a.txt': 'a\n', 'run.sh': '#!/bin/sh\n', 'other/c.txt': 'c\n' },
      (scratch) => scratch.writeInPlace('other/c.txt', 'foreign\n'),
      (scratch) => {
        renameSync(join(scratch.root, 'a.txt'), join(scratch.root, 'b.txt'));
        chmodSync(join(scratch.root, 'run.sh'), 0o755);
      },
    );
    expect(sides).toEqual({ earlier: ['other/c.txt'], since: ['a.txt', 'b.txt', 'run.sh'] });
  });

  test('in doubt the change is the command’s: both wrote the file, or removed in one folder', async () => {
    const sides = await sidesOf(
      { 'a.txt': 'a\n', 'd/x': 'x\n', 'd/y': 'y\n' },
      (scratch) => {
        scratch.writeInPlace('a.txt', 'foreign\n');
        rmSync(join(scratch.root, 'd/x'));
      },
      (scratch) => {
        scratch.writeInPlace('a.txt', 'foreign\ncommand\n');
        rmSync(join(scratch.root, 'd/y'));
      },
    );
    expect(sides).toEqual({ earlier: [], since: ['a.txt', 'd/x', 'd/y'] });
  });
});

test('the two clocks are read at the same time, also on a machine that stops between them', () => {
  let reads = 0;
  const { clockNs, monotonicMs } = nowByBoth(() => {
    reads += 1;
    const now = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
    if (reads < 3) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
    return now;
  });
  expect(reads).toBeGreaterThanOrEqual(3);
  expect(Math.abs(Number(clockNs) / 1e6 - (performance.timeOrigin + monotonicMs))).toBeLessThan(100);
});
