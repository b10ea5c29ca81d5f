/** Toolchains are found in real folders, and the machine's own work inside. */

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findToolchains } from '../../../../src/adapters/sandboxes/visible/toolchains.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { makePlace, open, placeOf, versionOutside } from '../fixture.ts';

/** What is found for this PATH, without the toolchain of the program that runs the test. */
async function find(folder: string, env: Record<string, string>) {
  const found = findToolchains({
    env: { HOME: join(folder, 'home'), ...env },
    execPath: '/usr/bin/node',
    boundaries: {
      homes: [join(folder, 'home')],
      roots: [join(folder, 'repo')],
      offLimits: [join(folder, 'opt/tool/run')],
    },
  });
  const mounts = found.mounts.filter((mount) => mount.at.startsWith(folder));
  return { ...found, mounts: mounts.map(({ at, source }) => (at === source ? at : `${source} at ${at}`)) };
}

test('an installed toolchain is shown whole, a folder of programs alone', async () => {
  const folder = tempFolder({
    'opt/jdk/bin/java': '',
    'opt/jdk/lib/x': '',
    'opt/scripts/bin/do': '',
    'opt/scripts/.env': '',
  });
  const found = await find(folder, {
    PATH: `${folder}/opt/jdk/bin:${folder}/opt/scripts/bin/:${folder}/none:rel:`,
  });
  expect(found).toEqual({
    mounts: [`${folder}/opt/jdk`, `${folder}/opt/scripts/bin`],
    path: [`${folder}/opt/jdk/bin`, `${folder}/opt/scripts/bin`, '/usr/bin', '/bin'],
    variables: {},
  });
});

test('a project on PATH exposes its programs and nothing else', async () => {
  const folder = tempFolder({
    'code/app/bin/run': '',
    'code/app/lib/x': '',
    'code/app/.git/HEAD': '',
    'code/app/.env': '',
  });
  expect((await find(folder, { PATH: `${folder}/code/app/bin` })).mounts).toEqual([`${folder}/code/app/bin`]);
});

test('of a home folder, versions and version managers are shown, and folders that many programs share are not', async () => {
  const folder = tempFolder({
    'home/.nvm/versions/node/v20/bin/node': '',
    'home/.nvm/versions/node/v20/lib/x': '',
    'home/.pyenv/shims/python': '',
    'home/.pyenv/versions/3.12/bin/python': '',
    'home/.local/bin/uv': '',
    'home/.local/lib/x': '',
    'home/.cargo/bin/cargo': '',
    'home/.cargo/lib/x': '',
    'home/.rustup/settings.toml': '',
    'home/.ssh/bin/x': '',
    'home/.config/tool/bin/x': '',
  });
  const home = join(folder, 'home');
  const names = [
    '.nvm/versions/node/v20/bin',
    '.pyenv/shims',
    '.local/bin',
    '.cargo/bin',
    '.ssh/bin',
    '.config/tool/bin',
    '.',
    '..',
  ];
  const found = await find(folder, { PATH: names.map((name) => `${home}/${name}`).join(':') });
  expect(found).toEqual({
    mounts: [
      `${home}/.cargo/bin`,
      `${home}/.local/bin`,
      `${home}/.nvm/versions/node/v20`,
      `${home}/.pyenv`,
      `${home}/.rustup`,
    ],
    path: [...names.slice(0, 4).map((name) => `${home}/${name}`), '/usr/bin', '/bin'],
    variables: { RUSTUP_HOME: `${home}/.rustup` },
  });
});

