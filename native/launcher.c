/*
 * Runs one command in a Landlock sandbox, for containers that refuse namespaces. It needs no privileges, no libc and no namespace:
 * Linux 6.12 or later (Landlock ABI 6), and system call filters with user notification. With the order `u` it runs a command without a
 * sandbox, on any kernel: it limits and ends it, and contains nothing.
 *
 *   launcher PROGRAM [ARG...]      its environment is the command's
 *
 * Descriptor 3 has its orders (`read_orders`), and ends the command when it is closed, or when who holds the other end dies.
 * Descriptor 4, if the orders say so, is the command's stderr; otherwise stdout is. Descriptor 5, if the orders name ports, is a
 * channel of Node.js (`stdio: 'ipc'`), which gets connections to these ports. What goes wrong before the command begins is written
 * to stderr as one line; else that has `started`. It exits with the command's code, 128 + n for a signal, when no process of the
 * command is left.
 *
 * Four processes, in two Landlock domains, one in the other:
 *   launcher   outer domain   starts the others, and kills everything in its domain
 *   guard      outer domain   waits for nothing but the launcher's end, and then does the same in its place
 *   broker     outer domain   makes sockets on behalf of the command, and starts a helper for each that is connected
 *   command    inner domain   with a system call filter
 * The command is a child of the broker, and whatever becomes an orphan, too: where Yama is in force (`ptrace_scope` 1, as on Ubuntu),
 * only an ancestor may read the memory of a process.
 *
 * Each wall is one function; its comment says what it stops. Without a sandbox there are only launcher and command.
 */
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet_diag.h>
#include <linux/ioctl.h>
#include <linux/memfd.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/signal.h>
#include <linux/sock_diag.h>
#include <linux/stat.h>
#include <linux/un.h>
#include <stddef.h>
#include <stdint.h>

/* ---- What a C library would give ---- */

#if defined(__x86_64__)
#define THIS_PROCESSOR AUDIT_ARCH_X86_64
static long call6(long n, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  long r;
  __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return r;
}
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
#elif defined(__aarch64__)
#define THIS_PROCESSOR AUDIT_ARCH_AARCH64
static long call6(long n, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d,
                x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
__asm__(".globl _start\n_start: mov x29, #0\n mov x0, sp\n bl begin\n");
#else
#error "x86-64 and arm64 only"
#endif
#define CALL(n, a, b, c, d, e, f, ...) call6(__NR_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define sys(...) CALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

void *memcpy(void *to, const void *from, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memset(void *at, int byte, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)at)[i] = (char)byte;
  return at;
}
int memcmp(const void *a, const void *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (((const char *)a)[i] != ((const char *)b)[i]) return 1;
  return 0;
}
size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n]) n++;
  return n;
}

static uint64_t number(const char **at, int base) {
  uint64_t value = 0;
  for (;; (*at)++) {
    char c = **at;
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
    if (digit >= base) return value;
    value = value * base + digit;
  }
}

static char *put_text(char *to, const char *text) {
  size_t n = strlen(text);
  memcpy(to, text, n + 1);
  return to + n;
}

static char *put_number(char *to, uint64_t value) {
  char digits[24];
  int n = 0;
  do digits[n++] = '0' + value % 10;
  while (value /= 10);
  while (n) *to++ = digits[--n];
  *to = 0;
  return to;
}

/* Where failures are written: stderr, and in the command a pipe to the launcher. */
static int report_to = 2;

static void fail(const char *what, long error) {
  char line[5000], *end = put_text(line, "launcher: ");
  if (strlen(what) > 4200) what = "(a long path)";
  end = put_text(end, what);
  if (error) end = put_number(put_text(end, ": error "), error < 0 ? -error : error);
  end = put_text(end, "\n");
  sys(write, report_to, line, end - line);
  sys(exit_group, 125);
  __builtin_unreachable();
}

static long must(long result, const char *what) {
  if (result < 0) fail(what, result);
  return result;
}

static long start_process(void) { return sys(clone, 17 /* SIGCHLD */); }

/* ---- Orders ---- */

enum { MOST_RULES = 1024, MOST_PORTS = 256, MOST_KEPT = 128, ORDERS = 3, ERRORS = 4, CHANNEL = 5 };

struct rule {
  char kind;
  const char *path;
  uint64_t dev, ino;
};

static struct {
  struct rule rules[MOST_RULES];
  int rule_count;
  uint16_t ports[MOST_PORTS];
  int port_count;
  struct { const char *path, *text; } kept[MOST_KEPT];
  int kept_count;
  const char *root, *folder;
  uint64_t file_bytes, open_files, processes;
  int has_errors, is_uncontained;
} orders;

static char order_text[512 * 1024];

/*
 * Entries that end with a NUL, the last of them empty:
 *   l, r, x, w, d DEV:INO:PATH   may be listed; read; executed, too; written, too; a device (`rights_of`). 0:0 is whatever is there
 *   c PATH, f PATH            the work tree, and the folder below it in which the command starts
 *   g PATH, k TEXT            a file of the work tree that is put back when the command has ended
 *   p PORT                    of 127.0.0.1, which the runner serves; it is told the number of the order, from 0
 *   b, o, n COUNT             bytes of a file, open files, processes; 0 for no limit
 *   e                         stderr is descriptor 4
 *   u                         no sandbox
 */
static void read_orders(void) {
  size_t size = 0, at = 0;
  for (;;) {
    size_t end = at;
    while (end < size && order_text[end]) end++;
    if (end == size) {
      if (size == sizeof order_text) fail("the orders are too long", 0);
      long got = sys(read, ORDERS, order_text + size, sizeof order_text - size);
      if (got <= 0) fail("the orders end early", got);
      size += got;
      continue;
    }
    if (end == at) return;
    char kind = order_text[at];
    const char *value = order_text + at + 1;
    /* Stops a text of the work tree from becoming an order. */
    if (orders.kept_count && kind != 'g' && kind != 'k') fail("malformed orders", 0);
    switch (kind) {
      case 'l': case 'r': case 'x': case 'w': case 'd': {
        if (orders.rule_count == MOST_RULES) fail("more than 1024 places", 0);
        struct rule *rule = &orders.rules[orders.rule_count++];
        rule->kind = kind;
        rule->dev = number(&value, 10);
        if (*value++ != ':') fail("malformed orders", 0);
        rule->ino = number(&value, 10);
        if (*value++ != ':' || *value != '/') fail("malformed orders", 0);
        rule->path = value;
        break;
      }
      case 'p':
        if (orders.port_count == MOST_PORTS) fail("more than 256 ports", 0);
        orders.ports[orders.port_count++] = number(&value, 10);
        break;
      case 'g':
        if (orders.kept_count == MOST_KEPT) fail("more than 128 files to keep", 0);
        orders.kept[orders.kept_count].path = value;
        orders.kept[orders.kept_count++].text = "";
        break;
      case 'k':
        if (orders.kept_count == 0) fail("malformed orders", 0);
        orders.kept[orders.kept_count - 1].text = value;
        break;
      case 'c': orders.root = value; break;
      case 'f': orders.folder = value; break;
      case 'b': orders.file_bytes = number(&value, 10); break;
      case 'o': orders.open_files = number(&value, 10); break;
      case 'n': orders.processes = number(&value, 10); break;
      case 'e': orders.has_errors = 1; break;
      case 'u': orders.is_uncontained = 1; break;
      default: fail("unknown orders", 0);
    }
    at = end + 1;
  }
}

/* ---- Walls ---- */

/* Stops the use of descriptors that whoever started us left open: a log, a socket of a CI agent. Before Linux 5.9, one by one. */
static void close_from(unsigned first) {
  if (sys(close_range, first, ~0U, 0) < 0)
    for (unsigned fd = first; fd < 65536; fd++) sys(close, fd);
}

