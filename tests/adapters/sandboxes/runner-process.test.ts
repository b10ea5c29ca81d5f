/** The runner as a process: its memory, and its death. */

import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandLimits } from '../../../src/domain/run/limits.ts';
import { oddSeconds, processesWith } from '../../support/machine/processes.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';
import { makePlace, type Place, PROJECT } from './fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchsmith-runner-'));
const PROGRAM = join(folder, 'runner.mjs');

// A process that compiles what it loads has more to do with that than with the test.
beforeAll(async () => {
  cpSync(join(PROJECT, 'dist/launcher'), join(folder, 'launcher'), { recursive: true });
  await build({
    entryPoints: [join(import.meta.dirname, 'runner-program.ts')],
    outfile: PROGRAM,
    bundle: true,
    platform: 'node',
    format: 'esm',
    loader: { '.md': 'text' },
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

function command(
  { root, sandboxGitDir, runDir }: Place,
  mode: string,
  script: string,
  limits?: CommandLimits,
): string[] {
  const options = JSON.stringify({ mode, limits, root, sandboxGitDir, scratchDir: join(runDir, 'scratch') });
  return [PROGRAM, options, script];
}

test.each(sampled(['required', 'off'], () => 'sandbox'))(
  'a flood of 1 GiB costs less than 64 MiB with sandbox %s',
  async (mode) => {
    const args = command(makePlace(), mode, 'yes 0123456789abcde | head -c 1073741824');
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT });
    const { growthMiB, peakMiB: _, ...rest } = JSON.parse(stdout);
    expect(rest).toEqual({ exitCode: 0, characters: 2 ** 30 });
    expect(growthMiB).toBeLessThan(64);
  },
);

const MIB = 1024 ** 2;

test.each([
  ['hoards memory', "node -e 'const all = []; setInterval(() => all.push(Buffer.alloc(20e6, 1)), 10)'"],
  ['starts too many processes', 'for i in $(seq 300); do sleep 100 & done; sleep 100'],
  ['fills the disk', 'i=0; while :; do i=$((i + 1)); head -c 4000000 /dev/zero > fill-$i; done'],
])('a command that %s costs the runner less than 64 MiB', async (_, script) => {
  const limits = {
    maxProcesses: 60,
    maxMemoryBytes: 300 * MIB,
    maxFileBytes: 8 * MIB,
    maxDiskBytes: 100 * MIB,
  };
  const args = command(makePlace(), 'required', script, limits);
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT });
  const { growthMiB, peakMiB } = JSON.parse(stdout);
  expect(growthMiB).toBeLessThan(64);
  expect(peakMiB).toBeLessThan(250);
});

test.each(['required', 'off'])(
  'when the runner is killed, commands die with it, with sandbox %s',
  async (mode) => {
    const place = makePlace();
    const seconds = oddSeconds();
    const script = `(setsid sleep ${seconds} &); trap '' TERM; touch begun; sleep ${seconds}`;
    const runner = spawn(process.execPath, command(place, mode, script), {
      cwd: PROJECT,
      stdio: 'ignore',
    });
    const died = new Promise((resolve) => runner.once('exit', resolve));
    await until('the command has begun', () => existsSync(join(place.root, 'begun')));
    runner.kill('SIGKILL');
    await died;
    await until('nothing of it is left', () => processesWith(seconds).length === 0);
    expect(readdirSync(place.root)).toEqual(['.git', 'begun', 'hello.txt']);
  },
);

test.each(['required', 'off'])(
  'a runner that is killed takes the program that it talks to with it, with sandbox %s',
  async (mode) => {
    const place = makePlace();
    const seconds = oddSeconds();
    const runner = spawn(
      process.execPath,
      [...command(place, mode, `sleep ${seconds} & touch begun; sleep ${seconds}`), 'talk'],
      { cwd: PROJECT, stdio: 'ignore' },
    );
    await until('it runs', () => existsSync(join(place.root, 'begun')));
    runner.kill('SIGKILL');
    await until('nothing of it is left', () => processesWith(seconds).length === 0);
  },
);

test.each(['required', 'off'])(
  'a runner that is killed while it starts a command leaves nothing that waits for it, with sandbox %s',
  async (mode) => {
    const place = makePlace();
    const seconds = oddSeconds();
    const line = [...command(place, mode, `sleep ${seconds}`), 'die'];
    const runner = await execa(process.execPath, line, { cwd: PROJECT, reject: false, stderr: 'ignore' });
    expect(runner.signal).toBe('SIGKILL');
    // It finds the runner dead when it reports.
    process.kill(Number(runner.stdout), 'SIGCONT');
    await until('nothing of it is left', () => processesWith(seconds).length === 0);
  },
);

test.each(['required', 'off'])(
  'a runner that has no descriptors left says so, with sandbox %s',
  async (mode) => {
    const line = [process.execPath, ...command(makePlace(), mode, 'true'), 'full'];
    const { stderr } = await execa('bash', ['-c', 'ulimit -n 400; exec "$@"', 'bash', ...line], {
      ...{ cwd: PROJECT, reject: false },
    });
    expect(stderr).toMatch(/^Error: spawn \S+launcher\S+ EMFILE/m);
  },
);

test.each(sampled(['required', 'off'], () => 'sandbox'))(
  'no descriptor of the runner or its parent is left with sandbox %s',
  async (mode) => {
    const place = makePlace();
    const script =
      'for fd in 3 4 5 6 7 8 9 200; do [ ! -e /proc/self/fd/$fd ] || readlink /proc/self/fd/$fd; done > open';
    const runner = [process.execPath, ...command(place, mode, script)];
    // As a CI agent's log, left open for every child.
    const parent = 'exec 200<> "$0"; exec "$@"';
    await promisify(execFile)('bash', ['-c', parent, join(place.root, 'hello.txt'), ...runner], {
      cwd: PROJECT,
    });
    expect(readFileSync(join(place.root, 'open'), 'utf8')).toBe('');
  },
);