test('links out of a folder of programs are followed hop by hop', async () => {
  const folder = tempFolder({
    'home/.local/share/tools/ruff/v2/bin/ruff': '',
    'home/.local/share/tools/ruff/v2/lib/x': '',
    'home/.local/lib/node_modules/tsx/dist/cli.mjs': '',
    'home/single': '',
  });
  const local = join(folder, 'home/.local');
  mkdirSync(join(local, 'bin'));
  symlinkSync('v2', join(local, 'share/tools/ruff/current'));
  symlinkSync('../share/tools/ruff/current/bin/ruff', join(local, 'bin/ruff'));
  symlinkSync('../lib/node_modules/tsx/dist/cli.mjs', join(local, 'bin/tsx'));
  symlinkSync('../../single', join(local, 'bin/single'));
  symlinkSync('nowhere', join(local, 'bin/broken'));
  symlinkSync('loop', join(local, 'bin/loop'));
  expect((await find(folder, { PATH: `${local}/bin` })).mounts).toEqual([
    `${local}/bin`,
    `${local}/lib/node_modules`,
    `${local}/share/tools/ruff/v2 at ${local}/share/tools/ruff/current`,
    `${local}/share/tools/ruff/v2`,
    `${folder}/home/single`,
  ]);
});

test('a toolchain named through a link is there under both names', async () => {
  const folder = tempFolder({ 'opt/go1.22/bin/go': '', 'opt/go1.22/lib/x': '' });
  symlinkSync('go1.22', join(folder, 'opt/go'));
  const found = await find(folder, {
    PATH: `${folder}/opt/go/bin`,
    GOROOT: `${folder}/opt/go`,
    JAVA_HOME: '/none',
  });
  expect(found).toEqual({
    mounts: [`${folder}/opt/go1.22 at ${folder}/opt/go`, `${folder}/opt/go1.22`],
    path: [`${folder}/opt/go/bin`, '/usr/bin', '/bin'],
    variables: { GOROOT: `${folder}/opt/go` },
  });
});

test('a folder that is shown with the one around it is not mounted twice', async () => {
  const folder = tempFolder({
    'home/.local/lib/node_modules/.bin/x': '',
    'home/.local/lib/node_modules/tool/cli.js': '',
    'home/.local/bin/other': '',
    'opt/go1.22/bin/go': '',
    'opt/go1.22/lib/x': '',
  });
  const local = join(folder, 'home/.local');
  symlinkSync('../lib/node_modules/tool/cli.js', join(local, 'bin/tool'));
  const found = await find(folder, { PATH: `${local}/lib/node_modules/.bin:${local}/bin` });
  expect(found.mounts).toEqual([`${local}/bin`, `${local}/lib/node_modules`]);
  expect(found.path).toEqual([`${local}/lib/node_modules/.bin`, `${local}/bin`, '/usr/bin', '/bin']);
});

test('links of the work tree itself open nothing', async () => {
  const folder = tempFolder({ 'home/private/bin/x': '', 'home/private/lib/x': '', 'repo/bin/own': '' });
  symlinkSync(join(folder, 'home/private/bin/x'), join(folder, 'repo/bin/x'));
  const found = await find(folder, { PATH: `${folder}/repo/bin` });
  expect([found.mounts, found.path]).toEqual([[], [`${folder}/repo/bin`, '/usr/bin', '/bin']]);
});

test('a toolchain around the run directory is not shown', async () => {
  const folder = tempFolder({ 'opt/tool/bin/x': '', 'opt/tool/lib/x': '', 'opt/tool/run/events.jsonl': '' });
  expect((await find(folder, { PATH: `${folder}/opt/tool/bin` })).mounts).toEqual([`${folder}/opt/tool/bin`]);
});

test("the toolchains of this machine's PATH work inside", async () => {
  const { text } = await open(makePlace(), 'required');
  const commands = [
    'node --version',
    'npm --version',
    'python3 --version',
    'git --version',
    'cargo --version',
  ];
  for (const command of commands) {
    const outside = versionOutside(command);
    if (outside !== null) expect([command, await text(command)]).toEqual([command, outside]);
  }
});

test('a toolchain program in a separate folder is found by name', async () => {
  const folder = tempFolder({
    'x/bin/greet': '#!/bin/sh\ncat "$(dirname "$0")/../lib/greeting"\n',
    'x/lib/greeting': 'hello',
  });
  chmodSync(join(folder, 'x/bin/greet'), 0o755);
  const { text } = await open(makePlace(), 'required', { PATH: `${folder}/x/bin:/usr/bin` });
  expect(await text('greet')).toBe('hello');
});

