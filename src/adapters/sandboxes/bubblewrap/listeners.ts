/**
 * The way from a sandbox to the proxy. The network namespace of a command has no interface but its own loopback, and no program of
 * ours runs there: the runner itself listens on that loopback, as the proxy that the command's variables name, as the services of
 * `--service`, and as a name server that knows no name. A helper opens the sockets, once the namespace exists, and passes them to the runner.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket as NameServer } from 'node:dgram';
import { closeSync, openSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { arch, pid } from 'node:process';
import type { SandboxNetwork } from '../../../ports/network.ts';
import { isAlive, type ProcessId } from '../command/process-table.ts';
import { findProgram } from '../command/shell.ts';
import { withTimeout } from '../command/with-timeout.ts';

/**
 * Every namespace has all ports to itself; this one is used by nothing well known and is outside the kernel's ephemeral
 * range.
 */
export const PROXY_PORT = 17_128;
/** Where the resolvers of programs ask. */
const NAMES_PORT = 53;
const OPEN_MS = 5_000;
/** What a command prints first where that is impossible. */
export const NOT_LISTENING = 'The way to the network could not be opened: nothing can be reached.';
/** Most connections of one command, most of its names that are reported, and most answers that wait: its programs are hostile. */
const MOST_CONNECTIONS = 512;
const MOST_NAMES = 10_000;
const MOST_ANSWERS = 100;

/** `setns` and `sendmsg`, by processor. */
const SYSTEM_CALLS: Readonly<Record<string, readonly [number, number]>> = {
  x64: [308, 46],
  arm64: [268, 211],
};

/**
 * In perl, which can call the kernel; one process for each run, which forks for each namespace, since the way into one leads only
 * inwards. The sockets come as Node's own processes send them (`subprocess.send` with a handle). The way into the machine's own
 * namespace is refused by the kernel: that belongs to the user namespace in which the helper is.
 */
const HELPER = `
my ($setns, $sendmsg, $names, @ports) = map { $_ + 0 } @ARGV;
open my $runner, '+<&=', 3 or exit 1;
$SIG{CHLD} = 'IGNORE';
my $asked = '';
while (sysread $runner, $asked, 4096, length $asked) {
  while ($asked =~ s/^(.*)\\n//) {
    my ($id, $path) = $1 =~ m<^\\{"id":(\\d+),"path":"(/proc/\\d+/fd/\\d+)"\\}$> or next;
    my $child = fork;
    next if $child;
    syswrite $runner, qq({"id":$id}\\n) unless defined $child && enter($path) && all($id);
    exit if defined $child;
  }
}
# NS_GET_USERNS, CLONE_NEWUSER, CLONE_NEWNET.
sub enter {
  open my $net, '<', $_[0] or return 0;
  my $user = ioctl $net, 0xb701, 0 or return 0;
  return syscall($setns, $user + 0, 0x10000000) == 0 && syscall($setns, fileno $net, 0x40000000) == 0;
}
# AF_INET, SOCK_STREAM and SOCK_DGRAM. The interface may not be up yet: IP_FREEBIND.
sub all {
  for ((map { [1, $_, '"type":"net.Server"'] } @ports), [2, $names, '"type":"dgram.Socket","dgramType":"udp4"']) {
    my ($kind, $at, $type) = @$_;
    socket my $socket, 2, $kind, 0 or return 0;
    setsockopt $socket, 0, 15, pack 'i', 1 or return 0;
    bind $socket, pack 'S n C4 x8', 2, $at, 127, 0, 0, 1 or return 0;
    return 0 if $kind == 1 && !listen $socket, 512;
    give($socket, qq({"cmd":"NODE_HANDLE",$type,"msg":{"id":$_[0]}}\\n)) or return 0;
  }
  return 1;
}
# struct iovec, cmsghdr with SCM_RIGHTS, and msghdr.
sub give {
  my ($socket, $text) = @_;
  my $part = pack 'P Q', $text, length $text;
  my $rights = pack 'Q l l l x4', 20, 1, 1, fileno $socket;
  my $message = pack 'Q L x4 P Q P Q l x4', 0, 0, $part, 1, $rights, 24, 0;
  return syscall($sendmsg, fileno $runner, $message, 0) == length $text;
}
`;

type Handle = Server | NameServer | null | undefined;

interface Sockets {
  /** The proxy, and the services in their order. */
  readonly servers: readonly Server[];
  readonly names: NameServer;
}

/** Opens listeners in the network namespaces of one run's commands. */
export class Listeners {
  readonly #network: SandboxNetwork;
  readonly #helper: ChildProcess;
  readonly #waiting = new Map<number, (handle: Server | NameServer | null) => void>();
  #count = 0;

