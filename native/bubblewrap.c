/*
 * What bubblewrap does not do for the sandboxes that it makes. A part of launcher.c, which includes it.
 *
 *   launcher before FIRST PROGRAM [ARG...]     starts bubblewrap, without descriptors from FIRST on
 *   launcher init ...                          is process 1 of its sandbox (`init`)
 */
#include <asm/statfs.h>

/* ---- Before bubblewrap ---- */

/* Those that it shows, each a mount of its own in some containers. */
static const char *const devices[] = {"/dev", "/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"};
enum { DEVICES = sizeof devices / sizeof *devices };

static void write_text(const char *path, const char *text) {
  int file = must(sys(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0), path);
  must(sys(write, file, text, strlen(text)), path);
  sys(close, file);
}

static void map_to_itself(const char *path, long id) {
  char line[64];
  put_text(put_number(put_text(put_number(put_text(line, ""), id), " "), id), " 1\n");
  write_text(path, line);
}

static int is_read_only(const char *place) {
  struct statfs seen;
  long flags = sys(statfs, place, &seen) < 0 ? 1 : seen.f_flags;
  if (flags & 1) return 1;
  /* It keeps the flags that the machine's has: in another user namespace none of them may be taken away. */
  long kept = (flags & (2 | 4 | 8 | 1024 | 2048)) | (flags & 0x1000 ? 1 << 21 /* MS_RELATIME */ : 0);
  sys(mount, NULL, place, NULL, 32 | 4096 | 1 /* MS_REMOUNT, MS_BIND, MS_RDONLY */ | kept, NULL);
  return sys(statfs, place, &seen) == 0 && (seen.f_flags & 1);
}

/*
 * Stops an owner of the machine's device nodes, such as root, from changing their modes. bubblewrap mounts the nodes writable, and
 * cannot do otherwise: what it makes read-only is no longer a device. So it starts in a namespace in which `/dev` is
 * read-only, which its own mounts inherit. The null device that the command gets as its stdin is opened there, too.
 */
static void steady_devices(void) {
  struct statx seen;
  long uid = sys(getuid), gid = sys(getgid);
  int is_owner = 0;
  for (int i = 1; i < DEVICES; i++)
    if (sys(statx, AT_FDCWD, devices[i], 0, STATX_UID, &seen) == 0 && seen.stx_uid == uid) is_owner = 1;
  if (!is_owner) return;
  must(sys(unshare, 0x10000000 | 0x00020000 /* CLONE_NEWUSER, CLONE_NEWNS */), "unshare");
  write_text("/proc/self/setgroups", "deny");
  map_to_itself("/proc/self/uid_map", uid);
  map_to_itself("/proc/self/gid_map", gid);
  must(sys(mount, NULL, "/", NULL, 0x4000 | 1 << 18 /* MS_REC, MS_PRIVATE */, NULL), "mount namespace");
  must(sys(mount, "/dev", "/dev", NULL, 4096 | 0x4000 /* MS_BIND, MS_REC */, NULL), "mount namespace");
  for (int i = 0; i < DEVICES; i++)
    if (!is_read_only(devices[i])) fail("mount namespace: a device node stays writable", 0);
  if (sys(statx, 0, "", AT_EMPTY_PATH, STATX_TYPE, &seen) == 0 && seen.stx_rdev_major == 1 && seen.stx_rdev_minor == 3) {
    sys(close, 0);
    must(sys(openat, AT_FDCWD, "/dev/null", O_RDONLY, 0), "/dev/null");
  }
}

/* Where process 1 reports, and the runner answers. bubblewrap has 3 for what it reports itself. */
enum { GATE = 4 };

static void before(char **argv, char **envp) {
  const char *first = argv[0];
  close_from(number(&first, 10));
  /* bubblewrap refuses to start with capabilities that a container has given a plain user. */
  sys(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  steady_devices();
  fail(argv[1], sys(execve, argv[1], argv + 1, envp));
}

/* ---- Process 1 ---- */

/*
 *   launcher init CHANNEL ERRORS FILE_BYTES OPEN_FILES PROCESSES FILTERED NAMES_PORT "PORT..." FOLDER PROGRAM [ARG...]
 *
 * It listens in the network namespace and hands the listeners to the runner, which serves them: TCP at each PORT, then UDP at
 * NAMES_PORT unless that is 0. They go to CHANNEL, a channel of Node.js (`stdio: 'ipc'`). Then it writes `ready` to GATE and waits
 * for a byte in reply: without that nothing is run. The command starts in FOLDER below the working directory, within the limits (0 for
 * none), with ERRORS as its stderr and the system call filter unless FILTERED is 0, and has none of the descriptors. Process 1 exits with its code, or 128 + n for a signal n, and
 * with that the kernel ends everything else in the namespace.
 */

/* Stops connections from elsewhere: there is nothing but this address in the namespace. */
static int listen_on_loopback(int type, uint16_t port) {
  struct { uint16_t family, port; uint32_t ip; uint64_t zero; } address = {2, (uint16_t)(port << 8 | port >> 8), 0x0100007f, 0};
  char what[32];
  put_number(put_text(what, "port "), port);
  int listener = must(sys(socket, 2 /* AF_INET */, type | O_CLOEXEC, 0), what);
  must(sys(bind, listener, &address, sizeof address), what);
  if (type == 1) must(sys(listen, listener, 512), what);
  return listener;
}

/* As Node.js sends a handle to another process. */
static void hand_over(int channel, int listener, const char *text) {
  must(send_descriptor(channel, listener, text), "sendmsg");
  sys(close, listener);
}

static int take_number(char ***argv) {
  const char *at = *(*argv)++;
  return number(&at, 10);
}

static int init(char **argv, char **envp) {
  int channel = take_number(&argv), errors = take_number(&argv);
  const char *file_bytes = *argv++;
  uint64_t most_bytes = number(&file_bytes, 10);
  int open_files = take_number(&argv), processes = take_number(&argv),
      filtered = take_number(&argv), names = take_number(&argv);
  for (const char *at = *argv++; *at; at += *at == ' ')
    hand_over(channel, listen_on_loopback(1 /* SOCK_STREAM */, number(&at, 10)), "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":0}\n");
  if (names)
    hand_over(channel, listen_on_loopback(2 /* SOCK_DGRAM */, names),
              "{\"cmd\":\"NODE_HANDLE\",\"type\":\"dgram.Socket\",\"dgramType\":\"udp4\",\"msg\":0}\n");

  static const char ready[] = "ready\n";
  char byte;
  if (sys(write, GATE, ready, sizeof ready - 1) < 0 || sys(read, GATE, &byte, 1) != 1) return 1;
  sys(close, GATE);
  if (channel) sys(close, channel);

  const char *path = *argv++;
  long command = must(start_process(), "clone");
  if (command == 0) {
    must(sys(dup3, errors, 2, 0), "stderr");
    if (errors > 2) sys(close, errors);
    go_to_folder(AT_FDCWD, path);
    set_limits(most_bytes, open_files, processes);
    if (filtered) install_shared_filter();
    fail(argv[0], sys(execve, argv[0], argv, envp));
  }
  if (errors > 2) sys(close, errors);
  /* It holds no end of the output: who reads that sees when the last process of the command has closed it. */
  sys(close, 1);
  for (;;) {
    int status;
    long ended = sys(wait4, -1, &status, 0, 0);
    if (ended == command) return status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 0xff;
    if (ended < 0 && ended != -EINTR) return 125;
  }
}
