/** The system call filter of commands: what namespaces leave open of the kernel, as a classic BPF program. Pure. */

import { type FilteredArch, numberOf, type SystemCall } from './system-calls.ts';

/**
 * The program in the form in which bubblewrap takes it (an array of `struct sock_filter`), or null for a processor that
 * it cannot be made for. What it does not refuse is allowed.
 */
export function seccompProgram(arch: string): Uint8Array | null {
  return arch === 'x64' || arch === 'arm64' ? encode(instructionsFor(arch)) : null;
}

/**
 * They reach keys of the user's session, memory of other processes, files past the mounts, or parts of the kernel that
 * have let unprivileged programs out of containers time and again. `ptrace` stays: leak sanitizers need it.
 */
const REFUSED: readonly SystemCall[] = [
  'add_key',
  'request_key',
  'keyctl',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'userfaultfd',
  'bpf',
  'perf_event_open',
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

/** AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. Above all not AF_VSOCK: no network namespace holds it. */
const SOCKET_FAMILIES = [1, 2, 10, 16];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET; NEWTIME is only for calls by `unshare`. */
const NEW_NAMESPACES = 0x7e020000;
const NEW_TIME_NAMESPACE = 0x80;

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h. */
const AUDIT_ARCH: Readonly<Record<FilteredArch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Numbers from here on are the x32 calls of x86_64, which would pass by every comparison. */
const X32_BIT = 0x40000000;

const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** Offsets in `struct seccomp_data`; of an argument, the lower half on a little-endian machine. */
const DATA = { number: 0, arch: 4, firstArgument: 16 } as const;

/** One `struct sock_filter`. */
interface Instruction {
  readonly code: number;
  /** How many instructions are left out when a comparison holds, and when it does not. */
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
    // Its flags are in memory that a filter cannot read. The C library then takes clone, whose flags are an argument.
    ...whenEqual(numberOf('clone3', arch), [refuse(ERRNO.ENOSYS)]),
    ...REFUSED.flatMap((call) => whenEqual(numberOf(call, arch), [refuse(ERRNO.EPERM)])),
    ...whenEqual(numberOf('clone', arch), refuseFlags(NEW_NAMESPACES)),
    ...whenEqual(numberOf('unshare', arch), refuseFlags(NEW_NAMESPACES | NEW_TIME_NAMESPACE)),
    ...whenEqual(numberOf('socket', arch), onlyKnownFamilies()),
    ...whenEqual(numberOf('socketpair', arch), onlyKnownFamilies()),
    allow,
  ];
}

function refuseFlags(flags: number): Instruction[] {
  return [load(DATA.firstArgument), ifAnyBit(flags), refuse(ERRNO.EPERM), allow];
}

function onlyKnownFamilies(): Instruction[] {
  return [
    load(DATA.firstArgument),
    ...SOCKET_FAMILIES.flatMap((family) => whenEqual(family, [allow])),
    refuse(ERRNO.EAFNOSUPPORT),
  ];
}

// linux/bpf_common.h and linux/seccomp.h
const load = (offset: number) => instruction(0x20, offset);
const allow = instruction(0x06, 0x7fff0000);
const killProcess = instruction(0x06, 0x80000000);
const refuse = (errno: number) => instruction(0x06, 0x00050000 | errno);
/** Each of these two leaves out the next instruction when it does not hold. */
const ifAtLeast = (value: number) => instruction(0x35, value, 0, 1);
const ifAnyBit = (bits: number) => instruction(0x45, bits, 0, 1);
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
