/*
 * The system call filter of every sandbox: it refuses what namespaces and Landlock leave open of the kernel. A part of launcher.c, which
 * includes it. Whatever it does not refuse is allowed.
 *
 *   launcher filter     writes it to stdout, for tests
 */

/* linux/unistd.h of an older kernel lacks them; the numbers are those of both processors. */
enum { FCHMODAT2 = 452, MEMFD_SECRET = 447, OPEN_TREE_ATTR = 467 };

/*
 * They give access to keys of the user's session, memory and descriptors of other processes, files past the mounts, or parts of the
 * kernel through which unprivileged programs have escaped containers time and again. The contents of `memfd_secret` show up neither as
 * memory of a process nor as a file in memory. `ptrace` stays allowed for debuggers and leak sanitizers: what must not be traced executes
 * an unreadable file.
 */
static const int refused_calls[] = {
    __NR_add_key,       __NR_request_key,       __NR_keyctl,         __NR_io_uring_setup,      __NR_io_uring_enter,
    __NR_io_uring_register, __NR_userfaultfd,   MEMFD_SECRET,        __NR_bpf,                 __NR_perf_event_open,
    __NR_pidfd_getfd,   __NR_kcmp,              __NR_process_vm_readv, __NR_process_vm_writev, __NR_open_by_handle_at,
    __NR_mount,         __NR_umount2,           __NR_pivot_root,     __NR_mount_setattr,       __NR_move_mount,
    __NR_open_tree,     OPEN_TREE_ATTR,         __NR_fsopen,         __NR_fsconfig,            __NR_fsmount,
    __NR_fspick,        __NR_setns,             __NR_syslog,         __NR_init_module,         __NR_finit_module,
    __NR_delete_module, __NR_kexec_load,        __NR_kexec_file_load,
};

/* Calls that make a file or change its mode: the argument with the mode, and the one with the flags without which it is ignored. */
static const struct { int call, mode, flags; } modes[] = {
    {__NR_openat, 3, 2}, {__NR_fchmod, 1, -1}, {__NR_fchmodat, 2, -1}, {FCHMODAT2, 2, -1}, {__NR_mknodat, 2, -1},
#ifdef __x86_64__
    {__NR_open, 2, 1}, {__NR_creat, 1, -1}, {__NR_chmod, 1, -1}, {__NR_mknod, 1, -1},
#endif
};

/*
 * Stops set-uid and set-gid bits: a program of root with such a bit gives every user of the machine root access, long after the run.
 */
static void filter_modes(void) {
  enum { CREATING = 0100 | 020000000 /* O_CREAT, and the bit specific to O_TMPFILE */, SET_ID = 06000 };
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
    int at = on(modes[i].call);
    if (modes[i].flags >= 0) {
      load_arg(modes[i].flags);
      emit(BPF_JMP | BPF_JSET | BPF_K, 1, 0, CREATING);
      answer(SECCOMP_RET_ALLOW);
    }
    load_arg(modes[i].mode);
    refuse_if_bit(SET_ID, EPERM);
    end(at);
  }
}

/* Stops AF_VSOCK, which network namespaces do not isolate, and all families but UNIX, INET, INET6 and NETLINK. */
static void filter_families(int call) {
  static const uint8_t known[] = {1, 2, 10, 16};
  int at = on(call);
  load_arg(0);
  for (int i = 0; i < 4; i++) emit(BPF_JMP | BPF_JEQ | BPF_K, 4 - i, 0, known[i]);
  refuse(EAFNOSUPPORT);
  end(at);
}

static void filter_flags(int call, uint32_t flags) {
  int at = on(call);
  load_arg(0);
  refuse_if_bit(flags, EPERM);
  end(at);
}

static void make_shared_filter(void) {
  /* CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET; NEWTIME can only be used with `unshare`. */
  enum { NEW_NAMESPACES = 0x7e020000, NEW_TIME = 0x80 };
  begin_filter();
  /* The most frequent of the checked calls come first. */
  filter_modes();
  load(offsetof(struct seccomp_data, nr));
  /* Their flags and modes are in memory that a filter cannot read. Programs then fall back to clone and openat. */
  refuse_if(__NR_clone3, ENOSYS);
  refuse_if(__NR_openat2, ENOSYS);
  for (unsigned i = 0; i < sizeof refused_calls / sizeof *refused_calls; i++) refuse_if(refused_calls[i], EPERM);
  filter_flags(__NR_clone, NEW_NAMESPACES);
  filter_flags(__NR_unshare, NEW_NAMESPACES | NEW_TIME);
  filter_families(__NR_socket);
  filter_families(__NR_socketpair);
  answer(SECCOMP_RET_ALLOW);
}
