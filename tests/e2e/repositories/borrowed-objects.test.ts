/** A repository may borrow objects from others, by `objects/info/alternates`. Git reads none that was not checked. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { makePipe, tempFolder } from '../../support/files/temp-folder.ts';
import { scriptedRun } from '../../support/runs/scripted-run.ts';

const SPELLINGS: readonly [string, (store: string) => string | Buffer][] = [
  ['in quotes', (store) => `"${store}"\n`],
  ['up to a NUL', (store) => `${store}\0\n`],
  [
    'with bytes that are not UTF-8',
    (store) => Buffer.concat([Buffer.from(store), Buffer.from([0xff, 0x0a])]),
  ],
];

test.each(SPELLINGS)(
  'a store that is named %s is refused, and nothing waits for a pipe in it',
  async (_what, line) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const store = join(tempFolder(), 'objects');
    const bytes = Buffer.from(store);
    const places = [bytes, Buffer.concat([bytes, Buffer.from([0xff])])];
    for (const place of places) mkdirSync(Buffer.concat([place, Buffer.from('/pack')]), { recursive: true });
    const pack = `pack-${'0'.repeat(40)}`;
    makePipe(join(store, `pack/${pack}.idx`));
    writeFileSync(join(store, `pack/${pack}.pack`), '');
    writeFileSync(join(repository.root, '.git/objects/info/alternates'), line(store));
    const run = await scriptedRun({
      repository,
      built: true,
      args: ['--deadline', '20s'],
      turns: [{ text: 'Done.' }],
    });
    expect([run.exitCode, run.lastLine]).toEqual([2, expect.stringContaining('has a path')]);
  },
);
