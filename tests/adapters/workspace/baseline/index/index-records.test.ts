import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { IndexEntries } from '../../../../../src/adapters/workspace/baseline/index/index-entries.ts';
import { IndexRecords } from '../../../../../src/adapters/workspace/baseline/index/index-records.ts';
import { listedIndex } from '../../../../../src/adapters/workspace/baseline/index/listed-index.ts';
import { ScratchCheckout } from '../../scratch-checkout.ts';

const LONG = `${'folder/'.repeat(600)}${'x'.repeat(100)}`;

/** Names whose order by bytes is not that of their letters or folders, and some that git has to quote. */
const NAMES = [
  'a.txt',
  'a/b.c/d',
  'a/b/c',
  'a0',
  'a-b/c',
  'with space/tab\there',
  'line\nfeed',
  'ÄÖ/é',
  'latin\udce4/\udcff',
  '.gitignore',
  'a/b/.gitattributes',
];

function filled(...initOptions: string[]): ScratchCheckout {
  const scratch = new ScratchCheckout(...initOptions);
  for (const name of NAMES) scratch.write(name, `content of ${name}\n`);
  scratch.write('empty', '');
  scratch.write('program', '#!/bin/sh\n', 0o755);
  scratch.link('link', 'a.txt');
  scratch.commit();
  return scratch;
}

function indexOf(scratch: ScratchCheckout): { bytes: Buffer; mtimeNs: bigint } {
  const place = join(scratch.root, '.git/index');
  return { bytes: readFileSync(place), mtimeNs: statSync(place, { bigint: true }).mtimeNs };
}

/** What git itself says of the same index. */
function listed(scratch: ScratchCheckout, idBytes: number): IndexRecords | null {
  const index = listedIndex(idBytes);
  const args = ['ls-files', '--stage', '--debug', '-z'];
  index.add(execFileSync('git', args, { cwd: scratch.root, env: scratch.env }));
  return IndexRecords.of(index.bytes() ?? Buffer.alloc(0), idBytes);
}

const SHAPES: readonly (readonly [string, (scratch: ScratchCheckout) => void])[] = [
  ['as it is written today', () => {}],
  ['without a file', (scratch) => void scratch.git('rm', '-rq', '--cached', '.')],
  [
    'of format 3',
    (scratch) => {
      scratch.write('later', 'x\n');
      scratch.git('add', '--intent-to-add', 'later');
      scratch.git('update-index', '--skip-worktree', 'a.txt');
      scratch.git('update-index', '--assume-unchanged', 'empty');
    },
  ],
  ['with an untracked cache', (scratch) => void scratch.git('update-index', '--force-untracked-cache')],
  ['of a merge that is not resolved', (scratch) => scratch.conflict('a.txt')],
];