/* Stops everything that root may do in a container: other users' files, raw sockets, devices, other processes. */
static void drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  /* The first three need a capability, and without it there is nothing to drop. */
  sys(prctl, PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED);
  for (int cap = 0; cap < 64; cap++) sys(prctl, PR_CAPBSET_DROP, cap);
  sys(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  must(sys(capset, &header, none), "capset");
}

/* Stops set-uid programs and file capabilities, such as sudo without a password. */
static void no_new_privileges(void) { must(sys(prctl, PR_SET_NO_NEW_PRIVS, 1), "no_new_privs"); }

/* linux/landlock.h of an older kernel lacks them. */
struct ruleset { uint64_t fs, net, scoped; };
struct path_rule { uint64_t access; int32_t parent; } __attribute__((packed));
enum {
  EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3, REMOVE_DIR = 1 << 4, REMOVE_FILE = 1 << 5,
  MAKE_CHAR = 1 << 6, MAKE_DIR = 1 << 7, MAKE_REG = 1 << 8, MAKE_SOCK = 1 << 9, MAKE_FIFO = 1 << 10, MAKE_BLOCK = 1 << 11,
  MAKE_SYM = 1 << 12, REFER = 1 << 13, TRUNCATE = 1 << 14, IOCTL_DEV = 1 << 15,
  ALL_FILES = (1 << 16) - 1,
  OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
  CONNECT_TCP = 1 << 1,
  SCOPE_ABSTRACT = 1 << 0, SCOPE_SIGNAL = 1 << 1,
  LEAST_ABI = 6,
};

static uint64_t rights_of(char kind) {
  uint64_t readable = READ_FILE | READ_DIR;
  switch (kind) {
    case 'w': return ALL_FILES & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV);
    case 'd': return READ_FILE | WRITE_FILE | IOCTL_DEV;
    case 'x': return readable | EXECUTE;
    case 'l': return READ_DIR;
    default: return readable;
  }
}

static int make_ruleset(struct ruleset attr) {
  return must(sys(landlock_create_ruleset, &attr, sizeof attr, 0), "landlock_create_ruleset");
}

static void allow_path(int ruleset, int place, uint64_t access) {
  struct path_rule rule = {access, place};
  must(sys(landlock_add_rule, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0), "landlock_add_rule");
}

static void enter(int ruleset) {
  must(sys(landlock_restrict_self, ruleset, 0), "landlock_restrict_self");
  sys(close, ruleset);
}

static void check_kernel(void) {
  long abi = sys(landlock_create_ruleset, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
  if (abi == -ENOSYS) fail("this kernel or container has no Landlock (landlock_create_ruleset)", abi);
  if (abi < 0) fail("Landlock is switched off or refused (landlock_create_ruleset)", abi);
  if (abi < LEAST_ABI) fail("Landlock of this kernel cannot scope signals: that takes Linux 6.12", 0);
}

/*
 * Lets the launcher kill everything that it has started, and nothing else: signals from a domain reach only what is in it or in
 * one below. Stops abstract UNIX sockets of the machine, which the broker would otherwise connect to on behalf of a command. All
 * files stay open to the launcher and the broker: a domain without a rule for it refuses to move files between folders.
 */
static void enter_outer_domain(void) {
  int ruleset = make_ruleset((struct ruleset){REFER, 0, SCOPE_ABSTRACT | SCOPE_SIGNAL});
  int root = must(sys(openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0), "/");
  allow_path(ruleset, root, REFER);
  sys(close, root);
  enter(ruleset);
}

/*
 * Stops: every file that no order names, for reading, writing and executing; devices; signals and ptrace to processes outside;
 * their memory and environment in /proc; TCP connections that the broker does not make. `places` are open descriptors.
 */
static void enter_inner_domain(const int *places) {
  int ruleset = make_ruleset((struct ruleset){ALL_FILES, CONNECT_TCP, SCOPE_ABSTRACT | SCOPE_SIGNAL});
  for (int i = 0; i < orders.rule_count; i++) {
    if (places[i] < 0) continue;
    struct statx seen;
    must(sys(statx, places[i], "", AT_EMPTY_PATH, STATX_TYPE, &seen), orders.rules[i].path);
    uint64_t rights = rights_of(orders.rules[i].kind);
    allow_path(ruleset, places[i], (seen.stx_mode & S_IFMT) == S_IFDIR ? rights : rights & OF_A_FILE);
  }
  /* Programs open their own output by name: /dev/stderr. That of a program that is talked to is a socket, which has none. */
  struct path_rule output = {READ_FILE | WRITE_FILE, 1};
  sys(landlock_add_rule, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &output, 0);
  enter(ruleset);
}

/*
 * Opens the places that the command may use. Stops a place that was replaced, for example by a link to a home folder, since it
 * was examined.
 */
static void open_places(int *places) {
  for (int i = 0; i < orders.rule_count; i++) {
    struct rule *rule = &orders.rules[i];
    places[i] = must(sys(openat, AT_FDCWD, rule->path, O_PATH | O_CLOEXEC, 0), rule->path);
    if (rule->ino == 0) continue;
    struct statx seen;
    must(sys(statx, places[i], "", AT_EMPTY_PATH, STATX_INO, &seen), rule->path);
    uint64_t major = seen.stx_dev_major, minor = seen.stx_dev_minor;
    /* As stat(2) has it. */
    uint64_t dev = (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffULL) << 12 | (major & ~0xfffULL) << 32;
    if (seen.stx_ino != rule->ino || dev != rule->dev) fail("replaced since the run began", 0);
  }
}

/* Stops a folder that was replaced by a link: no name on the way may be one. `size` bytes of `path` count. */
static long open_folder(int from, const char *path, size_t size) {
  long folder = sys(openat, from, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  for (size_t at = 0; at < size && folder >= 0;) {
    char name[256];
    size_t n = 0;
    while (at + n < size && path[at + n] != '/') n++;
    if (n >= sizeof name) return -ENAMETOOLONG;
    memcpy(name, path + at, n);
    name[n] = 0;
    long next = sys(openat, folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    sys(close, folder);
    folder = next;
    for (at += n; at < size && path[at] == '/';) at++;
  }
  return folder;
}

/* The command learns what is wrong: another one may have removed the folder. */
static void go_to_folder(int root, const char *path) {
  static const char gone[] = "The working directory is gone, or is behind a link: ";
  long folder = open_folder(root, path, strlen(path));
  if (folder >= 0 && sys(fchdir, folder) == 0) {
    sys(close, folder);
    return;
  }
  sys(write, 2, gone, sizeof gone - 1);
  sys(write, 2, path, strlen(path));
  sys(write, 2, "\n", 1);
  sys(exit_group, 1);
}

static void limit(int what, uint64_t most) {
  if (most == 0 && what != RLIMIT_CORE) return;
  struct rlimit64 now, wanted = {most, most};
  must(sys(prlimit64, 0, what, 0, &now), "prlimit64");
  if (now.rlim_max < most) wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
  must(sys(prlimit64, 0, what, &wanted, 0), "prlimit64");
}

/* Stops a command that fills a disk with one file, uses up descriptors or numbers of processes, or dumps what it has read. */
static void set_limits(uint64_t file_bytes, uint64_t open_files, uint64_t processes) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, file_bytes);
  limit(RLIMIT_NOFILE, open_files);
  limit(RLIMIT_NPROC, processes);
}

/*
 * A copy of a program in memory that may be executed but not read, so that the kernel lets nothing trace the process. Stops a
 * command that takes over the shell of the script that it is in. The copy has no name: nobody can change its mode.
 */
static int unreadable_copy(const char *program) {
  int from = must(sys(openat, AT_FDCWD, program, O_RDONLY | O_CLOEXEC, 0), program);
  int to = must(sys(memfd_create, "shell", MFD_CLOEXEC | 0x10 /* MFD_EXEC */), "memfd_create");
  long got;
  while ((got = sys(sendfile, to, from, 0, 1 << 20)) > 0) continue;
  must(got, program);
  char path[64];
  put_number(put_text(path, "/proc/self/fd/"), to);
  int copy = must(sys(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), path);
  must(sys(fchmod, copy, 0111), "fchmod");
  sys(close, from);
  sys(close, to);
  return copy;
}

/* ---- The system call filter ---- */

static struct sock_filter code[512];
static int code_size;

static void emit(uint16_t op, uint8_t yes, uint8_t no, uint32_t value) {
  if (code_size == 512) fail("the filter is too long", 0);
  code[code_size++] = (struct sock_filter){op, yes, no, value};
}
static void load(int offset) { emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset); }
/* The lower half of an argument; both processors are little-endian. */
static void load_arg(int index) { load(offsetof(struct seccomp_data, args) + index * 8); }
static void answer(uint32_t action) { emit(BPF_RET | BPF_K, 0, 0, action); }
static void refuse(int error) { answer(SECCOMP_RET_ERRNO | error); }
static void unless(uint32_t value, int error) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value);
  refuse(error);
}
static void refuse_if(uint32_t value, int error) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
  refuse(error);
}
static void refuse_if_bit(uint32_t bits, int error) {
  emit(BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
  refuse(error);
}
/* What follows is for one call, until `end`. */
static int on(uint32_t call) {
  load(offsetof(struct seccomp_data, nr));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, call);
  return code_size;
}
static void end(int from) {
  answer(SECCOMP_RET_ALLOW);
  code[from - 1].jf = code_size - from;
}

