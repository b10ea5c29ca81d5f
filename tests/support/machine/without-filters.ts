import { arch } from 'node:process';

const isArm = arch === 'arm64';
/** The numbers of prctl, seccomp, clone, clone3, unshare, mount and setns. */
const CALLS = isArm
  ? { prctl: 167, seccomp: 277, clone: 220, clone3: 435, unshare: 97, mount: 40, setns: 268 }
  : { prctl: 157, seccomp: 317, clone: 56, clone3: 435, unshare: 272, mount: 165, setns: 308 };

/** `struct sock_filter`. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const ALLOW: Instruction = [0x06, 0, 0, 0x7fff0000];
const refuse = (errno: number): Instruction => [0x06, 0, 0, 0x00050000 | errno];
const EPERM = 1;
const EINVAL = 22;
const ENOSYS = 38;
const on = (call: number, ...body: readonly Instruction[]): readonly Instruction[] => [
  [0x15, 0, body.length, call],
  ...body,
];
/** The number of the call, and its first argument. */
const NUMBER: Instruction = [0x20, 0, 0, 0];
const FIRST: Instruction = [0x20, 0, 0, 16];

/** Under it, a process answers as a kernel without system call filters does: PR_SET_SECCOMP is 22. */
const NO_FILTERS = [
  NUMBER,
  ...on(CALLS.seccomp, refuse(ENOSYS)),
  ...on(CALLS.prctl, FIRST, [0x15, 0, 1, 22], refuse(EINVAL), ALLOW),
  ALLOW,
];

/** As Docker's profile has it for containers without CAP_SYS_ADMIN: no namespaces (CLONE_NEW*) and no mounts. */
const NO_NAMESPACES = [
  NUMBER,
  ...on(CALLS.clone3, refuse(ENOSYS)),
  ...on(CALLS.unshare, refuse(EPERM)),
  ...on(CALLS.mount, refuse(EPERM)),
  ...on(CALLS.setns, refuse(EPERM)),
  ...on(CALLS.clone, FIRST, [0x45, 0, 1, 0x7e020000], refuse(EPERM), ALLOW),
  ALLOW,
];

function under(filter: readonly Instruction[]): readonly string[] {
  return [
    'perl',
    '-e',
    `my $filter = join '', map { pack 'SCCL', @$_ } ${filter.map((one) => `[${one.join(',')}]`).join(',')};
   my $program = pack 'S x![P] P', ${filter.length}, $filter;
   syscall(${CALLS.prctl}, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
   syscall(${CALLS.prctl}, 22, 2, $program, 0, 0) == 0 or die "filter: $!";
   exec { $ARGV[0] } @ARGV or die "exec: $!"`,
    '--',
  ];
}

/**
 * A command line to be put before another, which then runs as on a machine whose kernel takes no system call filter:
 * a filter of its own refuses every other. The process stays the same.
 */
export const WITHOUT_FILTERS = under(NO_FILTERS);

/** The same for a container that refuses namespaces. */
export const WITHOUT_NAMESPACES = under(NO_NAMESPACES);
