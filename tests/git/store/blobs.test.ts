import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FileState } from '../../../src/domain/changes/change.ts';
import { KeptBlobs, readBlobs } from '../../../src/git/store/blobs.ts';
import { git, tempFolder } from '../../support/files/temp-folder.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

/** A repository with a text, and with a large file of zeros: 150 MB in 150 KB. */
function store(largeBytes = 150_000_000) {
  const folder = tempFolder();
  git(folder, 'init', '--quiet', '--bare');
  const add = (name: string) => git(folder, 'hash-object', '-w', join(folder, name)).trim();
  writeFileSync(join(folder, 'small'), 'text\n');
  writeFileSync(join(folder, 'large'), '');
  truncateSync(join(folder, 'large'), largeBytes);
  return { folder, small: add('small'), large: add('large') };
}

testAtNight('a content that is larger than who wants it knows is not read', async () => {
  const { folder, small, large } = store();
  const missing = '1'.repeat(40);
  const before = process.memoryUsage().rss;
  const blobs = await readBlobs(folder, [small, large, missing, small], () => 1_000);
  expect([...blobs]).toEqual([
    [small, Buffer.from('text\n')],
    [large, null],
    [missing, null],
  ]);
  const kept = new KeptBlobs(folder);
  const stateOf = (blob: string, size: number): FileState => ({ mode: '100644', blob, size });
  expect(await kept.heldBy(stateOf(small, 5))).toEqual({ status: 'bytes', bytes: Buffer.from('text\n') });
  expect(await kept.heldBy(stateOf(large, 5))).toEqual({
    status: 'lost',
    why: 'its content is no longer in any repository, or larger than the run has recorded',
  });
  expect(await kept.heldBy(stateOf(large, 300_000_000))).toEqual({
    status: 'lost',
    why: 'git stores it in another form, and it is too large to convert',
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});
