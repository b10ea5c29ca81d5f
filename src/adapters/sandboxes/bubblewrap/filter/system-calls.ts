/** Numbers of the system calls known to the filter, for each supported processor. */

/** The name of a system call known to the filter. */
export type SystemCall = keyof typeof NUMBERS;

/** Node's name of a processor (`process.arch`). */
export type FilteredArch = 'x64' | 'arm64';

/** Number of a call on `arch`; null if that processor has no call of this name. */
export function numberOf(call: SystemCall, arch: FilteredArch): number | null {
  const [x64, arm64] = NUMBERS[call];
  return arch === 'x64' ? x64 : arm64;
}

/**
 * x86_64 from Linux' arch/x86/entry/syscalls/syscall_64.tbl, aarch64 from include/uapi/asm-generic/unistd.h. The kernel
 * never changes a number; arm64 lacks the calls that have been replaced by one with `at` in its name.
 */
const NUMBERS = {
  add_key: [248, 217],
  bpf: [321, 280],
  chmod: [90, null],
  clone: [56, 220],
  clone3: [435, 435],
  creat: [85, null],
  delete_module: [176, 106],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  memfd_secret: [447, 447],
  mknod: [133, null],
  mknodat: [259, 33],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open: [2, null],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  openat: [257, 56],
  openat2: [437, 437],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  request_key: [249, 218],
  setns: [308, 268],
  socket: [41, 198],
  socketpair: [53, 199],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
} as const satisfies Record<string, readonly [x64: number, arm64: number | null]>;

/** The calls known to the filter. */
export const SYSTEM_CALLS = Object.keys(NUMBERS) as readonly SystemCall[];