  /** Null where the helper cannot run: perl is missing, or the processor is another. */
  static start(network: SandboxNetwork): Listeners | null {
    const perl = findProgram('perl');
    const calls = SYSTEM_CALLS[arch];
    return perl === null || calls === undefined ? null : new Listeners(network, perl, calls);
  }

  private constructor(network: SandboxNetwork, perl: string, calls: readonly number[]) {
    this.#network = network;
    const ports = network.services.map(({ port }) => port);
    // In a session of its own, so that Ctrl-C does not end it before the commands. It ends with its channel, and that with us.
    this.#helper = spawn(perl, ['-e', HELPER, ...[...calls, NAMES_PORT, PROXY_PORT, ...ports].map(String)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
      detached: true,
    });
    this.#helper.unref();
    this.#helper.channel?.unref();
    this.#helper.on('error', () => undefined);
    this.#helper.on('message', (message, handle) =>
      this.#receive(message as { id: number }, handle as unknown as Handle),
    );
    this.#helper.once('disconnect', () => {
      for (const settle of this.#waiting.values()) settle(null);
    });
  }

  /**
   * Listens in the network namespace of a sandbox until the returned function is called. Null if that is impossible, or the sandbox
   * is gone.
   */
  async open(init: ProcessId): Promise<(() => void) | null> {
    let descriptor: number;
    try {
      descriptor = openSync(`/proc/${init.pid}/ns/net`, 'r');
    } catch {
      return null;
    }
    try {
      // Otherwise it may be that of a later process with the same number.
      const found = isAlive(init) ? await this.#ask(`/proc/${pid}/fd/${descriptor}`) : null;
      return found && this.#serve(found);
    } finally {
      closeSync(descriptor);
    }
  }

  close(): void {
    if (this.#helper.connected) this.#helper.disconnect();
  }

  async #ask(path: string): Promise<Sockets | null> {
    if (!this.#helper.connected) return null;
    const id = this.#count++;
    const servers: Server[] = [];
    const answered = new Promise<Sockets | null>((settle) => {
      this.#waiting.set(id, (handle) => {
        // The name server comes last.
        if (handle === null) settle(null);
        else if (servers.length <= this.#network.services.length) servers.push(handle as Server);
        else settle({ servers, names: handle as NameServer });
      });
      this.#helper.send({ id, path }, (error) => error && settle(null));
    });
    const found = await withTimeout(OPEN_MS, answered);
    this.#waiting.delete(id);
    if (found === null) for (const server of servers) server.close();
    return found;
  }

  #receive({ id }: { id: number }, handle: Handle): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) handle?.close();
    else waiting(handle ?? null);
  }

  #serve({ servers, names }: Sockets): () => void {
    const connections = new Set<Socket>();
    for (const [at, server] of servers.entries()) {
      const service = at === 0 ? undefined : this.#network.services[at - 1];
      // A tunnel may be closed in one direction.
      Object.assign(server, { allowHalfOpen: true, maxConnections: MOST_CONNECTIONS });
      server.on('connection', (connection: Socket) => {
        connections.add(connection);
        connection.once('close', () => connections.delete(connection));
        if (service === undefined) this.#network.accept(connection);
        else this.#network.reach(service, connection);
      });
    }
    const asked = new Set<string>();
    names.on('message', (query, { port, address }) => {
      const { name, answer } = answerTo(query);
      // Known before the program has its answer, and so before the command ends.
      if (name !== null && !asked.has(name) && asked.size < MOST_NAMES) {
        asked.add(name);
        this.#network.lookedUp(name);
      }
      if (answer !== null && names.getSendQueueCount() < MOST_ANSWERS)
        names.send(answer, port, address, () => undefined);
    });
    for (const one of [...servers, names]) one.unref().on('error', () => undefined);
    return () => {
      for (const server of servers) server.close();
      names.close();
      for (const connection of connections) connection.destroy();
    };
  }
}

/** The final answer that there is no such name, and the name if it is one; no answer to what is no question. */
export function answerTo(query: Buffer): { name: string | null; answer: Buffer | null } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    if (length > 63) return { name: null, answer: null };
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  // The question ends with its type and class.
  if (query.length < at + 5) return { name: null, answer: null };
  const flags = [0x80 | ((query[2] ?? 0) & 0x79), 0x83];
  const head = [query[0] ?? 0, query[1] ?? 0, ...flags, 0, 1, 0, 0, 0, 0, 0, 0];
  const name = labels.join('.').toLowerCase();
  return {
    name: /^[a-z0-9.-]{1,253}$/.test(name) ? name : null,
    answer: Buffer.concat([Buffer.from(head), query.subarray(12, at + 5)]),
  };
}
