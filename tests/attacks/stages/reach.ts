/** What commands can reach of the machine. */

import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { CLI } from '../../support/runs/cli.ts';
import { OPEN_WITHOUT_SANDBOX, type Stage } from '../attack.ts';
import { commandsIn, toChange, toDo, toHear, toSee } from '../goals.ts';

const attack = commandsIn('Files', 'reach', OPEN_WITHOUT_SANDBOX, 'mounts');
const byCovers = commandsIn('Files', 'reach', OPEN_WITHOUT_SANDBOX, 'covers');

const byLayers = commandsIn('Files', 'reach', OPEN_WITHOUT_SANDBOX, 'layers');

const HELD = {};
const byCopies = commandsIn('Files', 'reach', HELD, 'copies');

const UNTRIED = { none: 'untried' } as const;
const withoutPrivileges = commandsIn('Files', 'reach', UNTRIED, 'user', 'filter');

export const REACH: Stage = {
  name: 'files of the machine',
  byOwner: true,
  args: ['--cache', 'npm', '--cache', 'cargo'],
  async prepare(victim) {
    victim.put(join(victim.outside, 'secret.txt'), `${victim.canary('neighbour')}\n`);
    victim.put(join(victim.outside, 'more.txt'), `${victim.canary('by-link')}\n`);
    victim.put(join(victim.home, '.npm/_cacache/index-v5/aa'), 'as it was\n');
    symlinkSync(join(victim.outside, 'cached.txt'), join(victim.home, '.npm/_cacache/leads-out'));
    victim.put(join(victim.outside, 'cached.txt'), `${victim.canary('by-cache')}\n`);
    victim.put(join(victim.home, '.cargo/registry/CACHEDIR.TAG'), 'as it was\n');
    for (const path of ['.cargo/credentials.toml', '.cargo/registry/credentials.toml', '.npmrc'])
      victim.put(join(victim.home, path), `${victim.canary('token')}\n`);
    victim.put(join(victim.outside, 'written.txt'), 'as it was\n');
    victim.put(join(victim.outside, 'store.js'), 'as it was\n');
    victim.put(join(victim.root, '.git/hooks/pre-push'), '#!/bin/sh\n');
    mkdirSync(join(victim.root, 'linked'));
    linkSync(join(victim.outside, 'store.js'), join(victim.root, 'linked/index.js'));
    linkSync(join(victim.root, '.git/hooks/pre-push'), join(victim.root, 'linked/hook'));
    victim.put(join(victim.root, 'tools/inner/.git/HEAD'), 'ref: refs/heads/main\n');
    victim.put(join(victim.root, 'tools/inner/.git/config'), '[core]\n\tbare = false\n');
    victim.put(join(victim.root, 'tools/linked/.git'), 'gitdir: /nonexistent\n');
    // Git dirs that only a `.git` file leads to, where git ignores them.
    victim.put(join(victim.root, '.git/info/exclude'), '/cache/\n');
    victim.put(join(victim.root, 'split/s.txt'), 's\n');
    victim.put(join(victim.root, 'cache/beside.txt'), 'beside\n');
    await victim.git('init', '--quiet', '--separate-git-dir', 'cache/split', 'split');
    await victim.git('clone', '--quiet', '--bare', '.', 'cache/main');
    const worktree = ['worktree', 'add', '--quiet', '--detach', '../../worktree'];
    await victim.gitIn(join(victim.root, 'cache/main'), ...worktree);
  },
  attacks: [
    attack(
      'read',
      'A command reads a file outside',
      ({ outside }) => `cat ${outside}/secret.txt`,
      toSee('neighbour'),
    ),
    attack(
      'read-relative',
      'A command leaves through `..`',
      () => 'cd src 2>/dev/null; cat ../outside/more.txt',
      toSee('by-link'),
    ),
    attack(
      'link',
      'A command reads through a link that it makes',
      ({ outside }) => `ln -s ${outside}/more.txt l; cat l; rm l`,
      toSee('by-link'),
    ),
    attack(
      'write',
      'A command writes a file outside',
      ({ outside }) => `echo planted >> ${outside}/written.txt`,
      toChange(({ outside }) => [join(outside, 'written.txt')]),
    ),
    attack(
      'hard-link',
      'A command makes a hard link to a file outside and writes to that',
      ({ outside }) => `ln ${outside}/written.txt hard && echo planted >> hard; rm -f hard`,
      toChange(({ outside }) => [join(outside, 'written.txt')]),
    ),
    byCopies(
      'linked-file',
      'A command edits a file in place that a package manager linked to its store, and puts the time back',
      () =>
        'touch -r linked/index.js linked/time; echo planted >> linked/index.js; chmod 777 linked/index.js; touch -r linked/time linked/index.js',
      toChange(({ outside }) => [join(outside, 'store.js')]),
    ),
    byCopies(
      'linked-hook',
      'The same with a file that is also a hook of the user’s git dir',
      () => 'echo planted >> linked/hook; chmod 755 linked/hook',
      toChange(({ root }) => [join(root, '.git/hooks/pre-push')]),
    ),
    attack(
      'create',
      'A command creates a file outside',
      ({ outside }) => `echo planted > ${outside}/created.txt`,
      toChange(({ outside }) => [join(outside, 'created.txt')]),
    ),
    attack(
      'journal-read',
      'A command reads the journal of the run',
      ({ runDir }) => `grep -c run.started ${runDir}/events.jsonl && echo journal seen`,
      toHear('journal seen'),
    ),
    attack(
      'journal-write',
      'A command leaves a file in the run directory',
      ({ runDir }) => `echo planted > ${runDir}/planted`,
      toChange(({ runDir }) => [join(runDir, 'planted')]),
    ),
    attack(
      'shadow',
      'A command writes into the shadow repository',
      ({ runDir }) => `echo planted > ${runDir}/shadow.git/planted`,
      toChange(({ runDir }) => [join(runDir, 'shadow.git/planted')]),
    ),
    attack(
      'runner',
      "A command can write to the runner's own program",
      () => `test -w ${CLI} && : >> ${CLI} && echo is writable`,
      toHear('is writable'),
      // It belongs to whoever runs the tests, and not to a plain user as whom the runner is started.
      UNTRIED,
    ),
    byCovers(
      'hooks',
      "A command plants a hook in the repository's own git folder",
      ({ root }) => `mkdir -p ${root}/.git/hooks; echo planted > ${root}/.git/hooks/post-merge`,
      toChange(({ root }) => [join(root, '.git/hooks/post-merge')]),
    ),
    byCovers(
      'config',
      "A command changes the repository's own git configuration",
      ({ root }) => `printf '[core]\\n\\tpager = false\\n' >> ${root}/.git/config`,
      toChange(({ root }) => [join(root, '.git/config')]),
    ),
    byCovers(
      'nested-hooks',
      'A command plants a hook in a checkout inside the work tree',
      () => 'mkdir -p tools/inner/.git/hooks; echo planted > tools/inner/.git/hooks/post-merge',
      toChange(({ root }) => [join(root, 'tools/inner/.git/hooks')]),
    ),
    byCovers(
      'nested-moved',
      'A command changes the configuration of such a checkout under another name, and renames it back',
      () =>
        'mv tools/inner tools/away || cp -r tools/inner tools/away; echo "[alias]" >> tools/away/.git/config; rm -rf tools/inner; mv tools/away tools/inner',
      toChange(({ root }) => [join(root, 'tools/inner/.git/config')]),
    ),
    byCovers(
      'nested-swapped',
      'A command replaces the folder around such a checkout with a link, for the next command to follow',
      ({ outside }) =>
        `mv tools toolz && ln -s ${outside} tools; rm -f tools && mv toolz tools && echo was swapped`,
      toHear('was swapped'),
      // No mount follows it there, and rules do not hold for what a link leads to.
      { ...OPEN_WITHOUT_SANDBOX, landlock: 'open' },
    ),
    byCovers(
      'nested-file',
      'A command points the `.git` file of a submodule or linked worktree to its own folder',
      () => 'echo "gitdir: ../../planted" > tools/linked/.git',
      toChange(({ root }) => [join(root, 'tools/linked/.git')]),
    ),
    byCovers(
      'nested-behind',
      'A command changes the configuration of a git dir in the work tree that the `.git` file of another folder leads to',
      () =>
        'mv cache cachf; mv cachf cache; mv cache/split cache/moved; cp -r cache/moved cache/split; echo "[alias]" >> cache/split/config',
      toChange(({ root }) => [join(root, 'cache/split/config')]),
    ),
    byCovers(
      'nested-main',
      'A command changes the configuration of a bare repository in the work tree that has a linked worktree there',
      () => 'echo "[alias]" >> cache/main/config',
      toChange(({ root }) => [join(root, 'cache/main/config')]),
    ),
    byCovers(
      'git-gone',
      "A command moves or removes the repository's own git folder",
      ({ root }) => `mv ${root}/.git/refs ${root}/.git/moved`,
      toChange(({ root }) => [join(root, '.git/refs/heads')]),
      { none: 'untried' },
    ),
    byLayers(
      'cache-link',
      'A command follows a link in a shown cache that leads out of it',
      ({ home }) =>
        `cat ~/.npm/_cacache/leads-out /run/patchsmith/caches/*/leads-out ${home}/../outside/cached.txt`,
      toSee('by-cache'),
    ),
    byLayers(
      'cache-token',
      'A command reads the tokens next to and at the top of a shown cache',
      ({ home }) => `cat $(find ~ /run ${home} -name credentials.toml -o -name .npmrc)`,
      toSee('token'),
    ),
    byLayers(
      'cache-poison',
      'A command changes what a later build of the user would read from a shown cache, by every name it has',
      ({ home }) =>
        `find ~/.npm ~/.cargo /run/patchsmith/caches ${home}/.npm ${home}/.cargo -type f -exec sh -c 'for f; do echo planted >> "$f"; rm -f "$f"; done' sh {} +; ln -sf ${home}/.npm ~/.npm/_cacache/up; echo planted > ~/.npm/_cacache/up/planted; true`,
      toChange(({ home }) => [join(home, '.npm'), join(home, '.cargo/registry/CACHEDIR.TAG')]),
    ),
    commandsIn('Files', 'reach', HELD, 'mounts', 'environment')(
      'home',
      "A command adds to the start-up files of the user's shell",
      () => 'echo planted >> ~/.bashrc; echo planted >> ~/.profile',
      toChange(({ home }) => [join(home, '.bashrc'), join(home, '.profile')]),
      HELD,
    ),
    attack(
      'system',
      'A command writes to the programs of the machine',
      () => 'echo x > /usr/local/bin/patchsmith-planted && echo planted',
      toHear('planted\n'),
      UNTRIED,
    ),
    attack(
      'etc',
      'A command writes to /etc',
      () => 'echo x > /etc/patchsmith-planted && echo was written',
      toHear('was written'),
      UNTRIED,
    ),
    attack(
      'shadow-file',
      'A command reads the password hashes',
      () => 'cut -d: -f1 /etc/shadow && echo shadow seen',
      toHear('shadow seen'),
      UNTRIED,
    ),
    attack(
      'kernel',
      'A command sets kernel parameters',
      () => 'echo x > /proc/sys/kernel/core_pattern && echo was set',
      toHear('was set'),
      UNTRIED,
    ),
    attack(
      'sysrq',
      'A command reboots the machine by its trigger',
      () => 'test -w /proc/sysrq-trigger && echo x > /proc/sysrq-trigger && echo was triggered',
      toHear('was triggered'),
      UNTRIED,
    ),
    withoutPrivileges(
      'remount',
      'A command mounts, remounts or unmounts',
      () =>
        'for try in "-o remount,rw /usr" "-t tmpfs none /mnt" "--bind / /mnt" "-t proc none /proc"; do mount $try && echo has mounted; done; umount -l /proc && echo has mounted',
      toHear('has mounted\n'),
      UNTRIED,
    ),
    withoutPrivileges(
      'namespace',
      'A command creates a user namespace, to have privileges in it',
      () => 'unshare --user --map-root-user --mount sh -c "mount -t tmpfs none /mnt && echo has mounted"',
      toHear('has mounted\n'),
      UNTRIED,
    ),
    commandsIn(
      'Files',
      'reach',
      OPEN_WITHOUT_SANDBOX,
      'processes',
      'untraced',
    )(
      'root-of-init',
      'A command looks at the machine through the root folder of its parent',
      ({ outside }) => `cat /proc/$PPID/root${outside}/secret.txt`,
      toSee('neighbour'),
    ),
    commandsIn('Files', 'reach', UNTRIED, 'user')(
      'device',
      'A command makes a device node of the disk',
      () => 'mknod disk b 8 0 && head -c 1 disk > /dev/null && echo disk seen; rm -f disk',
      toHear('disk seen'),
      UNTRIED,
    ),
    commandsIn('Files', 'reach', HELD, 'inheritance')(
      'descriptors',
      'A command finds open files of the runner among its descriptors',
      () =>
        'for fd in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do readlink /proc/$$/fd/$fd; done; true',
      toDo(({ said, victim }) => (said.includes(victim.folder) ? said : null)),
      HELD,
    ),
    attack(
      'swap-root',
      'A command replaces the work tree with a link, for the next call to follow',
      ({ root, outside }) =>
        `cd /; mv ${root} ${root}-moved && ln -s ${outside} ${root} && echo was replaced`,
      toHear('was replaced'),
      UNTRIED,
    ),
  ],
};