test('a virtual environment of the repository works if its python is in an interpreter store in the home folder', async () => {
  const home = tempFolder({
    '.local/share/uv/python/cpython-3.12/bin/python3': '#!/bin/sh\necho interpreter\n',
    '.local/share/uv/tools/secret': 'canary',
  });
  const store = join(home, '.local/share/uv/python');
  chmodSync(join(store, 'cpython-3.12/bin/python3'), 0o755);
  const place = makePlace();
  mkdirSync(join(place.root, '.venv/bin'), { recursive: true });
  symlinkSync(join(store, 'cpython-3.12/bin/python3'), join(place.root, '.venv/bin/python'));
  const { text } = await open(place, 'required', {
    HOME: home,
    PATH: `${place.root}/.venv/bin:/usr/bin:/bin`,
  });
  expect(await text('python')).toBe('interpreter\n');
  expect(await text(`ls '${home}/.local/share/uv'`)).toBe('python\n');
});

test('each kind of toolchain works where it is usually installed, and its credentials are not there', async () => {
  const echo = (text: string) => `#!/bin/sh\necho ${text}\n`;
  const beside = (variable: string, file: string) => `#!/bin/sh\ncat "$${variable}/${file}"\n`;
  const folder = tempFolder({
    'home/.pyenv/shims/python3': '#!/bin/sh\nexec "$PYENV_ROOT/versions/3.12/bin/python3"\n',
    'home/.pyenv/versions/3.12/bin/python3': '#!/bin/sh\ncat "$PYENV_ROOT/versions/3.12/lib/site.py"\n',
    'home/.pyenv/versions/3.12/lib/site.py': 'pyenv\n',
    'home/.pyenv/versions/3.12/pip.conf': 'canary',
    'home/.pyenv/.pypirc': 'canary',
    'home/.nvm/versions/node/v20/bin/node': beside('NVM_DIR', 'versions/node/v20/lib/npm'),
    'home/.nvm/versions/node/v20/lib/npm': 'nvm\n',
    'home/.nvm/versions/node/v20/etc/npmrc': 'canary',
    'home/.cargo/bin/cargo': '#!/bin/sh\nexec "$RUSTUP_HOME/toolchains/stable/bin/cargo"\n',
    'home/.cargo/credentials.toml': 'canary',
    'home/.cargo/registry/index': 'canary',
    'home/.rustup/toolchains/stable/bin/cargo': echo('rustup'),
    'home/.asdf/shims/elixir': '#!/bin/sh\nexec "$ASDF_DATA_DIR/installs/elixir/1/bin/elixir"\n',
    'home/.asdf/installs/elixir/1/bin/elixir': echo('asdf'),
    'home/.local/share/mise/shims/zig': '#!/bin/sh\nexec "$MISE_DATA_DIR/installs/zig/1/bin/zig"\n',
    'home/.local/share/mise/installs/zig/1/bin/zig': echo('mise'),
    'home/.volta/bin/yarn': '#!/bin/sh\nexec "$VOLTA_HOME/tools/image/yarn/1/bin/yarn"\n',
    'home/.volta/tools/image/yarn/1/bin/yarn': echo('volta'),
    'home/sdk/go1.22/bin/go': beside('GOROOT', 'VERSION'),
    'home/sdk/go1.22/VERSION': 'go\n',
    'home/go/bin/gopls': echo('gopls'),
    'home/.netrc': 'canary',
    // As a hosted runner has it: a version's folder and its bin are both in PATH.
    'toolcache/Ruby/3.3/x64/bin/ruby': '#!/bin/sh\ncat "$(dirname "$0")/../lib/rb"\n',
    'toolcache/Ruby/3.3/x64/lib/rb': 'toolcache\n',
    'toolcache/Ruby/3.3/x64/.npmrc': 'canary',
    'toolcache/Ruby/other': 'canary',
  });
  const home = join(folder, 'home');
  const programs = [
    '.pyenv/shims/python3',
    '.pyenv/versions/3.12/bin/python3',
    '.nvm/versions/node/v20/bin/node',
  ];
  programs.push(
    '.cargo/bin/cargo',
    '.rustup/toolchains/stable/bin/cargo',
    'sdk/go1.22/bin/go',
    'go/bin/gopls',
    '.asdf/shims/elixir',
    '.asdf/installs/elixir/1/bin/elixir',
    '.local/share/mise/shims/zig',
    '.local/share/mise/installs/zig/1/bin/zig',
    '.volta/bin/yarn',
    '.volta/tools/image/yarn/1/bin/yarn',
  );
  for (const program of programs) chmodSync(join(home, program), 0o755);
  const cache = join(folder, 'toolcache/Ruby/3.3/x64');
  chmodSync(join(cache, 'bin/ruby'), 0o755);
  const place = makePlace();
  mkdirSync(join(place.root, '.venv/bin'), { recursive: true });
  writeFileSync(join(place.root, '.venv/pyvenv.cfg'), `home = ${home}/.pyenv/versions/3.12/bin\n`);
  symlinkSync(join(home, '.pyenv/versions/3.12/bin/python3'), join(place.root, '.venv/bin/python'));
  const bins = ['.pyenv/shims', '.nvm/versions/node/v20/bin', '.cargo/bin', 'sdk/go1.22/bin', 'go/bin'];
  bins.push('.asdf/shims', '.local/share/mise/shims', '.volta/bin');
  const { text } = await open(place, 'required', {
    HOME: home,
    PYENV_ROOT: join(home, '.pyenv'),
    NVM_DIR: join(home, '.nvm'),
    GOROOT: join(home, 'sdk/go1.22'),
    PATH: [...bins.map((bin) => join(home, bin)), cache, `${cache}/bin`, '/usr/bin', '/bin'].join(':'),
  });
  expect(await text('python3; node; cargo; go; gopls; elixir; zig; yarn; ruby; .venv/bin/python')).toBe(
    'pyenv\nnvm\nrustup\ngo\ngopls\nasdf\nmise\nvolta\ntoolcache\npyenv\n',
  );
  expect(await text(`grep -r canary '${folder}' || echo none`)).toBe('none\n');
});