/*
 * Stops datagrams, each of which may carry an address that no filter can see, and all protocols but TCP. What a socket may reach is
 * the broker's decision. The list of network interfaces can be read: many programs ask for it.
 */
static void filter_socket(int is_pair) {
  int at = on(is_pair ? __NR_socketpair : __NR_socket);
  enum { UNIX = 1, INET = 2, INET6 = 10, NETLINK = 16, STREAM = 1, SEQPACKET = 5 };
  load_arg(0);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 6, UNIX);
  load_arg(1);
  emit(BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xf);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, STREAM);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SEQPACKET);
  refuse(EPROTONOSUPPORT);
  answer(is_pair ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF);
  if (!is_pair) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, NETLINK);
    load_arg(2);
    unless(NETLINK_ROUTE, EPROTONOSUPPORT);
    answer(SECCOMP_RET_ALLOW);
    emit(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, INET);
    emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, INET6);
    refuse(EAFNOSUPPORT);
    load_arg(1);
    emit(BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xf);
    unless(STREAM, EPROTONOSUPPORT);
    load_arg(2);
    emit(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 0);
    unless(IPPROTO_TCP, EPROTONOSUPPORT);
    answer(SECCOMP_RET_USER_NOTIF);
  } else {
    refuse(EAFNOSUPPORT);
  }
  end(at);
}

static void refuse_option(uint32_t level, uint32_t name, int error) {
  load_arg(1);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, level);
  load_arg(2);
  refuse_if(name, error);
}

/* Stops connections that are made by sending (TCP Fast Open), and options that change where a socket leads. */
static void filter_sending(void) {
  enum { FASTOPEN = 0x20000000, SOL_SOCK = 1, REUSEPORT = 15, BINDTODEVICE = 25, BINDTOIFINDEX = 62, TCP_REPAIR_ = 19, FASTOPEN_CONNECT = 30, ULP = 31 };
  int at = on(__NR_sendto);
  load_arg(3);
  refuse_if_bit(FASTOPEN, EOPNOTSUPP);
  end(at);
  at = on(__NR_sendmsg);
  load_arg(2);
  refuse_if_bit(FASTOPEN, EOPNOTSUPP);
  end(at);
  at = on(__NR_sendmmsg);
  load_arg(3);
  refuse_if_bit(FASTOPEN, EOPNOTSUPP);
  end(at);
  at = on(__NR_setsockopt);
  refuse_option(IPPROTO_TCP, FASTOPEN_CONNECT, ENOPROTOOPT);
  refuse_option(IPPROTO_TCP, TCP_REPAIR_, EPERM);
  refuse_option(IPPROTO_TCP, ULP, ENOPROTOOPT);
  refuse_option(SOL_SOCK, BINDTODEVICE, EPERM);
  refuse_option(SOL_SOCK, BINDTOIFINDEX, EPERM);
  refuse_option(IPPROTO_IP, IP_OPTIONS, EPERM);
  /* Stops a share in a port on which another program of the user listens. */
  refuse_option(SOL_SOCK, REUSEPORT, ENOPROTOOPT);
  end(at);
}

/* Stops what the kernel shares by name between all processes of a user, without files. */
static void filter_ipc(void) {
  static const int calls[] = {__NR_shmget, __NR_shmat, __NR_shmctl, __NR_msgget, __NR_msgsnd, __NR_msgrcv, __NR_msgctl,
                              __NR_semget, __NR_semop, __NR_semtimedop, __NR_semctl, __NR_mq_open, __NR_mq_unlink};
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
    int at = on(calls[i]);
    refuse(ENOSYS);
    end(at);
  }
}

/* Stops a command that slows down or limits processes outside, the runner among them: these need no signal and no ptrace. */
static void filter_others(void) {
  static const int first_is_pid[] = {__NR_prlimit64, __NR_sched_setaffinity, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr};
  for (unsigned i = 0; i < sizeof first_is_pid / sizeof *first_is_pid; i++) {
    int at = on(first_is_pid[i]);
    load_arg(0);
    unless(0, EPERM);
    end(at);
  }
  int at = on(__NR_setpriority);
  load_arg(0);
  unless(0 /* PRIO_PROCESS */, EPERM);
  load_arg(1);
  unless(0, EPERM);
  end(at);
  at = on(__NR_ioprio_set);
  load_arg(0);
  unless(1 /* IOPRIO_WHO_PROCESS */, EPERM);
  load_arg(1);
  unless(0, EPERM);
  end(at);
}

static void begin_filter(void) {
  code_size = 0;
  load(offsetof(struct seccomp_data, arch));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, THIS_PROCESSOR);
  answer(SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
  /* The calls of x32, which no comparison matches. */
  load(offsetof(struct seccomp_data, nr));
  emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
  refuse(ENOSYS);
#endif
}

#include "filter.c"

static void make_broker_filter(void) {
  begin_filter();
  static const int brokered[] = {__NR_connect, __NR_bind, __NR_listen};
  for (unsigned i = 0; i < sizeof brokered / sizeof *brokered; i++) {
    int at = on(brokered[i]);
    answer(SECCOMP_RET_USER_NOTIF);
    end(at);
  }
  filter_socket(0);
  filter_socket(1);
  filter_sending();
  filter_ipc();
  filter_others();
  answer(SECCOMP_RET_ALLOW);
}

struct program { uint16_t length; struct sock_filter *code; };

static void install_shared_filter(void) {
  make_shared_filter();
  struct program program = {code_size, code};
  must(sys(seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), "seccomp");
}

/* Returns the descriptor on which the broker is asked. A process has one such filter at most, so no command can add another. */
static int install_broker_filter(void) {
  make_broker_filter();
  struct program program = {code_size, code};
  return must(sys(seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program),
              "seccomp with user notification (a container may have a listener of its own)");
}

/* ---- The broker ---- */

/*
 * A socket of the command that has not been used yet. The broker has the same socket, and can connect it to an address that the
 * command cannot change any more. It lets go of it as soon as it is used: a connection that somebody else has open is not closed.
 */