describe('an index', () => {
  test.each(SHAPES)('%s holds what git says of it', (_, shape) => {
    const scratch = filled();
    shape(scratch);
    const { bytes, mtimeNs } = indexOf(scratch);
    const own = IndexRecords.of(bytes, 20);
    const git = listed(scratch, 20);
    if (own === null || git === null) throw new Error('The index could not be read.');
    const entries = new IndexEntries(own, mtimeNs);
    expect([...entries]).toEqual([...new IndexEntries(git, mtimeNs)]);
    for (const [path, entry] of entries) {
      const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
      const name = folder === '' ? path : path.slice(folder.length + 1);
      // Once with a search, once as the folder that was asked about last.
      expect(entries.get(path)).toEqual(entry);
      expect(entries.settledIn(folder)(name)).toBe(entry.settled);
      expect(entries.get(path)).toEqual(entry);
    }
    for (const path of ['', 'b', 'a/', 'a/b.', 'ÿ', 'a/b/c/d']) expect(entries.get(path)).toBeUndefined();
  });

  test('of SHA-256 objects holds what git says of it', () => {
    const scratch = filled('--object-format=sha256');
    const { bytes, mtimeNs } = indexOf(scratch);
    const own = IndexRecords.of(bytes, 32);
    const git = listed(scratch, 32);
    if (own === null || git === null) throw new Error('The index could not be read.');
    expect([...new IndexEntries(own, mtimeNs)]).toEqual([...new IndexEntries(git, mtimeNs)]);
    expect(own.length).toBe(NAMES.length + 3);
  });

  test('with a path longer than its length can say is read', () => {
    const scratch = new ScratchCheckout();
    const blob = scratch.git('hash-object', '-w', '--stdin').trim();
    scratch.git('update-index', '--add', '--cacheinfo', `100644,${blob},${LONG}`);
    const own = IndexRecords.of(indexOf(scratch).bytes, 20);
    expect(own?.pathOf(0)).toBe(LONG);
    expect(own?.find(LONG)).toBe(0);
  });

  test.each([
    ['of format 4', ['update-index', '--index-version=4']],
    ['that is split', ['update-index', '--split-index']],
  ])('%s is left to git, and so is what it proves', (_, args) => {
    const scratch = filled();
    scratch.git(...args);
    expect(IndexRecords.of(indexOf(scratch).bytes, 20)).toBeNull();
    expect(listed(scratch, 20)?.length).toBe(NAMES.length + 3);
  });

  test.each(['../.gitignore', 'a/../../b', './.gitignore', '/etc/.gitignore', 'a//.gitignore'])(
    'that names %j, which is not below the root, is no index',
    async (name) => {
      const scratch = new ScratchCheckout();
      scratch.write('x'.repeat(name.length), 'text\n');
      scratch.git('add', '--all');
      const { bytes } = indexOf(scratch);
      bytes.write(name, bytes.indexOf('xxx'), 'latin1');
      writeFileSync(join(scratch.root, '.git/index'), bytes);
      expect(IndexRecords.of(bytes, 20)).toBeNull();
      await expect(scratch.open()).rejects.toThrow('holds paths or modes that no work tree can have');
    },
  );

  test.each([
    // As git lists it, with six digits and with more.
    ['a mode of no file', 2, '100664'],
    ['a mode out of range', 2, '100100644'],
    ['a mode out of range, listed by git', 4, '100100644'],
  ])('with %s is no index', async (_, version, mode) => {
    const scratch = filled();
    scratch.git('update-index', `--index-version=${version}`);
    const { bytes } = indexOf(scratch);
    bytes.writeUInt32BE(Number.parseInt(mode, 8), 12 + 24);
    writeFileSync(join(scratch.root, '.git/index'), bytes);
    expect(IndexRecords.of(bytes, 20)).toBeNull();
    await expect(scratch.open()).rejects.toThrow('holds paths or modes that no work tree can have');
  });

  test('that somebody has broken is left to git, wherever it is broken', () => {
    const scratch = filled();
    const { bytes } = indexOf(scratch);
    const whole = IndexRecords.of(bytes, 20);
    for (let length = 0; length < bytes.length; length += 7)
      expect(IndexRecords.of(bytes.subarray(0, length), 20)).toBeNull();
    // More entries than there are, paths out of order, an extension that changes the meaning of the rest.
    const many = Buffer.from(bytes);
    many.writeUInt32BE(0xffff_ffff, 8);
    expect(IndexRecords.of(many, 20)).toBeNull();
    const swapped = Buffer.from(bytes);
    swapped.write('z', bytes.indexOf('a-b/c'));
    expect(IndexRecords.of(swapped, 20)).toBeNull();
    const required = Buffer.from(bytes);
    required.write('t', bytes.lastIndexOf('TREE'));
    expect(IndexRecords.of(required, 20)).toBeNull();
    // A path that ends before its end, a flag that git does not know.
    const cut = Buffer.from(bytes);
    cut[bytes.indexOf('a-b/c') + 1] = 0;
    expect(IndexRecords.of(cut, 20)).toBeNull();
    scratch.git('update-index', '--skip-worktree', '.gitignore');
    const { bytes: flagged } = indexOf(scratch);
    expect(IndexRecords.of(flagged, 20)?.at(0).skipWorktree).toBe(true);
    flagged.writeUInt16BE(0xc000, flagged.indexOf('.gitignore') - 2);
    expect(IndexRecords.of(flagged, 20)).toBeNull();
    // Whatever a byte becomes, nothing is read beyond the end and nothing hangs.
    for (let at = 0; at < bytes.length; at += 1) {
      const broken = Buffer.from(bytes);
      broken[at] = 0xff ^ (bytes[at] ?? 0);
      const records = IndexRecords.of(broken, 20);
      if (records !== null)
        expect([...new IndexEntries(records, 0n)].length).toBeLessThanOrEqual(whole?.length ?? 0);
    }
  });
});
