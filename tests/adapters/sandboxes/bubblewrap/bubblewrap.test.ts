/** What bubblewrap keeps commands from, and what it lets them have. */

import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { passwdFor } from '../../../../src/adapters/sandboxes/visible/etc-folder.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { makePlace, open, tryToOpen, versionOutside } from '../fixture.ts';

test('dotfiles of the home folder are absent, also where a toolchain of the home folder is there', async () => {
  const home = tempFolder({
    '.npmrc': 'canary',
    '.ssh/id': 'canary',
    '.config/gh/hosts.yml': 'canary',
    '.cargo/credentials.toml': 'canary',
    '.cargo/bin/tool': '#!/bin/sh\necho tool\n',
    '.local/share/keyrings/login': 'canary',
    '.local/bin/other': '#!/bin/sh\necho other\n',
    'conda/conda-meta/history': '',
    'conda/.npmrc': 'canary',
    'conda/bin/third': '#!/bin/sh\necho third\n',
  });
  for (const tool of ['.cargo/bin/tool', '.local/bin/other', 'conda/bin/third'])
    chmodSync(join(home, tool), 0o755);
  const PATH = `${home}/.cargo/bin:${home}/.local/bin:${home}/.ssh:${home}:${home}/conda/bin:/usr/bin:/bin`;
  const { text } = await open(makePlace(), 'required', { HOME: home, PATH });

  expect(await text('tool; other; third; echo "$PATH"')).toBe(
    `tool\nother\nthird\n${home}/.cargo/bin:${home}/.local/bin:${home}/conda/bin:/usr/bin:/bin\n`,
  );
  expect(await text(`cd '${home}' && find . -type f | sort`)).toBe(
    './.cargo/bin/tool\n./.local/bin/other\n./conda/.npmrc\n./conda/bin/third\n./conda/conda-meta/history\n',
  );
  expect(await text(`cat '${home}/conda/.npmrc'`)).toBe('');
});

test('a link planted in the throwaway git dir leads no later command out of the tree', async () => {
  const place = makePlace();
  const { run, text } = await open(place, 'required');
  await run('rm -rf .git/objects; ln -s ../../../../../../../oldroot/etc .git/objects');
  expect(await text('ls /etc/shadow 2> /dev/null || echo absent')).toBe('absent\n');
});

test('a folder of programs that leads into the work tree is left out', async () => {
  const place = makePlace();
  mkdirSync(join(place.root, 'bin'));
  const outside = tempFolder();
  symlinkSync(join(place.root, 'bin'), join(outside, 'bin'));
  const { text } = await open(place, 'required', { PATH: `${outside}/bin:${place.root}/bin:/usr/bin` });
  expect(await text('echo "$PATH"')).toBe(`${place.root}/bin:/usr/bin:/bin\n`);
});

test('a .git that is a symbolic link is refused when a sandbox is required, and loudly done without in auto', async () => {
  const place = makePlace();
  const { root } = place;
  const linked = { ...place, root: tempFolder() };
  symlinkSync(join(root, '.git'), join(linked.root, '.git'));
  expect(await tryToOpen(linked, 'required', process.env)).toMatchObject({
    status: 'unavailable',
    reason: expect.stringContaining(`${linked.root}/.git is a symbolic link: the sandbox cannot cover it.`),
  });
  const { sandbox, warnings } = await open(linked, 'auto');
  expect([sandbox.level, warnings]).toEqual([
    'none',
    [expect.stringMatching(/^\[WARN_NO_SANDBOX\] COMMANDS RUN WITHOUT A SANDBOX: .* is a symbolic link/)],
  ]);
});

test('a language that is not installed keeps no sandbox from starting', async () => {
  const { sandbox, text } = await open(makePlace(), 'required', {
    ...process.env,
    LC_ALL: 'xx_XX.UTF-8',
  });
  expect([sandbox.level, await text('echo "$LC_ALL"')]).toEqual([
    'namespaces+seccomp',
    expect.stringMatching(/(?:^|\n)xx_XX\.UTF-8\n$/),
  ]);
});

test('the home folder as work tree is warned of', async () => {
  const place = makePlace();
  const { warnings } = await open(place, 'required', { ...process.env, HOME: place.root });
  expect(warnings).toEqual([
    '[WARN_TREE_IS_HOME] The work tree is the home folder: commands can read everything in it.',
  ]);
});

test('the home folder is the same for programs that ask the list of users for it', async () => {
  const { text } = await open(makePlace(), 'required');
  const asked = `node -e 'const { homedir, uid } = os.userInfo(); console.log(homedir, uid)'`;
  expect(await text(`echo "$HOME $(id -u)"; ${asked}`)).toBe(`/home/agent ${process.getuid?.()}\n`.repeat(2));
});

test('the list of users is the machine’s, except the home folder, and includes the user who runs patchsmith', () => {
  const agent = { uid: 1001, gid: 127, home: '/home/agent' };
  const root = 'root:x:0:0:root:/root:/bin/bash\n';
  expect(passwdFor(agent, `${root}runner:x:1001:127:Runner,,,:/home/runner:/bin/zsh\n+::::::\n`)).toBe(
    `${root}runner:x:1001:127:Runner,,,:/home/agent:/bin/zsh\n+::::::\n`,
  );
  for (const without of [root, root.trim()])
    expect(passwdFor(agent, without)).toBe(`${root}agent:x:1001:127::/home/agent:/bin/sh\n`);
});

test('the visible part of /etc matches the machine, copied or mounted', async () => {
  const { text } = await open(makePlace(), 'required');
  const list = `cd /etc; for f in alternatives fonts ld.so.conf.d maven/logging perl ssl/certs; do
    test -d $f && (cd -P $f && find . -type f -readable -exec cksum {} + && find . -type l -exec readlink {} + && find . -type d) | sort; done`;
  const outside = versionOutside(list);
  expect(outside).not.toBe(null);
  expect(await text(list)).toBe(outside);
});