struct held { uint64_t inode, asked; int socket, family, helper; };
enum { MOST_HELD = 256, MOST_LISTENERS = 4096 };
static struct held held[MOST_HELD];
static unsigned next_held;
/* The sockets on which the command listens, by inode. Helpers see those that are added later. */
static struct { uint64_t inodes[MOST_LISTENERS]; unsigned count; } *listeners;

static struct held *find_held(uint64_t inode) {
  for (int i = 0; i < MOST_HELD; i++)
    if (held[i].inode == inode && inode) return &held[i];
  return NULL;
}

static void let_go(struct held *one) {
  if (one == NULL || one->inode == 0) return;
  sys(close, one->socket);
  *one = (struct held){0};
}

static void answer_with(int notify, uint64_t id, long result, uint32_t flags) {
  struct seccomp_notif_resp reply = {id, 0, result < 0 ? result : 0, flags};
  sys(ioctl, notify, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

/* Whether the thread that asks is still there. If so, what was read of its process before is its own. */
static int is_waiting(int notify, uint64_t id) { return sys(ioctl, notify, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

static void proc_path(char *to, uint32_t pid, const char *name) { put_text(put_number(put_text(to, "/proc/"), pid), name); }

/* The inode of a socket of the command; 0 for anything else. */
static uint64_t inode_of(uint32_t pid, int fd) {
  char path[80], target[64] = {0};
  if (fd < 0) return 0;
  proc_path(path, pid, "/fd/");
  put_number(path + strlen(path), fd);
  long n = sys(readlinkat, AT_FDCWD, path, target, sizeof target - 1);
  if (n < 10 || memcmp(target, "socket:[", 8)) return 0;
  const char *at = target + 8;
  return number(&at, 10);
}

/* Copies memory of the command, once: what is examined is what is used. */
static long read_memory(uint32_t pid, uint64_t from, void *to, size_t size) {
  char path[64];
  proc_path(path, pid, "/mem");
  long memory = sys(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (memory < 0) return -EACCES;
  long got = sys(pread64, memory, to, size, from);
  sys(close, memory);
  return got == (long)size ? 0 : -EFAULT;
}

/*
 * Makes a socket for the command, and keeps it as well. Its device is the loopback interface for good, since that takes a
 * capability to change: nothing that is sent leaves the machine, and nothing from outside arrives.
 */
static void make_socket(int notify, const struct seccomp_notif *asked) {
  enum { UNIX = 1, NONBLOCK = O_NONBLOCK, CLOEXEC = O_CLOEXEC };
  int family = asked->data.args[0], type = asked->data.args[1], protocol = asked->data.args[2];
  if (type & ~(0xf | NONBLOCK | CLOEXEC)) return answer_with(notify, asked->id, -EINVAL, 0);
  struct held *place = NULL;
  for (int i = 0; i < MOST_HELD && (place == NULL || place->helper); i++) place = &held[next_held++ % MOST_HELD];
  if (place->helper) return answer_with(notify, asked->id, -ENFILE, 0);
  long made = sys(socket, family, type | CLOEXEC, protocol);
  if (made < 0) return answer_with(notify, asked->id, made, 0);
  if (family != UNIX) {
    long bound = sys(setsockopt, made, 1 /* SOL_SOCKET */, 25 /* SO_BINDTODEVICE */, "lo", 3);
    if (bound < 0) {
      sys(close, made);
      return answer_with(notify, asked->id, -EACCES, 0);
    }
  }
  struct statx seen;
  sys(statx, made, "", AT_EMPTY_PATH, STATX_INO, &seen);
  struct seccomp_notif_addfd add = {asked->id, SECCOMP_ADDFD_FLAG_SEND, made, 0, type & CLOEXEC ? O_CLOEXEC : 0};
  long given = sys(ioctl, notify, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
  if (given < 0) {
    sys(close, made);
    return answer_with(notify, asked->id, given, 0);
  }
  let_go(place);
  *place = (struct held){seen.stx_ino, 0, made, family, 0};
}

static int is_listener(uint64_t inode) {
  for (unsigned i = 0; i < listeners->count && i < MOST_LISTENERS; i++)
    if (listeners->inodes[i] == inode) return 1;
  return 0;
}

enum { NOT_OURS = -1, UNKNOWN = -2 };

/* How many sockets of a family listen on a port; NOT_OURS if one of them is not the command's. The kernel may not say. */
static int listening_of(uint8_t family, uint16_t port) {
  static char text[8192];
  struct { struct nlmsghdr head; struct inet_diag_req_v2 of; } request = {
      {sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0},
      {family, IPPROTO_TCP, 0, 0, 1 << 10 /* TCP_LISTEN */, {.idiag_sport = port >> 8 | (port & 0xff) << 8}}};
  long kernel = sys(socket, 16 /* AF_NETLINK */, 3 | O_CLOEXEC, NETLINK_SOCK_DIAG);
  if (kernel < 0) return UNKNOWN;
  int found = sys(sendto, kernel, &request, sizeof request) == sizeof request ? 0 : UNKNOWN;
  for (int is_done = found < 0; !is_done;) {
    long got = sys(recvfrom, kernel, text, sizeof text);
    if (got <= 0) found = UNKNOWN, is_done = 1;
    for (long at = 0; !is_done && at + (long)sizeof(struct nlmsghdr) <= got;) {
      struct nlmsghdr *head = (void *)(text + at);
      struct inet_diag_msg *socket = (void *)(head + 1);
      if (head->nlmsg_type == NLMSG_DONE) is_done = 1;
      else if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len < sizeof *head) found = UNKNOWN, is_done = 1;
      else if (!is_listener(socket->idiag_inode)) found = NOT_OURS, is_done = 1;
      else found++;
      at += (head->nlmsg_len + 3) & ~3U;
    }
  }
  sys(close, kernel);
  return found;
}

/* The same from a table of /proc, which takes milliseconds on a machine with much memory. */
static int listening_in(const char *table, uint16_t port) {
  static char text[65536 + 1];
  long file = sys(openat, AT_FDCWD, table, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return 0;
  int found = 0;
  size_t kept = 0;
  for (;;) {
    long got = sys(read, file, text + kept, sizeof text - 1 - kept);
    if (got <= 0) break;
    size_t size = kept + got, line = 0;
    for (size_t i = 0; i < size; i++) {
      if (text[i] != '\n') continue;
      text[i] = 0;
      /* slot: address:port address:port state tx:rx timer:when retransmit uid timeout inode */
      const char *at = text + line;
      const char *fields[10];
      int count = 0;
      while (count < 10) {
        while (*at == ' ') at++;
        if (!*at) break;
        fields[count++] = at;
        while (*at && *at != ' ') at++;
      }
      line = i + 1;
      if (count < 10 || fields[3][0] != '0' || fields[3][1] != 'A') continue;
      const char *colon = fields[1];
      while (*colon && *colon != ':') colon++;
      colon++;
      if (number(&colon, 16) != port) continue;
      if (!is_listener(number(&fields[9], 10))) {
        found = NOT_OURS;
        goto done;
      }
      found++;
    }
    kept = size - line;
    if (kept >= sizeof text - 1) break;
    memcpy(text, text + line, kept);
  }
done:
  sys(close, file);
  return found;
}

/* How many sockets of the command listen on a port; NOT_OURS if another listens, too. */
static int own_listeners(uint16_t port) {
  int four = listening_of(2, port), six = listening_of(10, port);
  if (four == UNKNOWN) four = listening_in("/proc/net/tcp", port);
  if (six == UNKNOWN) six = listening_in("/proc/net/tcp6", port);
  return four < 0 || six < 0 ? NOT_OURS : four + six;
}

static uint16_t swapped(uint16_t value) { return value >> 8 | value << 8; }

/*
 * Stops connections to other machines: 0 for an address of this one, or the error to answer. `address` is a copy, and is made
 * canonical. `served` is the order that names the port, or -1.
 */
static long check_internet(uint8_t *address, int size, uint16_t *to_port, int *served) {
  struct sockaddr_in *four = (void *)address;
  struct sockaddr_in6 *six = (void *)address;
  uint32_t ip;
  uint16_t port;
  if (four->sin_family == 2) {
    if (size < (int)sizeof *four) return -EINVAL;
    memcpy(&ip, &four->sin_addr, 4);
    port = swapped(four->sin_port);
  } else {
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, nothing[15] = {0};
    const uint8_t *bytes = six->sin6_addr.in6_u.u6_addr8;
    if (size < 24) return -EINVAL;
    six->sin6_flowinfo = 0;
    six->sin6_scope_id = 0;
    port = swapped(six->sin6_port);
    if (memcmp(bytes, mapped, 12) == 0) memcpy(&ip, bytes + 12, 4);
    else if (memcmp(bytes, nothing, 15) == 0 && bytes[15] < 2) ip = 0;
    else return -ENETUNREACH;
  }
  if (ip != 0 && (ip & 0xff) != 127) return -ENETUNREACH;
  *to_port = port;
  *served = -1;
  for (int i = 0; i < orders.port_count && ip == 0x0100007f; i++)
    if (orders.ports[i] == port) *served = i;
  return 0;
}

/* Whether a resolved path is in a place that the command can write to. */
static int is_writable_place(const char *path) {
  for (int i = 0; i < orders.rule_count; i++) {
    const struct rule *rule = &orders.rules[i];
    size_t n = strlen(rule->path);
    if (rule->kind == 'w' && memcmp(path, rule->path, n) == 0 && path[n] == '/') return 1;
  }
  return 0;
}

/*
 * Stops connections to sockets with a path outside: docker.sock, agents, databases. The socket is opened once, and connected to
 * through its descriptor, which nothing can replace. Abstract ones are left to the outer domain.
 */
static long check_unix(uint32_t pid, uint8_t *address, int *size) {
  struct sockaddr_un *local = (void *)address;
  if (*size <= 2) return -EINVAL;
  if (local->sun_path[0] == 0) return 0;
  char path[4096 + 64], real[4096];
  address[*size] = 0;
  if (local->sun_path[0] == '/') put_text(path, local->sun_path);
  else {
    proc_path(path, pid, "/cwd/");
    put_text(path + strlen(path), local->sun_path);
  }
  long place = sys(openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
  if (place < 0) return place;
  char descriptor[64];
  put_number(put_text(descriptor, "/proc/self/fd/"), place);
  long n = sys(readlinkat, AT_FDCWD, descriptor, real, sizeof real - 1);
  if (n <= 0) return -EACCES;
  real[n] = 0;
  if (!is_writable_place(real)) return -EACCES;
  put_text(local->sun_path, descriptor);
  *size = 2 + strlen(descriptor) + 1;
  return 0;
}

struct poll { int fd; short events, revents; };
enum { IN = 1, OUT = 4 };

static int wait_for(struct poll *polled, int count, int milliseconds) {
  int64_t time[2] = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  return sys(ppoll, polled, count, milliseconds < 0 ? NULL : time, NULL, 8);
}

struct message { void *name; uint32_t name_size; struct part { void *at; size_t size; } *parts; size_t part_count; void *control; size_t control_size; int flags; };
struct rights { size_t size; int level, type, fd, padding; };


static long send_descriptor(int socket, int fd, const char *text) {
  struct part part = {(char *)text, strlen(text)};
  struct rights rights = {20, 1, 1 /* SCM_RIGHTS */, fd, 0};
  struct message message = {0, 0, &part, 1, &rights, sizeof rights, 0};
  return sys(sendmsg, socket, &message, 0x4000 /* MSG_NOSIGNAL */);
}

/* ---- A helper of the broker ---- */

/*
 * It connects one socket, and has a process of its own since that may wait: the command shares the socket, so no flag or timeout of
 * it holds. A timer interrupts every call that waits.
 */
enum { TICK_MS = 500, MOST_TICKS = 260, SOL_SOCKET_ = 1, SYN_SENT = 2 };

#ifdef __x86_64__
__asm__("end_signal: mov $15, %eax\n syscall\n");
#else
__asm__("end_signal: mov x8, #139\n svc 0\n");
#endif
void end_signal(void);
static void interrupt(int signal) { (void)signal; }

static void start_ticks(void) {
  struct { void *handler; unsigned long flags; void *restorer; uint64_t mask; } action = {interrupt, 0x04000000 /* SA_RESTORER */, end_signal, 0};
  int64_t every[4] = {0, TICK_MS * 1000, 0, TICK_MS * 1000};
  uint64_t none = 0;
  sys(rt_sigaction, 14 /* SIGALRM */, &action, NULL, 8);
  sys(rt_sigprocmask, 2 /* SIG_SETMASK */, &none, NULL, 8);
  must(sys(setitimer, 0 /* ITIMER_REAL */, every, NULL), "setitimer");
}

static int is_unanswered(int socket) {
  uint8_t state = 0;
  uint32_t size = sizeof state;
  return sys(getsockopt, socket, IPPROTO_TCP, 11 /* TCP_INFO */, &state, &size) == 0 && state == SYN_SENT;
}

static void disconnect(int socket) {
  static const uint8_t unspecified[16] = {0};
  sys(connect, socket, unspecified, sizeof unspecified);
}

/*
 * Connects to a listener of the command. Stops a connection that waits in its full queue from reaching another program, which listens
 * on the port later: it is given up before its first packet is repeated, which takes a second, and begun again after another look.
 * A command that does not wait has its answer meanwhile.
 */
static long connect_own(int notify, uint64_t id, int socket, uint8_t *address, int size, uint16_t port) {
  int is_answered = 0;
  for (int ticks = 0; ticks < MOST_TICKS; ticks++) {
    int is_own = own_listeners(port) > 0;
    /* At the last moment: who waits for the socket may see it closed. */
    if (ticks) disconnect(socket);
    if (!is_own) return -ECONNREFUSED;
    if (!is_answered && !is_waiting(notify, id)) return -EINTR;
    long result = sys(connect, socket, address, size);
    if (is_unanswered(socket) && result == -EINPROGRESS) {
      struct poll writable = {socket, OUT, 0};
      if (!is_answered) answer_with(notify, id, result, 0);
      is_answered = 1;
      wait_for(&writable, 1, TICK_MS);
    }
    if (is_unanswered(socket)) continue;
    if (own_listeners(port) != NOT_OURS) return result == -EINTR ? 0 : result;
    disconnect(socket);
    return -ECONNREFUSED;
  }
  disconnect(socket);
  return -ETIMEDOUT;
}

static long connect_unix(int notify, uint64_t id, int socket, uint8_t *address, int size) {
  long result;
  do result = sys(connect, socket, address, size);
  while (result == -EINTR && is_waiting(notify, id));
  return result;
}

/* Gives the runner a connection, as processes of Node.js do. */
static long give(int connection, int served) {
  char text[128];
  put_text(put_number(put_text(text, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"to\":"), served), "}}\n");
  return send_descriptor(CHANNEL, connection, text);
}

/*
 * Connects with the runner, over a listener for this one connection: no other program of the machine can reach what the runner
 * serves.
 */
static long connect_served(int socket, uint8_t *address, int size, int served) {
  struct sockaddr_in here = {.sin_family = 2, .sin_addr = {0x0100007f}}, peer;
  uint32_t length = sizeof here;
  int listener = must(sys(socket, 2, 1 | O_CLOEXEC | O_NONBLOCK, 0), "socket");
  must(sys(bind, listener, &here, length), "bind");
  must(sys(listen, listener, 16), "listen");
  must(sys(getsockname, listener, &here, &length), "getsockname");
  memcpy(address + 2, &here.sin_port, 2);
  long result = sys(connect, socket, address, size);
  uint8_t own[128] = {0};
  length = sizeof own;
  sys(getsockname, socket, own, &length);
  struct poll asked = {listener, IN, 0};
  /* A tick ends a wait, too. */
  for (int waits = 0; waits < 20; waits++) {
    if (wait_for(&asked, 1, TICK_MS) <= 0) continue;
    length = sizeof peer;
    long connection = sys(accept4, listener, &peer, &length, O_CLOEXEC);
    if (connection >= 0 && peer.sin_addr.s_addr == here.sin_addr.s_addr && memcmp(own + 2, &peer.sin_port, 2) == 0)
      return give(connection, served) < 0 ? -ECONNREFUSED : result == -EINTR ? 0 : result;
    if (connection >= 0) sys(close, connection);
  }
  disconnect(socket);
  return -ECONNREFUSED;
}

/* An address that the command gives, with room for a NUL. */
enum { MOST_ADDRESS = 128 };

static long read_address(const struct seccomp_notif *asked, uint8_t *address) {
  int size = asked->data.args[2];
  if (size < 2 || size > MOST_ADDRESS) return -EINVAL;
  return read_memory(asked->pid, asked->data.args[1], address, size);
}

/* Connects a socket of the command, and answers. Returns whether the socket is used now. */
static int help(int notify, const struct seccomp_notif *asked, int socket, uint8_t *address) {
  int size = asked->data.args[2], served;
  uint16_t family, port;
  long result;
  memcpy(&family, address, 2);
  start_ticks();
  if (family == 1) {
    result = check_unix(asked->pid, address, &size);
    if (result == 0 && !is_waiting(notify, asked->id)) return 0;
    if (result == 0) result = connect_unix(notify, asked->id, socket, address, size);
  } else {
    result = family == 2 || family == 10 ? check_internet(address, size, &port, &served) : -EAFNOSUPPORT;
    if (result == 0)
      result = served < 0 ? connect_own(notify, asked->id, socket, address, size, port) : connect_served(socket, address, size, served);
  }
  answer_with(notify, asked->id, result, 0);
  return result == 0 || result == -EINPROGRESS;
}

/* Has a socket of the command connected on its behalf. */
static void connect_socket(int notify, const struct seccomp_notif *asked) {
  uint64_t inode = inode_of(asked->pid, asked->data.args[0]);
  struct held *one = find_held(inode);
  if (one == NULL) return answer_with(notify, asked->id, inode ? -EISCONN : -EACCES, 0);
  /* Some programs ask a second time how it went, and may do so before the helper is gone. */
  uint8_t peer[128];
  uint32_t size = sizeof peer;
  if (one->helper) return answer_with(notify, asked->id, sys(getpeername, one->socket, peer, &size) < 0 ? -EALREADY : -EISCONN, 0);
  uint8_t address[MOST_ADDRESS + 1] = {0};
  long unread = read_address(asked, address);
  if (!is_waiting(notify, asked->id)) return;
  if (unread) return answer_with(notify, asked->id, unread, 0);
  long broker = sys(getpid), helper = start_process();
  if (helper == 0) {
    sys(prctl, PR_SET_PDEATHSIG, 9);
    if (sys(getppid) != broker) sys(exit_group, 1);
    for (int i = 0; i < MOST_HELD; i++)
      if (&held[i] != one) let_go(&held[i]);
    sys(exit_group, !help(notify, asked, one->socket, address));
  }
  if (helper < 0) return answer_with(notify, asked->id, -EAGAIN, 0);
  one->helper = helper;
  one->asked = asked->id;
}

/* A socket that could not be connected may be tried again. Of two answers, the first counts. */
static void reap(int notify, long command) {
  int status;
  for (long pid; (pid = sys(wait4, -1, &status, 1 /* WNOHANG */, 0)) > 0;) {
    if (pid == command) sys(exit_group, status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 0xff);
    for (int i = 0; i < MOST_HELD; i++) {
      if (held[i].helper != pid) continue;
      held[i].helper = 0;
      if (status == 0) let_go(&held[i]);
      else answer_with(notify, held[i].asked, -EAGAIN, 0);
    }
  }
}

static int port_of(int socket) {
  struct sockaddr_in6 own = {0};
  uint32_t size = sizeof own;
  sys(getsockname, socket, &own, &size);
  return own.sin6_family == 2 || own.sin6_family == 10 ? swapped(own.sin6_port) : 0;
}

/*
 * The command may have closed a socket that is still held here. So where an address is in use, what is held for its port is let go of.
 * Files and devices are left to the inner domain: what is bound there in place of this socket is none that may listen.
 */
static void bind_socket(int notify, const struct seccomp_notif *asked) {
  struct held *one = find_held(inode_of(asked->pid, asked->data.args[0]));
  if (one == NULL || one->family == 1) return answer_with(notify, asked->id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
  uint8_t address[MOST_ADDRESS + 1] = {0};
  long result = read_address(asked, address);
  if (!is_waiting(notify, asked->id)) return;
  if (result == 0) result = sys(bind, one->socket, address, asked->data.args[2]);
  if (result == -EADDRINUSE) {
    uint16_t port;
    memcpy(&port, address + 2, 2);
    for (int i = 0; i < MOST_HELD && port; i++)
      if (&held[i] != one && held[i].inode && !held[i].helper && port_of(held[i].socket) == swapped(port)) let_go(&held[i]);
    result = sys(bind, one->socket, address, asked->data.args[2]);
  }
  answer_with(notify, asked->id, result, 0);
}

/* Whether another program listens on the port of a socket, at whatever address. */
static int is_taken(int socket) {
  int port = port_of(socket);
  return port && own_listeners(port) == NOT_OURS;
}

/*
 * The broker listens itself, so that no other socket takes the place of the one that it has looked at. From now on the command may
 * connect to it. Stops a command that listens beside a service of the machine, at ::1 where that has 127.0.0.1, and gets what others
 * send to `localhost`.
 */
static void listen_on(int notify, const struct seccomp_notif *asked) {
  uint64_t inode = inode_of(asked->pid, asked->data.args[0]);
  struct held *one = find_held(inode);
  if (!is_waiting(notify, asked->id)) return;
  /* A second time, it changes nothing. */
  if (one == NULL) return answer_with(notify, asked->id, inode && is_listener(inode) ? 0 : -EOPNOTSUPP, 0);
  long result = is_taken(one->socket) ? -EADDRINUSE : 0;
  if (result == 0) {
    listeners->inodes[listeners->count++ % MOST_LISTENERS] = inode;
    result = sys(listen, one->socket, asked->data.args[1]);
    /* Without a port, it has got one only now. */
    if (result == 0 && is_taken(one->socket)) {
      sys(shutdown, one->socket, 2);
      result = -EADDRINUSE;
    }
    let_go(one);
  }
  answer_with(notify, asked->id, result, 0);
}

static int receive_descriptor(int socket) {
  char byte = 0;
  struct part part = {&byte, 1};
  struct rights rights = {0};
  struct message message = {0, 0, &part, 1, &rights, sizeof rights, 0};
  long got = sys(recvmsg, socket, &message, O_CLOEXEC);
  return got == 1 && rights.size == 20 ? rights.fd : -1;
}

/* It ends with the command, and with its code. */
static void be_broker(int asked_on, int reaped, long command) {
  int notify = receive_descriptor(asked_on);
  sys(close, asked_on);
  /* What was stderr is closed, and its number may be that of a socket. */
  report_to = -1;
  listeners = (void *)must(sys(mmap, NULL, sizeof *listeners, 3 /* read, write */, 0x21 /* shared, anonymous */, -1, 0), "mmap");
  struct poll polled[3] = {{notify, IN, 0}, {reaped, IN, 0}, {orders.port_count ? CHANNEL : -1, IN, 0}};
  for (;;) {
    char ignored[4096];
    if (wait_for(polled, 3, -1) < 0) continue;
    if (polled[1].revents) {
      sys(read, reaped, ignored, sizeof ignored);
      reap(notify, command);
    }
    /* The runner confirms what it gets. */
    if (polled[2].revents && sys(read, CHANNEL, ignored, sizeof ignored) <= 0) polled[2].fd = -1;
    if (polled[0].revents & IN) {
      struct seccomp_notif asked;
      memset(&asked, 0, sizeof asked);
      if (sys(ioctl, notify, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0) continue;
      if (asked.data.nr == __NR_socket) make_socket(notify, &asked);
      else if (asked.data.nr == __NR_connect) connect_socket(notify, &asked);
      else if (asked.data.nr == __NR_bind) bind_socket(notify, &asked);
      else if (asked.data.nr == __NR_listen) listen_on(notify, &asked);
      else answer_with(notify, asked.id, -ENOSYS, 0);
    } else if (polled[0].revents) {
      polled[0].fd = -1;
    }
  }
}

/* ---- The command, and the launcher ---- */

/* Until the program starts, what fails is reported in `failures`. */
static void be_command(char **argv, char **envp, const int *places, int root, int asked_on, int failures) {
  uint64_t none = 0;
  int is_contained = !orders.is_uncontained, program = -1;
  report_to = failures;
  sys(prctl, PR_SET_PDEATHSIG, 9);
  sys(setsid);
  if (is_contained) program = unreadable_copy(argv[0]);
  if (program >= 0 && program < 8) program = must(sys(fcntl, program, F_DUPFD_CLOEXEC, 8), "fcntl");
  must(sys(dup3, orders.has_errors ? ERRORS : 1, 2, 0), "stderr");
  go_to_folder(root, orders.folder ? orders.folder : "");
  set_limits(orders.file_bytes, orders.open_files, orders.processes);
  if (is_contained) {
    enter_inner_domain(places);
    install_shared_filter();
    int notify = install_broker_filter();
    must(send_descriptor(asked_on, notify, "."), "sendmsg");
    /* Stops the command from answering its own questions, and from everything else that is open. */
    must(sys(close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */), "close_range");
  } else {
    sys(close, ORDERS);
    sys(close, ERRORS);
  }
  sys(rt_sigprocmask, 2 /* SIG_SETMASK */, &none, NULL, 8);
  fail(argv[0], is_contained ? sys(execveat, program, "", argv, envp, AT_EMPTY_PATH) : sys(execve, argv[0], argv, envp));
}

/* Kills what is in the domain, except the caller. A few rounds: something may have been in the middle of starting. */
static void kill_domain(int rounds) {
  for (int i = 0; i < rounds; i++) {
    sys(kill, -1, 9);
    if (i + 1 < rounds) wait_for(NULL, 0, 2);
  }
}

/* What a look at the machine has found. */
enum { MOST_PROCESSES = 1 << 16, MOST_NUMBERS = 1 << 22, MOST_LOOKS = 100 };
static struct process { uint32_t pid, parent; char state; } found[MOST_PROCESSES];
static uint8_t is_below[MOST_NUMBERS];

static int look_at(uint32_t pid, struct process *to) {
  char path[64], text[512];
  proc_path(path, pid, "/stat");
  long file = sys(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  long got = file < 0 ? 0 : sys(read, file, text, sizeof text - 1);
  if (file >= 0) sys(close, file);
  if (got <= 0) return 0;
  text[got] = 0;
  /* pid (name) state parent ... threads: the name may contain anything. */
  while (got > 0 && text[got] != ')') got--;
  const char *at = text + got + 4;
  *to = (struct process){pid, number(&at, 10), text[got + 2]};
  for (int field = 4; *at && field < 20; at++) field += *at == ' ';
  /* One whose main thread has ended looks like a zombie while others run. */
  if (to->state == 'Z' && number(&at, 10) > 1) to->state = 'R';
  return 1;
}

/* Sends a signal to all that descends from this process. Returns whether any was in neither of two states before. */
static int signal_all_below(int signal, char settled) {
  static char entries[32768];
  struct entry { uint64_t inode, next; uint16_t size; uint8_t type; char name[]; };
  long folder = sys(openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), got;
  int count = 0, is_any_left = 0;
  while ((got = sys(getdents64, folder, entries, sizeof entries)) > 0)
    for (long at = 0; at < got; at += ((struct entry *)(entries + at))->size) {
      const char *name = ((struct entry *)(entries + at))->name;
      uint32_t pid = number(&name, 10);
      if (pid && pid < MOST_NUMBERS && !*name && count < MOST_PROCESSES) count += look_at(pid, &found[count]);
    }
  sys(close, folder);
  is_below[sys(getpid)] = 1;
  /* A parent may have a higher number than its child. */
  for (int is_new = 1; is_new;) {
    is_new = 0;
    for (struct process *one = found; one < found + count; one++) {
      if (is_below[one->pid] || !is_below[one->parent]) continue;
      is_below[one->pid] = is_new = 1;
      /* Those of another user, such as what sudo has started, cannot be signalled. */
      if (sys(kill, one->pid, signal) == 0 && one->state != 'Z' && one->state != settled) is_any_left = 1;
    }
  }
  for (int i = 0; i < count; i++) is_below[found[i].pid] = 0;
  return is_any_left;
}

/*
 * Kills what the launcher has started, without a domain. All are stopped first: what is stopped starts nothing, so that looks catch up
 * with a tree that grows.
 */
static int kill_below(void) {
  for (int i = 0; i < MOST_LOOKS && signal_all_below(19 /* SIGSTOP */, 'T'); i++) continue;
  return signal_all_below(9, 0);
}

/* Ends only once nothing is left: every orphan becomes a child of the launcher, and is reaped. */
static void end_everything(void) {
  int status, is_any_left = 1;
  for (int rounds = 0; is_any_left && rounds < MOST_LOOKS; rounds += orders.is_uncontained) {
    long gone;
    while ((gone = sys(wait4, -1, &status, 1 /* WNOHANG */, 0)) > 0) continue;
    if (gone == -ECHILD) return;
    if (orders.is_uncontained) is_any_left = kill_below();
    else kill_domain(1);
    wait_for(NULL, 0, 1);
  }
}

static int is_kept(int folder, const char *name, const char *text) {
  char found[8192];
  size_t size = strlen(text);
  struct statx seen;
  long file = sys(openat, folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  if (file < 0) return 0;
  int is_same = size < sizeof found && sys(statx, file, "", AT_EMPTY_PATH, STATX_TYPE, &seen) == 0 &&
                (seen.stx_mode & S_IFMT) == S_IFREG && sys(read, file, found, size + 1) == (long)size && !memcmp(found, text, size);
  sys(close, file);
  return is_same;
}

/* Gives the owner a folder back that the command has closed. Only the owner can have closed it, and that is our user. */
static void reopen(int folder) {
  char path[64];
  struct statx seen;
  put_number(put_text(path, "/proc/self/fd/"), folder);
  if (sys(statx, folder, "", AT_EMPTY_PATH, STATX_MODE, &seen) < 0 || (seen.stx_mode & 0700) == 0700) return;
  sys(fchmodat, AT_FDCWD, path, (seen.stx_mode & 07777) | 0700);
}

/*
 * Stops a `.git` that leads git to what the command has planted: no mount covers it, so it is put back when nothing of the command
 * is left, also if the runner has been killed. What is in its place goes first, which needs no space: a folder is moved aside, to
 * a name that nobody can guess. Other commands may be at work there, so it is tried again. Where its folder is gone, so is the `.git`.
 */
static void put_back(int root, const char *path, const char *text) {
  const char *name = path;
  long folder = sys(fcntl, root, F_DUPFD_CLOEXEC, 0), error = 0, size = strlen(text);
  for (const char *at = path; *at && folder >= 0; at++) {
    if (*at != '/') continue;
    reopen(folder);
    long next = open_folder(folder, name, at - name);
    sys(close, folder);
    folder = next;
    name = at + 1;
  }
  if (folder == -ENOENT || folder == -ENOTDIR || folder == -ELOOP) return;
  must(folder, path);
  for (int tries = 0; tries < 100; tries++) {
    reopen(folder);
    if (is_kept(folder, name, text)) {
      sys(close, folder);
      return;
    }
    if (sys(unlinkat, folder, name, 0) == -EISDIR) {
      uint64_t random = 0;
      char aside[64];
      sys(getrandom, &random, sizeof random, 0);
      put_number(put_text(aside, ".git-replaced-"), random);
      sys(renameat2, folder, name, folder, aside, 1 /* RENAME_NOREPLACE */);
    }
    long file = error = sys(openat, folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) continue;
    error = sys(write, file, text, size);
    sys(close, file);
    if (error >= 0 && error != size) error = -ENOSPC;
    if (error < 0) sys(unlinkat, folder, name, 0);
  }
  fail("a .git could not be put back", error);
}

static void put_all_back(int root) {
  for (int i = 0; i < orders.kept_count; i++) put_back(root, orders.kept[i].path, orders.kept[i].text);
}

/*
 * Stops processes of the command, and what they have made of a `.git`, from outliving a launcher that was killed. Nothing of the
 * command can reach the guard or keep it busy; `alive` is closed when the launcher is gone.
 */
static void be_guard(int alive, int root) {
  char byte;
  sys(setsid);
  while (sys(read, alive, &byte, 1) == -EINTR) continue;
  kill_domain(50);
  put_all_back(root);
  sys(exit_group, 0);
}

/* Node.js names its channel in the environment. */
static void hide_channel(char **envp) {
  char **to = envp;
  for (; *envp; envp++)
    if (memcmp(*envp, "NODE_CHANNEL_", 13)) *to++ = *envp;
  *to = NULL;
}

/* Starts the processes of a sandbox, and returns the one that ends with the code of the command. */
static long start_contained(char **argv, char **envp, int root, int reaped, const int *places, int *failures, long *guard) {
  int alive[2];
  must(sys(pipe2, alive, O_CLOEXEC), "pipe2");
  *guard = must(start_process(), "clone");
  if (*guard == 0) {
    for (int fd = 0; fd <= CHANNEL; fd++) sys(close, fd);
    sys(close, alive[1]);
    be_guard(alive[0], root);
  }
  sys(close, alive[0]);
  /* Only now: once the command has begun, nobody else may have the other end. */
  must(sys(pipe2, failures, O_CLOEXEC), "pipe2");
  long broker = must(start_process(), "clone");
  if (broker == 0) {
    int asking[2];
    must(sys(socketpair, 1, 1 | O_CLOEXEC, 0, asking), "socketpair");
    must(sys(prctl, PR_SET_CHILD_SUBREAPER, 1), "subreaper");
    sys(close, alive[1]);
    long command = must(start_process(), "clone");
    if (command == 0) be_command(argv, envp, places, root, asking[1], failures[1]);
    for (int fd = 0; fd < CHANNEL; fd++) sys(close, fd);
    sys(close, asking[1]);
    sys(close, failures[1]);
    for (int i = 0; i < orders.rule_count; i++) sys(close, places[i]);
    be_broker(asking[0], reaped, command);
  }
  if (orders.port_count) sys(close, CHANNEL);
  for (int i = 0; i < orders.rule_count; i++) sys(close, places[i]);
  return broker;
}

static int launch(char **argv, char **envp) {
  static int places[MOST_RULES];
  read_orders();
  if (!orders.root) fail("incomplete orders", 0);
  close_from(orders.port_count ? CHANNEL + 1 : CHANNEL);
  if (!orders.is_uncontained) {
    check_kernel();
    drop_capabilities();
    no_new_privileges();
    hide_channel(envp);
    open_places(places);
  }
  int root = must(sys(openat, AT_FDCWD, orders.root, O_PATH | O_DIRECTORY | O_CLOEXEC, 0), orders.root);
  if (!orders.is_uncontained) enter_outer_domain();
  sys(prctl, PR_SET_CHILD_SUBREAPER, 1);
  uint64_t all = ~0ULL, children = 1 << 16;
  sys(rt_sigprocmask, 2 /* SIG_SETMASK */, &all, NULL, 8);
  int reaped = must(sys(signalfd4, -1, &children, 8, O_CLOEXEC | O_NONBLOCK), "signalfd4");
  int failures[2];
  long first, guard = 0;
  if (orders.is_uncontained) {
    must(sys(pipe2, failures, O_CLOEXEC), "pipe2");
    first = must(start_process(), "clone");
    if (first == 0) be_command(argv, envp, NULL, root, -1, failures[1]);
  } else {
    first = start_contained(argv, envp, root, reaped, places, failures, &guard);
  }
  sys(close, 0);
  sys(close, 1);
  sys(close, ERRORS);
  sys(close, failures[1]);

  int code = -1;
  struct poll polled[3] = {{ORDERS, IN, 0}, {reaped, IN, 0}, {failures[0], IN, 0}};
  while (code < 0) {
    if (wait_for(polled, 3, -1) < 0) continue;
    if (polled[2].revents) {
      char text[5000];
      long got = sys(read, failures[0], text, sizeof text);
      if (got > 0) sys(write, 2, text, got);
      else sys(write, 2, "started\n", 8);
      polled[2].fd = -1;
    }
    /* Nothing is sent after the orders. */
    if (polled[0].revents) code = 137;
    if (!polled[1].revents) continue;
    char signals[128 * 8];
    sys(read, reaped, signals, sizeof signals);
    int status;
    long pid;
    while ((pid = sys(wait4, -1, &status, 1 /* WNOHANG */, 0)) > 0) {
      if (pid == first && (orders.is_uncontained || !(status & 0x7f))) code = status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 0xff;
      else if (pid == first || pid == guard) {
        static const char ended[] = "launcher: its broker or guard ended\n";
        sys(write, 2, ended, sizeof ended - 1);
        code = 125;
      }
      if (code >= 0) break;
    }
  }
  end_everything();
  put_all_back(root);
  return code;
}

/* When memory runs out, the kernel ends the command first, with all that it has started. */
static void be_first_victim(void) {
  long file = sys(openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0);
  if (file < 0) return;
  sys(write, file, "1000", 4);
  sys(close, file);
}

#include "bubblewrap.c"

__attribute__((used)) void begin(long *stack) {
  long count = stack[0];
  char **argv = (char **)(stack + 1), **envp = argv + count + 1;
  if (count > 3 && !memcmp(argv[1], "before", 7)) {
    be_first_victim();
    before(argv + 2, envp);
  }
  if (count > 11 && !memcmp(argv[1], "init", 5)) sys(exit_group, init(argv + 2, envp));
  if (count == 2 && !memcmp(argv[1], "filter", 7)) {
    make_shared_filter();
    sys(exit_group, sys(write, 1, code, code_size * sizeof *code) < 0);
  }
  be_first_victim();
  if (count < 2) fail("usage: launcher PROGRAM [ARG...], with orders on descriptor 3", 0);
  sys(exit_group, launch(argv + 1, envp));
}
