/** The system call filter for commands: blocks what namespaces leave open of the kernel, as a classic BPF program. Pure. */

import { type FilteredArch, numberOf, type SystemCall } from './system-calls.ts';

/**
 * The program in the form bubblewrap expects (an array of `struct sock_filter`), or null for an unsupported processor.
 * Whatever it does not refuse is allowed.
 */
export function seccompProgram(arch: string): Uint8Array | null {
  return arch === 'x64' || arch === 'arm64' ? encode(instructionsFor(arch)) : null;
}

/**
 * They give access to keys of the user's session, memory and descriptors of other processes, files past the mounts, or parts
 * of the kernel through which unprivileged programs have escaped containers time and again. `ptrace` stays allowed for
 * debuggers and leak sanitizers: what must not be traced is protected from it (`closedShells`).
 */
const REFUSED: readonly SystemCall[] = [
  'add_key',
  'request_key',
  'keyctl',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'userfaultfd',
  // Its contents show up neither as memory of a process nor as a file in memory.
  'memfd_secret',
  'bpf',
  'perf_event_open',
  'pidfd_getfd',
  'kcmp',
  'process_vm_readv',
  'process_vm_writev',
  'open_by_handle_at',
  'mount',
  'umount2',
  'pivot_root',
  'mount_setattr',
  'move_mount',
  'open_tree',
  'open_tree_attr',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'setns',
  'syslog',
  'init_module',
  'finit_module',
  'delete_module',
  'kexec_load',
  'kexec_file_load',
];

/** AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. In particular not AF_VSOCK, which network namespaces do not isolate. */
const SOCKET_FAMILIES = [1, 2, 10, 16];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET; NEWTIME can only be used with `unshare`. */
const NEW_NAMESPACES = 0x7e020000;
const NEW_TIME_NAMESPACE = 0x80;

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 from linux/audit.h. */
const AUDIT_ARCH: Readonly<Record<FilteredArch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Numbers from here on are the x32 calls of x86_64, which none of the comparisons would match. */
const X32_BIT = 0x40000000;

/**
 * S_ISUID and S_ISGID: a program owned by root with such a bit gives every user of the machine root access, long after the
 * run. Which argument of a call is the mode, and which are the flags without which it is ignored.
 */
const SET_ID = 0o6000;
const MODES: readonly { readonly call: SystemCall; readonly mode: number; readonly flags?: number }[] = [
  { call: 'openat', mode: 3, flags: 2 },
  { call: 'open', mode: 2, flags: 1 },
  { call: 'creat', mode: 1 },
  { call: 'chmod', mode: 1 },
  { call: 'fchmod', mode: 1 },
  { call: 'fchmodat', mode: 2 },
  { call: 'fchmodat2', mode: 2 },
  { call: 'mknod', mode: 1 },
  { call: 'mknodat', mode: 2 },
];
/** O_CREAT, and the bit specific to O_TMPFILE: the same on both processors. */
const CREATING = 0o100 | 0o20000000;

const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** Offsets in `struct seccomp_data`. */
const DATA = { number: 0, arch: 4 } as const;
/** The lower half of an argument on a little-endian machine; the first has index 0. */
const argument = (index: number) => 16 + index * 8;

/** One `struct sock_filter`. */
interface Instruction {
  readonly code: number;
  /** How many instructions to skip if a comparison holds, and if it does not. */
  readonly ifTrue: number;
  readonly ifFalse: number;
  readonly value: number;
}

function instructionsFor(arch: FilteredArch): Instruction[] {
  return [
    load(DATA.arch),
    ...unlessEqual(AUDIT_ARCH[arch], [killProcess]),
    load(DATA.number),
    ...(arch === 'x64' ? [ifAtLeast(X32_BIT), refuse(ERRNO.ENOSYS)] : []),
    // The most frequent of the checked calls come first.
    ...MODES.flatMap(({ call, mode, flags }) => on(call, refuseSetId(mode, flags))),
    // Their flags and modes are in memory that a filter cannot read. Programs then fall back to clone and openat.
    ...on('clone3', [refuse(ERRNO.ENOSYS)]),
    ...on('openat2', [refuse(ERRNO.ENOSYS)]),
    ...REFUSED.flatMap((call) => on(call, [refuse(ERRNO.EPERM)])),
    ...on('clone', refuseFlags(NEW_NAMESPACES)),
    ...on('unshare', refuseFlags(NEW_NAMESPACES | NEW_TIME_NAMESPACE)),
    ...on('socket', onlyKnownFamilies()),
    ...on('socketpair', onlyKnownFamilies()),
    allow,
  ];

  function on(call: SystemCall, body: readonly Instruction[]): Instruction[] {
    const number = numberOf(call, arch);
    return number === null ? [] : whenEqual(number, body);
  }
}

function refuseSetId(mode: number, flags?: number): Instruction[] {
  const onlyWhenCreating = flags === undefined ? [] : [load(argument(flags)), ifNoBit(CREATING), allow];
  return [...onlyWhenCreating, load(argument(mode)), ifAnyBit(SET_ID), refuse(ERRNO.EPERM), allow];
}

function refuseFlags(flags: number): Instruction[] {
  return [load(argument(0)), ifAnyBit(flags), refuse(ERRNO.EPERM), allow];
}

function onlyKnownFamilies(): Instruction[] {
  return [
    load(argument(0)),
    ...SOCKET_FAMILIES.flatMap((family) => whenEqual(family, [allow])),
    refuse(ERRNO.EAFNOSUPPORT),
  ];
}

// linux/bpf_common.h and linux/seccomp.h
const load = (offset: number) => instruction(0x20, offset);
const allow = instruction(0x06, 0x7fff0000);
const killProcess = instruction(0x06, 0x80000000);
const refuse = (errno: number) => instruction(0x06, 0x00050000 | errno);
/** Each of these skips the next instruction if it does not hold. */
const ifAtLeast = (value: number) => instruction(0x35, value, 0, 1);
const ifAnyBit = (bits: number) => instruction(0x45, bits, 0, 1);
const ifNoBit = (bits: number) => instruction(0x45, bits, 1, 0);
const whenEqual = (value: number, body: readonly Instruction[]) => [
  instruction(0x15, value, 0, body.length),
  ...body,
];
const unlessEqual = (value: number, body: readonly Instruction[]) => [
  instruction(0x15, value, body.length, 0),
  ...body,
];

function instruction(code: number, value: number, ifTrue = 0, ifFalse = 0): Instruction {
  return { code, ifTrue, ifFalse, value };
}

function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(instructions.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, ifTrue, ifFalse, value }] of instructions.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value, true);
  }
  return bytes;
}
