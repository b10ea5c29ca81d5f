/*
 * Process 1 of a sandbox that bubblewrap has made:
 *
 *   launcher init GATE CHANNEL ERRORS FILE_BYTES OPEN_FILES PROCESSES NAMES_PORT "PORT..." FOLDER PROGRAM [ARG...]
 *
 * It listens in the network namespace and hands the listeners to the runner, which serves them: TCP at each PORT, then UDP at
 * NAMES_PORT unless that is 0. They go to CHANNEL, a channel of Node.js (`stdio: 'ipc'`). Then it writes a byte to GATE and waits
 * for one in reply: without that nothing is run. The command starts in FOLDER below the working directory, within the limits (0 for
 * none), with ERRORS as its stderr, and has none of the descriptors. Process 1 exits with its code, or 128 + n for a signal n, and
 * with that the kernel ends everything else in the namespace.
 *
 * A part of launcher.c, which includes it.
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
  struct part part = {(void *)text, strlen(text)};
  struct rights rights = {20, 1, 1 /* SCM_RIGHTS */, listener, 0};
  struct message message = {0, 0, &part, 1, &rights, sizeof rights, 0};
  must(sys(sendmsg, channel, &message, 0), "sendmsg");
  sys(close, listener);
}

static int take_number(char ***argv) {
  const char *at = *(*argv)++;
  return number(&at, 10);
}

static int init(char **argv, char **envp) {
  int gate = take_number(&argv), channel = take_number(&argv), errors = take_number(&argv);
  const char *file_bytes = *argv++;
  uint64_t most_bytes = number(&file_bytes, 10);
  int open_files = take_number(&argv), processes = take_number(&argv), names = take_number(&argv);
  for (const char *at = *argv++; *at; at += *at == ' ')
    hand_over(channel, listen_on_loopback(1 /* SOCK_STREAM */, number(&at, 10)), "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":0}\n");
  if (names)
    hand_over(channel, listen_on_loopback(2 /* SOCK_DGRAM */, names),
              "{\"cmd\":\"NODE_HANDLE\",\"type\":\"dgram.Socket\",\"dgramType\":\"udp4\",\"msg\":0}\n");

  char byte = '\n';
  if (sys(write, gate, &byte, 1) != 1 || sys(read, gate, &byte, 1) != 1) return 1;
  sys(close, gate);
  if (channel) sys(close, channel);

  const char *path = *argv++;
  long command = must(start_process(), "clone");
  if (command == 0) {
    must(sys(dup3, errors, 2, 0), "stderr");
    if (errors > 2) sys(close, errors);
    long folder = open_folder(AT_FDCWD, path, strlen(path));
    if (folder < 0 || sys(fchdir, folder) < 0) {
      static const char gone[] = "The working directory is gone, or is behind a link: ";
      sys(write, 2, gone, sizeof gone - 1);
      sys(write, 2, path, strlen(path));
      sys(write, 2, "\n", 1);
      sys(exit_group, 1);
    }
    sys(close, folder);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, most_bytes);
    limit(RLIMIT_NOFILE, open_files);
    limit(RLIMIT_NPROC, processes);
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
