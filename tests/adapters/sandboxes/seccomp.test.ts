/** The system call filter, as the kernel of either processor would run it. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seccompProgram } from '../../../src/adapters/sandboxes/seccomp.ts';
import { type Call, verdictOf } from './bpf.ts';

const EPERM = { errno: 1 };
const ENOSYS = { errno: 38 };
const EAFNOSUPPORT = { errno: 97 };

/** Numbers as the kernel's own headers give them. */
const PROCESSORS = [
  {
    name: 'x64',
    arch: 0xc000003e,
    refused: [
      101 + 2,
      155,
      165,
      166,
      175,
      176,
      246,
      248,
      249,
      250,
      298,
      304,
      308,
      310,
      311,
      313,
      320,
      321,
      323,
      425,
      426,
      427,
      428,
      429,
      430,
      431,
      432,
      433,
      442,
      467,
    ],
    clone: 56,
    unshare: 272,
    socket: 41,
    socketpair: 53,
    // read, write, open, ptrace, io_setup, execve, landlock_create_ruleset, an unknown one
    allowed: [0, 1, 2, 101, 206, 59, 444, 9999],
  },
  {
    name: 'arm64',
    arch: 0xc00000b7,
    refused: [
      39, 40, 41, 104, 105, 106, 116, 217, 218, 219, 241, 265, 268, 270, 271, 273, 280, 282, 294, 425, 426,
      427, 428, 429, 430, 431, 432, 433, 442, 467,
    ],
    clone: 220,
    unshare: 97,
    socket: 198,
    socketpair: 199,
    allowed: [63, 64, 56, 117, 0, 221, 444, 9999, 0x40000000],
  },
] as const;
const CLONE3 = 435;

describe.each(PROCESSORS)('the filter for $name', (processor) => {
  const { name, arch, clone, unshare, socket, socketpair } = processor;
  const program = seccompProgram(name) ?? new Uint8Array();
  const verdict = (call: Omit<Call, 'arch'>) => verdictOf(program, { arch, ...call });

  test('refuses what reaches past the namespaces, and nothing around it', () => {
    expect(processor.refused.map((number) => [number, verdict({ number })])).toEqual(
      processor.refused.map((number) => [number, EPERM]),
    );
    expect(processor.allowed.map((number) => [number, verdict({ number })])).toEqual(
      processor.allowed.map((number) => [number, 'allow']),
    );
  });

  test('says that there is no clone3, so that the C library takes clone', () => {
    expect(verdict({ number: CLONE3 })).toEqual(ENOSYS);
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

  test('knows four socket families, whatever stands in the upper half of the argument', () => {
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
        fc.pre(other !== arch);
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
});

test('on x86_64 no call passes by its x32 number', () => {
  const program = seccompProgram('x64') ?? new Uint8Array();
  fc.assert(
    fc.property(fc.integer({ min: 0x40000000, max: 2 ** 32 - 1 }), (number) => {
      expect(verdictOf(program, { arch: 0xc000003e, number })).toEqual(ENOSYS);
    }),
  );
});

test('there is no filter for a processor whose numbers are not known', () => {
  expect(['ia32', 'arm', 'riscv64', 'ppc64', ''].map(seccompProgram)).toEqual([null, null, null, null, null]);
});
