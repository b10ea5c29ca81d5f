/** The system call filter: what it answers to every call, and what it keeps real programs from. */

import { execFileSync } from 'node:child_process';
import { arch } from 'node:process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLauncher } from '../../../src/adapters/sandboxes/launched.ts';
import { type Call, verdictOf } from './bpf.ts';

const EPERM = { errno: 1 };
const ENOSYS = { errno: 38 };
const EAFNOSUPPORT = { errno: 97 };

/** Numbers as the kernel's own headers give them. */
const PROCESSORS = {
  x64: {
    audit: 0xc000003e,
    refused: [
      103, 155, 165, 166, 175, 176, 246, 248, 249, 250, 298, 304, 308, 310, 311, 312, 313, 320, 321, 323, 425,
      426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 447, 467,
    ],
    clone: 56,
    unshare: 272,
    socket: 41,
    socketpair: 53,
    // read, write, ptrace, io_setup, execve, landlock_create_ruleset, an unknown one
    allowed: [0, 1, 101, 206, 59, 444, 9999],
    // open, openat, creat, chmod, fchmod, fchmodat, fchmodat2, mknod, mknodat: the arguments for mode and flags
    modes: [
      [2, 2, 1],
      [257, 3, 2],
      [85, 1],
      [90, 1],
      [91, 1],
      [268, 2],
      [452, 2],
      [133, 1],
      [259, 2],
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    refused: [
      39, 40, 41, 104, 105, 106, 116, 217, 218, 219, 241, 265, 268, 270, 271, 272, 273, 280, 282, 294, 425,
      426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 447, 467,
    ],
    clone: 220,
    unshare: 97,
    socket: 198,
    socketpair: 199,
    allowed: [63, 64, 117, 0, 221, 444, 9999, 0x40000000],
    // openat, fchmod, fchmodat, fchmodat2, mknodat
    modes: [
      [56, 3, 2],
      [52, 1],
      [53, 2],
      [452, 2],
      [33, 2],
    ],
  },
} as const;
const here = PROCESSORS[arch === 'arm64' ? 'arm64' : 'x64'];
const { audit, clone, unshare, socket, socketpair } = here;
const MODES: readonly (readonly [number, number, number?])[] = here.modes;
const CLONE3 = 435;
const OPENAT2 = 437;
const O_CREAT = 0o100n;
const O_TMPFILE = 0o20200000n;

const program = new Uint8Array(execFileSync(findLauncher(arch) ?? '', ['filter']));
const verdict = (call: Omit<Call, 'arch'>) => verdictOf(program, { arch: audit, ...call });

test('refuses what reaches past the namespaces, and nothing around it', () => {
  expect(here.refused.map((number) => [number, verdict({ number })])).toEqual(
    here.refused.map((number) => [number, EPERM]),
  );
  expect(here.allowed.map((number) => [number, verdict({ number })])).toEqual(
    here.allowed.map((number) => [number, 'allow']),
  );
});

test('reports clone3 and openat2 as missing, so that programs use clone and openat', () => {
  expect([CLONE3, OPENAT2].map((number) => verdict({ number }))).toEqual([ENOSYS, ENOSYS]);
});

test('lets no file have a set-uid or set-gid bit, and every other mode', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...MODES),
      fc.nat(2 ** 32 - 1),
      fc.nat(),
      fc.constantFrom(O_CREAT, O_TMPFILE, O_CREAT | 0o2001n),
      ([number, modeAt, flagsAt], mode, upper, flags) => {
        const args = [0n, 0n, 0n, 0n];
        args[modeAt] = (BigInt(upper) << 32n) | BigInt(mode);
        if (flagsAt !== undefined) args[flagsAt] = flags;
        expect(verdict({ number, args })).toEqual((mode & 0o6000) === 0 ? 'allow' : EPERM);
        // What stands in the place of the mode means nothing when no file is made.
        if (flagsAt === undefined) return;
        args[flagsAt] = 0o2002n;
        expect(verdict({ number, args })).toBe('allow');
      },
    ),
  );
});

test('lets a fork and a thread be made, and no namespace', () => {
  const SIGCHLD = 17n;
  const THREAD = 0x3d0f00n;
  expect([SIGCHLD, THREAD].map((flags) => verdict({ number: clone, args: [flags] }))).toEqual([
    'allow',
    'allow',
  ]);
  for (const bit of [17, 25, 26, 27, 28, 29, 30]) {
    const flags = 1n << BigInt(bit);
    expect([bit, verdict({ number: clone, args: [flags | SIGCHLD] })]).toEqual([bit, EPERM]);
    expect([bit, verdict({ number: unshare, args: [flags] })]).toEqual([bit, EPERM]);
  }
  expect(verdict({ number: unshare, args: [0x80n] })).toEqual(EPERM);
  // CLONE_FILES and CLONE_FS are not namespaces.
  expect(verdict({ number: unshare, args: [0x600n] })).toBe('allow');
});

test('knows four socket families, whatever the upper half of the argument is', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(socket, socketpair),
      fc.nat(2 ** 32 - 1),
      fc.nat(),
      (number, family, upper) => {
        const args = [(BigInt(upper) << 32n) | BigInt(family)];
        const known = [1, 2, 10, 16].includes(family);
        expect(verdict({ number, args })).toEqual(known ? 'allow' : EAFNOSUPPORT);
      },
    ),
  );
  for (const family of [1, 2, 10, 16])
    expect(verdict({ number: socket, args: [BigInt(family)] })).toBe('allow');
  for (const family of [17, 31, 38, 40]) {
    expect(verdict({ number: socket, args: [BigInt(family)] })).toEqual(EAFNOSUPPORT);
  }
});

test('kills a process that calls as another processor would', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 1), (other, number) => {
      fc.pre(other !== audit);
      expect(verdictOf(program, { arch: other, number })).toBe('kill the process');
    }),
  );
  // AUDIT_ARCH_I386: the way around every number of x86_64.
  expect(verdictOf(program, { arch: 0x40000003, number: 1 })).toBe('kill the process');
});

test('answers every call with one of its four verdicts', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 32 - 1), fc.bigInt(0n, 2n ** 64n - 1n), (number, argument) => {
      expect(['allow', EPERM, ENOSYS, EAFNOSUPPORT]).toContainEqual(verdict({ number, args: [argument] }));
    }),
  );
});
test.runIf(arch === 'x64')('no call passes by its x32 number', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0x40000000, max: 2 ** 32 - 1 }), (number) => {
      expect(verdict({ number })).toEqual(ENOSYS);
    }),
  );
});
