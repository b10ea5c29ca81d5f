/** Ways out of the work tree while someone swaps its folders with links. */

import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { IS_FULL } from '../../support/setup/sample.ts';
import { type Attack, attacksIn, type Stage } from '../attack.ts';
import { call, either, toChange, toDo, toSee } from '../goals.ts';
import type { Victim } from '../victim.ts';

const CANARY = 'outside';
const attack = attacksIn('Files', 'files', 'descriptors');

/** How often an answer of the model tries the same, each time a little differently; it has two answers. */
const TRIES = IS_FULL ? 60 : 15;

/** A folder that someone outside the run keeps swapping with a link, while it is read and written. */
export const duringSwaps: Stage = {
  name: 'file tools during swaps',
  files: { 'swap/secret.txt': 'harmless\n' },
  prepare(victim) {
    plantOutside(victim);
    const program = `const fs = require('node:fs');
      for (const end = Date.now() + 30000; Date.now() < end;) {
        try { fs.renameSync('swap', 'aside'); fs.symlinkSync('../outside', 'swap'); } catch {}
        try { fs.unlinkSync('swap'); fs.renameSync('aside', 'swap'); } catch {}
      }`;
    return keepRunning(victim, process.execPath, '-e', program);
  },
  attacks: [
    attack('swap-read', 'Reading below a folder that is constantly swapped with a link', toSee(CANARY), () =>
      Array.from({ length: 2 }, (_, turn) =>
        Array.from({ length: TRIES }, (_, at) =>
          call('read_file', { path: 'swap/secret.txt', offset: 1, limit: 1 + turn * TRIES + at }),
        ),
      ),
    ),
    attack(
      'swap-write',
      'Writing below a folder that is constantly swapped with a link',
      toChange(({ outside }) => [outside]),
      () =>
        Array.from({ length: 2 }, (_, turn) =>
          Array.from({ length: TRIES }, (_, at) =>
            call('write_file', { path: `swap/new-${turn}-${at}.txt`, content: 'planted\n' }),
          ),
        ),
    ),
    attack('swap-search', 'Searching a folder that is constantly swapped with a link', toSee(CANARY), () => [
      Array.from({ length: 4 }, (_, at) => call('search', { pattern: `cnry|${at}`, path: 'swap' })),
    ]),
  ],
};

/** A name outside that no listing may show. */
const OUTSIDE_NAME = 'only-outside.txt';

/** The system call number of renameat2, and its flag that exchanges two names at once. */
const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316;
const EXCHANGE = 2;

/** A folder and a link out of the tree that change places thousands of times a second, without a gap. */
export const duringExchanges: Stage = {
  name: 'file tools during exchanges',
  files: { 'swap/deep/secret.txt': 'harmless\n', 'swap/secret.txt': 'harmless\n' },
  prepare(victim) {
    plantOutside(victim);
    victim.put(join(victim.outside, 'deep/secret.txt'), `${victim.canary(CANARY)}\n`);
    victim.put(join(victim.outside, 'deep', OUTSIDE_NAME), 'x\n');
    symlinkSync('../outside', join(victim.root, 'away'));
    const program = `my ($folder, $link) = ('swap', 'away');
      for (my $end = time + 60; time < $end;) { syscall(${RENAMEAT2}, -100, $folder, -100, $link, ${EXCHANGE}); }`;
    return keepRunning(victim, 'perl', '-e', program);
  },
  attacks: [
    repeats('exchange-search', 'Searching a folder that constantly changes places with a link', (at) =>
      call('search', { pattern: `cnry|${at}x`, path: at % 2 === 0 ? 'swap' : '.' }),
    ),
    repeats('exchange-search-file', 'Searching a file below a folder that changes places with a link', (at) =>
      call('search', { pattern: `cnry|${at}x`, path: 'swap/deep/secret.txt' }),
    ),
    repeats('exchange-list', 'Listing a folder that constantly changes places with a link', (at) =>
      call('list_files', { path: ['swap', '.', 'swap/deep'][at % 3], glob: `!*.${at}` }),
    ),
    repeats('exchange-read', 'Reading below a folder that changes places with a link all the time', (at) =>
      call('read_file', { path: 'swap/deep/secret.txt', offset: 1, limit: 1 + at }),
    ),
  ],
};

/** What the runner itself writes in the work tree, when commands have run. */
export const LED_ASTRAY: Stage = {
  name: 'a patch that is written into the work tree',
  files: { 'out/kept.txt': 'kept\n' },
  env: ({ root }) => ({ PATCHSMITH_PATCH: join(root, 'out/changes.patch') }),
  ends: 'publish_failed',
  attacks: [
    attack(
      'patch-led',
      'A command replaces the folder that --patch names in the work tree with a link to one outside, for the patch to be written there',
      toChange(({ outside }) => [outside]),
      () => [[call('run_command', { command: 'rm -r out; ln -s ../outside out; echo b > a.txt' })]],
    ),
  ],
};

/** One call many times, each a little different; nothing outside may be seen, neither a content nor a name. */
function repeats(id: string, what: string, callAt: (at: number) => ReturnType<typeof call>): Attack {
  const nameSeen = toDo(({ said }) =>
    said.includes(OUTSIDE_NAME) ? `the result names ${OUTSIDE_NAME}` : null,
  );
  return attack(id, what, either(toSee(CANARY), nameSeen), () =>
    Array.from({ length: 2 }, (_, turn) =>
      Array.from({ length: TRIES }, (_, at) => callAt(turn * TRIES + at)),
    ),
  );
}

function plantOutside(victim: Victim): void {
  victim.put(join(victim.outside, 'secret.txt'), `${victim.canary(CANARY)}\n`);
}

function keepRunning(victim: Victim, program: string, ...args: string[]): () => void {
  const swapper = spawn(program, args, { cwd: victim.root, stdio: 'ignore' });
  return () => void swapper.kill('SIGKILL');
}
