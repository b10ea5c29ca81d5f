/** What the system call filter keeps real programs from, and what it lets them do. */

import { arch } from 'node:process';
import { expect, test } from 'vitest';
import { numberOf, type SystemCall } from '../../../src/adapters/sandboxes/bubblewrap/filter/system-calls.ts';
import { makePlace, open, versionOutside } from './fixture.ts';

const here = arch === 'arm64' ? 'arm64' : 'x64';
const hasPython = versionOutside('python3 --version') !== null;

/** The error number of each call, made with these arguments; 0 when it went well. */
function calls(list: readonly (readonly [SystemCall, ...number[]])[]): string {
  const lines = list.map(([call, ...args]) => {
    const numbers = [numberOf(call, here), ...args].join(', ');
    return `$! = 0; my $r = syscall(${numbers}); print "${call} ", ($r == -1 ? $!+0 : 0), "\\n";`;
  });
  return `perl -e '${lines.map((line) => `{ ${line} }`).join(' ')}'`;
}

test('the calls that reach past the namespaces are refused', async () => {
  const { sandbox, text } = await open(makePlace(), 'required');
  expect(sandbox.level).toBe('namespaces+seccomp');
  const refused: SystemCall[] = [
    'add_key',
    'request_key',
    'keyctl',
    'io_uring_setup',
    'io_uring_enter',
    'io_uring_register',
    'userfaultfd',
    'memfd_secret',
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
    'fsopen',
    'fsconfig',
    'fsmount',
    'fspick',
    'setns',
    'syslog',
    'kexec_load',
  ];
  const said = await text(calls(refused.map((call) => [call, 0, 0, 0, 0, 0])));
  expect(said).toBe(refused.map((call) => `${call} 1\n`).join(''));
});

test('namespaces cannot be created, and clone3 is missing', async () => {
  const { text } = await open(makePlace(), 'required');
  const USER = 0x10000000;
  const said = await text(
    calls([
      ['unshare', USER],
      ['clone', USER | 17, 0, 0, 0, 0],
      ['clone3', 0, 0],
    ]),
  );
  expect(said).toBe('unshare 1\nclone 1\nclone3 38\n');
});

test('sockets are of four families', async () => {
  const { text } = await open(makePlace(), 'required');
  const STREAM = 1;
  // UNIX, INET, INET6 and NETLINK (raw); then PACKET, ALG and VSOCK
  const families = [
    [1, STREAM],
    [2, STREAM],
    [10, STREAM],
    [16, 3],
    [17, 3],
    [38, 5],
    [40, STREAM],
  ] as const;
  const said = await text(calls(families.map(([family, type]) => ['socket', family, type, 0])));
  expect(said).toBe(['0', '0', '0', '0', '97', '97', '97'].map((errno) => `socket ${errno}\n`).join(''));
});

test('node, its threads, children and loopback sockets work', async () => {
  const { text } = await open(makePlace(), 'required');
  const program = `
    const { Worker } = require("worker_threads");
    const { execFileSync } = require("child_process");
    const net = require("net");
    require("fs").promises.readFile("hello.txt").then(() => {
      const server = net.createServer((socket) => socket.end("loop")).listen(0, "127.0.0.1", () => {
        net.connect(server.address().port, "127.0.0.1").on("data", (data) => {
          server.close();
          const worker = new Worker("require(\\"worker_threads\\").parentPort.postMessage(1)", { eval: true });
          worker.on("message", () => console.log(String(data), execFileSync("echo", ["child"]).toString().trim()));
        });
      });
    });`;
  expect(await text(`node -e '${program}'`)).toBe('loop child\n');
});

test.runIf(hasPython)('python, its threads, processes and sockets work', async () => {
  const { text } = await open(makePlace(), 'required');
  const program = `
import threading, multiprocessing, subprocess, socket
said = []
thread = threading.Thread(target=lambda: said.append("thread")); thread.start(); thread.join()
child = multiprocessing.Process(target=lambda: None); child.start(); child.join(); said.append(str(child.exitcode))
said.append(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout.strip())
a, b = socket.socketpair(); a.send(b"pair"); said.append(b.recv(4).decode())
print(*said)`;
  expect(await text(`python3 -c '${program}'`)).toBe('thread 0 child pair\n');
});
