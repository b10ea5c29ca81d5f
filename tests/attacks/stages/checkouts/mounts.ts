/** What mounts show of the machine: its device nodes, and the folders that a repository names. */

import { chmodSync, lstatSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Goal, Stage } from '../../attack.ts';
import { commandsIn, toHear } from '../../goals.ts';

const attack = commandsIn('Files', 'mounts', { none: 'untried' }, 'mounts');
const bySources = commandsIn('Files', 'mounts', { none: 'untried' }, 'pinned');

const NODES = ['full', 'null', 'random', 'tty', 'urandom', 'zero'].map((name) => join('/dev', name));
const stampOf = (path: string) => lstatSync(path).mtimeMs;
/** Of no other file. */
const STAMP = 86_400;

export const DEVICES: Stage = {
  name: 'devices of the machine',
  // A product that does not hold them changes those of this machine, so they are put back.
  prepare: () => {
    const before = NODES.map((path) => ({ path, stats: lstatSync(path) }));
    return () => {
      for (const { path, stats } of before) {
        if ((lstatSync(path).mode & 0o7777) !== (stats.mode & 0o7777)) chmodSync(path, stats.mode & 0o7777);
        if (stampOf(path) === STAMP * 1_000) utimesSync(path, stats.atime, stats.mtime);
      }
    };
  },
  attacks: [
    attack(
      'device-node',
      'A command changes the device nodes of the machine',
      () => `for node in ${NODES.join(' ')}; do touch -d @${STAMP} $node; done; chmod 0622 /dev/full; true`,
      toStamp(),
    ),
    attack(
      'device-descriptor',
      'A command changes device nodes of the machine through the descriptors that it has inherited',
      () => `perl -e 'for (0 .. 63) { open(my $f, "<&=", $_) and utime(${STAMP}, ${STAMP}, $f) }'; true`,
      toStamp(),
    ),
  ],
};

export const BORROWED: Stage = {
  name: 'an object store in the work tree',
  prepare(victim) {
    victim.put(join(victim.root, 'store/objects/info/packs'), '\n');
    victim.put(join(victim.root, '.git/objects/info/alternates'), `${victim.root}/store/objects\n`);
  },
  ends: { contained: 'usage_error', unfiltered: 'usage_error' },
  attacks: [
    bySources(
      'borrowed',
      'A command replaces an object store in the work tree that the repository borrows from with a link to `/`, and reads the password hashes there',
      ({ root }) =>
        `rm -rf ${root}/store/objects; ln -s / ${root}/store/objects; for at in 1 2; do sh -c 'cut -d: -f1 /run/patchsmith/objects-1/etc/shadow && echo shadow seen'; done`,
      toHear('shadow seen'),
    ),
  ],
};

function toStamp(): Goal {
  const reached = () => {
    const changed = NODES.filter(
      (path) => stampOf(path) === STAMP * 1_000 || (lstatSync(path).mode & 0o777) === 0o622,
    );
    return changed.length === 0 ? null : `changed ${changed.join(', ')}`;
  };
  return { reached };
}