test('programs of node_modules in the repository work', async () => {
  const place = makePlace();
  mkdirSync(join(place.root, 'node_modules/.bin'), { recursive: true });
  mkdirSync(join(place.root, 'node_modules/tool'));
  writeFileSync(join(place.root, 'node_modules/tool/cli.js'), '#!/usr/bin/env node\nconsole.log("tool")\n');
  chmodSync(join(place.root, 'node_modules/tool/cli.js'), 0o755);
  symlinkSync('../tool/cli.js', join(place.root, 'node_modules/.bin/tool'));
  const { text } = await open(place, 'required');
  expect(await text('node_modules/.bin/tool && npx --no tool')).toBe('tool\ntool\n');
});

test('the work tree may stand in the home folder, and on another file system than the run directory', async () => {
  const home = tempFolder({ '.ssh/id': 'canary', 'code/x': '' });
  const inHome = makePlace();
  renameSync(inHome.root, join(home, 'code/repo'));
  const places = [placeOf(join(home, 'code/repo'), tempFolder())];
  if (existsSync('/dev/shm')) {
    const other = mkdtempSync('/dev/shm/patchsmith-test-');
    onTestFinished(() => rmSync(other, { recursive: true }));
    cpSync(join(home, 'code/repo'), join(other, 'repo'), { recursive: true });
    places.push(placeOf(join(other, 'repo'), tempFolder()));
  }
  for (const place of places) {
    const { text } = await open(place, 'required', { ...process.env, HOME: home });
    expect(await text('echo new > new && cat hello.txt && git log --format=%s')).toBe('hello\nStart\n');
    expect(readFileSync(join(place.root, 'new'), 'utf8')).toBe('new\n');
    expect(await text(`ls -A '${home}' 2> /dev/null || echo absent`)).toMatch(/^(code|absent)\n$/);
  }
});
