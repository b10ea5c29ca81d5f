/** What commands can take of the machine, and what becomes of one that takes more. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { enforcedLimits, processNumbers } from '../../../../src/adapters/sandboxes/command/limits.ts';
import type { CommandEnd } from '../../../../src/domain/conversation/tool.ts';
import { RUNS_LEADERLESS, writeLeaderlessProgram } from '../../../support/machine/leaderless-program.ts';
import { makePlace, open } from '../fixture.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const LIMITS = {
  maxProcesses: 60,
  maxMemoryBytes: 300 * MIB,
  maxFileBytes: 8 * MIB,
  // Of the disk all tests write together: only the one that fills it has a small share.
  maxDiskBytes: 100 * GIB,
};
const killedFor = (exceeded: CommandEnd['exceeded']) => ({
  exitCode: null,
  signal: null,
  timedOut: false,
  interrupted: false,
  exceeded,
  durationMs: expect.any(Number),
});
const isRoot = process.getuid?.() === 0;

describe.each(['required', 'off'] as const)('with sandbox %s', (mode) => {
  const opened = () => open(makePlace(), mode, process.env, LIMITS);

  test('a command cannot raise its limits', async () => {
    const { run } = await opened();
    // Root of the machine can, where nothing contains it.
    if (mode === 'off' && isRoot) return;
    expect((await run('ulimit -f unlimited')).end.exitCode).not.toBe(0);
  });

  test.runIf(RUNS_LEADERLESS)(
    'memory counts also when the main thread of its program has ended',
    async () => {
      const { root, run } = await opened();
      writeLeaderlessProgram(join(root, 'leaderless'), 400 * MIB);
      expect((await run('./leaderless & sleep 300')).end).toEqual(killedFor('memory'));
    },
  );

  test('memory counts for all commands together, and the largest of them goes', async () => {
    const { run } = await opened();
    const hold = (megabytes: number, seconds: string) =>
      run(
        `node -e 'const held = Buffer.alloc(${megabytes}e6, 1); setTimeout(() => console.log(held.length), ${seconds}000)'`,
      );
    const [small, large] = await Promise.all([hold(50, '3'), hold(290, '30')]);
    expect([small.end.exitCode, large.end]).toEqual([0, killedFor('memory')]);
  });

  test('commands are the first to go when the machine runs out of memory', async () => {
    const { text } = await opened();
    expect(await text('cat /proc/self/oom_score_adj')).toBe('1000\n');
  });

  test('says what it enforces', async () => {
    const { sandbox } = await opened();
    const kernelCounts = mode === 'required' && (!isRoot || processNumbers(sandbox.limits) !== null);
    const keptBy = kernelCounts ? 'kernel' : 'watch';
    expect(sandbox.limits).toEqual({
      processes: { limit: 60, keptBy },
      memoryBytes: { limit: 300 * MIB, keptBy: 'watch' },
      fileBytes: { limit: 8 * MIB, keptBy: 'kernel' },
      openFiles: { limit: 4096, keptBy: 'kernel' },
      diskBytes: { limit: 100 * GIB, keptBy: 'watch' },
    });
  });
});

test('a sandbox has no place where files could fill the memory', async () => {
  const { run } = await open(makePlace(), 'required');
  for (const folder of ['/', '/dev', '/run', '/home', '/run/patchsmith', '/etc']) {
    expect([folder, (await run(`: > ${folder}/x`)).end.exitCode]).toEqual([folder, 1]);
  }
  const sizes = await run("df -k /tmp ~ /dev/shm | awk 'NR > 1 { print $2 }'");
  expect(sizes.output.head).toBe(`${1024 * 1024}\n${256 * 1024}\n${256 * 1024}\n`);
});

test.runIf(processNumbers(enforcedLimits(LIMITS, true)) !== null)(
  'the kernel gives out no more process numbers than the limit needs, to root neither',
  async () => {
    const { run } = await open(makePlace(), 'required', process.env, LIMITS);
    const { output } = await run('for i in $(seq 400); do : & wait; echo $!; done | sort -n | tail -n 1');
    expect(output.head).toBe('359\n');
    const outside = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'));
    expect(outside).toBeGreaterThan(360);
    expect((await run('echo 4000 > /proc/sys/kernel/pid_max')).end.exitCode).not.toBe(0);
  },
);

test('process numbers are limited only where a namespace has its own', () => {
  const limits = (maxProcesses: number) => enforcedLimits({ ...LIMITS, maxProcesses }, true);
  expect(processNumbers(limits(60), '6.13.9')).toBeNull();
  expect(processNumbers(limits(60), '5.15.0-1042-azure')).toBeNull();
  expect(processNumbers(limits(60), '6.14-rc1')).toBe(360);
  expect(processNumbers(limits(60), '7.0.0')).toBe(360);
  // More is an error of the kernel's.
  expect(processNumbers(limits(10_000_000), '6.18.1')).toBe(4_194_304);
});
