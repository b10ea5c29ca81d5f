/** The system call filter, as the kernel of either processor would run it. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seccompProgram } from '../../../../../src/adapters/sandboxes/bubblewrap/filter/seccomp.ts';
import {
  type FilteredArch,
  numberOf,
  SYSTEM_CALLS,
} from '../../../../../src/adapters/sandboxes/bubblewrap/filter/system-calls.ts';
import { type Call, disassembled, verdictOf } from '../../bpf.ts';

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
      312,
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
      438,
      442,
      467,
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
  {
    name: 'arm64',
    arch: 0xc00000b7,
    refused: [
      39, 40, 41, 104, 105, 106, 116, 217, 218, 219, 241, 265, 268, 270, 271, 272, 273, 280, 282, 294, 425,
      426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 467,
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
] as const;
const CLONE3 = 435;
const OPENAT2 = 437;
const O_CREAT = 0o100n;
const O_TMPFILE = 0o20200000n;

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

  test('reports clone3 and openat2 as missing, so that programs use clone and openat', () => {
    expect([CLONE3, OPENAT2].map((number) => verdict({ number }))).toEqual([ENOSYS, ENOSYS]);
  });

  test('lets no file have a set-uid or set-gid bit, and every other mode', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...processor.modes),
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

test('both architectures have the same filter, except for numbers and for calls that only one of them has', () => {
  const [x64, arm64] = (['x64', 'arm64'] as const).map((name) =>
    disassembled(seccompProgram(name) ?? new Uint8Array(), (number) => nameOf(number, name)),
  );
  const onlyX64 = ['open', 'creat', 'chmod', 'mknod'];
  expect(arm64).toEqual(
    x64?.filter(({ call }) => !onlyX64.includes(call) && call !== 'any by its x32 number'),
  );
  expect(arm64?.map(({ call, does }) => `${call}: ${does}`).join('\n')).toMatchInlineSnapshot(`
    "openat: argument 2; if any bit 020000100 skip 1, else 0; allow; argument 3; if any bit 06000 skip 0, else 1; error 1; allow
    fchmod: argument 1; if any bit 06000 skip 0, else 1; error 1; allow
    fchmodat: argument 2; if any bit 06000 skip 0, else 1; error 1; allow
    fchmodat2: argument 2; if any bit 06000 skip 0, else 1; error 1; allow
    mknodat: argument 2; if any bit 06000 skip 0, else 1; error 1; allow
    clone3: error 38
    openat2: error 38
    add_key: error 1
    request_key: error 1
    keyctl: error 1
    io_uring_setup: error 1
    io_uring_enter: error 1
    io_uring_register: error 1
    userfaultfd: error 1
    memfd_secret: error 1
    bpf: error 1
    perf_event_open: error 1
    pidfd_getfd: error 1
    kcmp: error 1
    process_vm_readv: error 1
    process_vm_writev: error 1
    open_by_handle_at: error 1
    mount: error 1
    umount2: error 1
    pivot_root: error 1
    mount_setattr: error 1
    move_mount: error 1
    open_tree: error 1
    open_tree_attr: error 1
    fsopen: error 1
    fsconfig: error 1
    fsmount: error 1
    fspick: error 1
    setns: error 1
    syslog: error 1
    init_module: error 1
    finit_module: error 1
    delete_module: error 1
    kexec_load: error 1
    kexec_file_load: error 1
    clone: argument 0; if any bit 017600400000 skip 0, else 1; error 1; allow
    unshare: argument 0; if any bit 017600400200 skip 0, else 1; error 1; allow
    socket: argument 0; if equal 01 skip 0, else 1; allow; if equal 02 skip 0, else 1; allow; if equal 012 skip 0, else 1; allow; if equal 020 skip 0, else 1; allow; error 97
    socketpair: argument 0; if equal 01 skip 0, else 1; allow; if equal 02 skip 0, else 1; allow; if equal 012 skip 0, else 1; allow; if equal 020 skip 0, else 1; allow; error 97"
  `);
});

test('a processor with unknown syscall numbers has no filter', () => {
  expect(['ia32', 'arm', 'riscv64', 'ppc64', ''].map(seccompProgram)).toEqual([null, null, null, null, null]);
});

/** The name of a number of `arch`, by the table of the product: the numbers themselves are checked above. */
function nameOf(number: number, arch: FilteredArch): string {
  return SYSTEM_CALLS.find((call) => numberOf(call, arch) === number) ?? `${number}`;
}
