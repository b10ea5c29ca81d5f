/** `patchsmith doctor`, as it is typed. */

import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { WITHOUT_FILTERS } from '../../support/machine/without-filters.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

/** A machine whose PATH begins with tools of its own, and a checkout on it. */
async function machine() {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const folder = temporaryFolder();
  const tools = {
    bun: "printf '\\033[1mbun 1.0\\033[m \\n'; echo more",
    deno: `cat ${folder}/beside`,
    uv: 'echo broken; exit 3',
  };
  writeFileSync(join(folder, 'beside'), 'deno 2.0\n');
  for (const [name, script] of Object.entries(tools)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { root, folder };
}

function doctor(args: readonly string[], env: Record<string, string>) {
  return new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve) => {
    const all = { HOME: '/nonexistent', ...env };
    execFile(process.execPath, ['dist/cli.js', 'doctor', ...args], { env: all }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

test('shows level, places and limits, and tries every tool inside', async () => {
  const { root, folder } = await machine();
  const cache = temporaryFolder();
  const head = readFileSync(join(root, '.git/HEAD'), 'utf8');
  const args = ['--repo', root, '--mount', `${cache}:rw`, '--max-processes', '99', '--output', 'json'];
  const { exitCode, stdout, stderr } = await doctor(args, { PATH: `${folder}:/usr/bin:/bin` });
  const said = JSON.parse(stdout);
  expect([said.status, said.level, said.limits.processes.limit]).toEqual(['ok', 'namespaces+seccomp', 99]);
  expect(said.shown).toContainEqual({ path: cache, writable: true });
  expect(said.shown).toContainEqual({ path: root, writable: true });
  expect(said.shown).toContainEqual({ path: '/usr', writable: false });
  const ours = said.tools.filter(({ path }: { path: string }) => path.startsWith(folder));
  expect(ours).toEqual([
    { name: 'bun', path: `${folder}/bun`, status: 'works', said: 'bun 1.0' },
    { name: 'deno', path: `${folder}/deno`, status: 'works', said: 'deno 2.0' },
    { name: 'uv', path: `${folder}/uv`, status: 'broken', said: 'exit code 3: broken' },
  ]);
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringMatching(
      /^patchsmith: done \(exit 0\): Commands run with level namespaces\+seccomp; \d+ tools tried in it\. Broken on this machine itself: uv\.\n$/,
    ),
  ]);
  // Nothing has been left or changed.
  expect([readdirSync(root).sort(), readdirSync(cache)]).toEqual([['.git', 'a.txt'], []]);
  expect(readFileSync(join(root, '.git/HEAD'), 'utf8')).toBe(head);
});

test('runs nothing from the repository, neither inside nor outside', async () => {
  const { root, folder } = await machine();
  const other = temporaryFolder();
  const trap = (name: string) => `#!/bin/sh\n: > ${other}/outside-${name}; : > ${root}/inside-${name}\n`;
  const programs = ['readlink', 'sh', 'bun', 'deno', 'uv', 'java', 'npm'];
  mkdirSync(join(root, 'bin'));
  for (const name of programs) writeFileSync(join(root, 'bin', name), trap(name), { mode: 0o755 });
  mkdirSync(join(root, '.mvn'));
  writeFileSync(join(root, '.mvn/jvm.config'), trap('maven'));
  // As Maven does it, and as a shim that looks for a program again does.
  const script = '#!/bin/sh\n[ ! -f .mvn/jvm.config ] || . ./.mvn/jvm.config\nreadlink / ; java; exit 3\n';
  writeFileSync(join(folder, 'mvn'), script, { mode: 0o755 });
  symlinkSync(join(root, 'bin'), join(other, 'bin'));
  symlinkSync(join(root, 'bin/npm'), join(folder, 'npm'));
  const PATH = `${join(root, 'bin')}:${join(other, 'bin')}:${folder}:/usr/bin:/bin`;
  for (const mode of ['required', 'off']) {
    const args = ['--repo', root, '--sandbox', mode, '--output', 'json'];
    const { stdout, stderr } = await doctor(args, { PATH, JAVA_HOME: root });
    expect(stdout, stderr).not.toBe('');
    const { tools } = JSON.parse(stdout) as { tools: { name: string; path: string; status: string }[] };
    expect(tools).toContainEqual(expect.objectContaining({ name: 'bun', path: join(folder, 'bun') }));
    expect(tools).toContainEqual(expect.objectContaining({ name: 'mvn', status: 'broken' }));
    expect([readdirSync(root).sort(), readdirSync(other)]).toEqual([
      ['.git', '.mvn', 'a.txt', 'bin'],
      ['bin'],
    ]);
  }
});

testAtNight('a tool that only works outside is exit 9, and named', async () => {
  const { root, folder } = await machine();
  const other = temporaryFolder();
  writeFileSync(join(other, 'version'), 'deno 2.0\n');
  writeFileSync(join(folder, 'deno'), `#!/bin/sh\nexec cat ${other}/version\n`);
  const { exitCode, stdout, stderr } = await doctor(['--repo', root], { PATH: `${folder}:/usr/bin:/bin` });
  expect(stdout).toContain(`  fails   deno  exit code 1: cat: ${other}/version: No such file or directory`);
  expect(stderr).toMatch(
    /^patchsmith: verify_failed \(exit 9\) \[ERR_TOOL_FAILS_INSIDE\]: These work on this machine but not in the sandbox: .*deno/,
  );
  expect(exitCode).toBe(9);
});

testAtNight('where the kernel takes no system call filter, it contains without one and says so', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const [program = '', ...line] = [...WITHOUT_FILTERS, process.execPath, 'dist/cli.js'];
  const { exitCode, stdout } = await execa(
    program,
    [...line, 'doctor', '--repo', root, '--sandbox', 'required', '--output', 'json'],
    { env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' }, extendEnv: false, reject: false },
  );
  const { level, warnings } = JSON.parse(stdout);
  expect([exitCode, level, warnings]).toEqual([
    0,
    'namespaces',
    [
      expect.stringMatching(
        /^\[WARN_SANDBOX_UNFILTERED\] The sandbox has no system call filter \(.+\); its level is namespaces\.$/,
      ),
    ],
  ]);
});

// A container that may make no namespaces, as the kernel sees it.
test('without namespaces it ends with exit 10 and says why, as does a run in CI before anything else', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const fence = ['--unshare-user', '--disable-userns', '--dev-bind', '/', '/', '--proc', '/proc'];
  const inside = (args: readonly string[]) =>
    execa('bwrap', [...fence, process.execPath, 'dist/cli.js', ...args], {
      env: {
        PATH: process.env.PATH,
        HOME: temporaryFolder(),
        CI: 'true',
        ANTHROPIC_API_KEY: 'sk-ant-none-0123456789',
      },
      extendEnv: false,
      reject: false,
    });
  const doctor = await inside(['doctor', '--repo', root]);
  expect(doctor.stdout).toMatch(
    /sandbox: unavailable\n {2}no namespaces, namespaces-lite: bubblewrap cannot start a sandbox here \((?:bwrap|launcher): .*\n {2}no landlock: .* --separate-git-dir /,
  );
  expect([doctor.exitCode, doctor.stderr]).toEqual([
    10,
    expect.stringMatching(/^patchsmith: sandbox_unavailable \(exit 10\) \[ERR_SANDBOX_UNAVAILABLE\]: /),
  ]);
  const run = await inside([
    'run',
    '--repo',
    root,
    '--message',
    'x',
    '--run-dir',
    join(temporaryFolder(), 'run'),
  ]);
  expect([run.exitCode, run.stderr]).toEqual([
    10,
    expect.stringContaining('sandbox_unavailable (exit 10) [ERR_SANDBOX_UNAVAILABLE]'),
  ]);
});
