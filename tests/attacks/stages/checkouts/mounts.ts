/** What mounts show of the machine: device nodes, sockets, the folders that a repository names, and what is exchanged with links. */

import { chmodSync, lstatSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { attacksIn, type Goal, OPEN_WITHOUT_SANDBOX, type Stage } from '../../attack.ts';
import { formFound } from '../../canaries.ts';
import { call, commandsIn, shell, toHear, toSee } from '../../goals.ts';
import type { Victim } from '../../victim.ts';

const attack = commandsIn('Files', 'mounts', { none: 'untried' }, 'mounts');
const bySources = commandsIn('Files', 'mounts', { none: 'untried' }, 'pinned');
const byRefusal = commandsIn('Files', 'mounts', OPEN_WITHOUT_SANDBOX, 'mounts');
const byPins = attacksIn('Files', 'mounts', 'covers', 'pinned');

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

const daemonOf = (victim: Victim) => join(victim.folder, 'shared/a/b/daemon');

export const SHARED: Stage = {
  name: 'a mounted folder with the socket of a daemon far below',
  async prepare(victim) {
    const server = createServer((connection) => {
      connection.on('error', () => {});
      connection.end(`${victim.canary('daemon')}\n`);
    });
    mkdirSync(dirname(daemonOf(victim)), { recursive: true });
    await new Promise<void>((resolve) => server.listen(daemonOf(victim), resolve));
    return () => void server.close();
  },
  env: (victim) => ({ PATCHSMITH_MOUNT: join(victim.folder, 'shared') }),
  ends: { contained: 'usage_error', unfiltered: 'usage_error' },
  attacks: [
    byRefusal(
      'daemon',
      'A command connects to the socket of a daemon, deep in a folder that is mounted read-only (a run that mounts it is refused)',
      (victim) =>
        `perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => $ARGV[0])->getline' ${daemonOf(victim)}`,
      toSee('daemon'),
    ),
  ],
};

const within = (victim: Victim, path: string) => join(victim.folder, path);

/** Each sandbox of a run follows the paths of its mounts when it opens: that of a verification, after commands have run. */
export const THROUGH: Stage = {
  name: 'a mount through a link in a folder that is mounted writable',
  prepare(victim) {
    victim.put(within(victim, 'shared/plain.txt'), 'plain\n');
    victim.put(join(victim.outside, 'secret.txt'), `${victim.canary('through')}\n`);
    mkdirSync(within(victim, 'writable'));
    symlinkSync('../shared', within(victim, 'writable/link'));
    symlinkSync('writable/link', within(victim, 'side'));
  },
  env: (victim) => ({
    PATCHSMITH_MOUNT: `${within(victim, 'writable')}:rw\n${within(victim, 'side')}`,
  }),
  args: ['--verify', 'cat looked.txt; sh look.sh'],
  ends: { contained: 'usage_error', unfiltered: 'usage_error' },
  attacks: [
    attacksIn('Files', 'mounts', 'pinned')(
      'through',
      'A command replaces a link that the path of a mount leads through, and the sandbox of the verification shows what that leads to (a run with such a mount is refused)',
      {
        canary: 'through',
        reached({ run, victim }) {
          const form = formFound(JSON.stringify(run.result.verify), victim.canary('through'));
          return form === null ? null : `the verify command shows the canary, ${form}`;
        },
      },
      (victim) =>
        shell(
          `ln -sfn ../outside ${within(victim, 'writable/link')}; echo looked > looked.txt; echo 'cat ${within(victim, 'side/secret.txt')}' > look.sh`,
        ),
      OPEN_WITHOUT_SANDBOX,
    ),
  ],
};

/** The system call number of renameat2, and its flag that exchanges two names at once. */
const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316;
const EXCHANGE = 2;

/** A command that keeps exchanging what covers lead through with links, and ones that begin and look in the meantime. */
export const EXCHANGED: Stage = {
  name: 'covers during exchanges',
  byOwner: true,
  mayBeInDoubt: true,
  prepare(victim) {
    for (const folder of [join(victim.root, 'tools/inner'), join(victim.outside, 'inner')])
      victim.put(join(folder, '.git/config'), `[x]\n\ttoken = ${victim.canary('exchanged')}\n`);
    victim.put(join(victim.root, 'tools/inner/.git/HEAD'), 'ref: refs/heads/main\n');
    mkdirSync(join(victim.root, 'plain'));
    symlinkSync('../outside', join(victim.root, 'away'));
  },
  attacks: [
    byPins(
      'exchanged',
      'A command exchanges folders around a checkout and its `.git` with links and folders all the time, while others start beside it and read there',
      toSee('exchanged'),
      () => {
        const exchange = `my @places = qw(tools tools/inner tools/inner/.git .git);
          for (my $end = time + 2; time < $end;) { for my $place (@places) { for my $other (qw(away plain)) {
            my ($one, $two) = ($place, $other); syscall(${RENAMEAT2}, -100, $one, -100, $two, ${EXCHANGE}); } } }`;
        const looks = Array.from(
          { length: 9 },
          (_, at) => `sleep 0.${at}; cat {tools,plain,away}/{.,inner}/.git/config`,
        );
        return [1, 2].map(() =>
          [`perl -e '${exchange}'`, ...looks].map((command) => call('run_command', { command })),
        );
      },
      { none: 'untried' },
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
