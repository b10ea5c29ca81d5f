import { arch } from 'node:process';

/** The numbers of prctl and seccomp. */
const CALLS = arch === 'arm64' ? { prctl: 167, seccomp: 277 } : { prctl: 157, seccomp: 317 };

/** `struct sock_filter`s that answer as a kernel without system call filters does. */
const FILTER: readonly (readonly [code: number, ifTrue: number, ifFalse: number, value: number])[] = [
  [0x20, 0, 0, 0], // the number of the call
  [0x15, 4, 0, CALLS.seccomp],
  [0x15, 0, 2, CALLS.prctl],
  [0x20, 0, 0, 16], // its first argument
  [0x15, 2, 0, 22], // PR_SET_SECCOMP
  [0x06, 0, 0, 0x7fff0000], // allowed
  [0x06, 0, 0, 0x00050000 | 38], // ENOSYS
  [0x06, 0, 0, 0x00050000 | 22], // EINVAL
];

/**
 * A command line to be put before another, which then runs as on a machine whose kernel takes no system call filter:
 * a filter of its own refuses every other. The process stays the same.
 */
export const WITHOUT_FILTERS: readonly string[] = [
  'perl',
  '-e',
  `my $filter = join '', map { pack 'SCCL', @$_ } ${FILTER.map((one) => `[${one.join(',')}]`).join(',')};
   my $program = pack 'S x![P] P', ${FILTER.length}, $filter;
   syscall(${CALLS.prctl}, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
   syscall(${CALLS.prctl}, 22, 2, $program, 0, 0) == 0 or die "filter: $!";
   exec { $ARGV[0] } @ARGV or die "exec: $!"`,
  '--',
];
