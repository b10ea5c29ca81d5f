/** Ways to send something out, or to reach a service of the machine. */

import { type Attack, OPEN_WITHOUT_SANDBOX, type Stage } from '../attack.ts';
import { shell, toHear, toSend } from '../goals.ts';
import type { Hold } from '../held-by.ts';
import type { Listeners } from '../listeners.ts';

/** The command sends the word `arrived-by-<id>`, once and in any way. */
function attack(
  id: string,
  what: string,
  command: (to: Listeners, word: string) => string,
  expected: Attack['expected'] = OPEN_WITHOUT_SANDBOX,
  heldBy: readonly Hold[] = ['network'],
): Attack {
  const word = `arrived-by-${id}`;
  return {
    id: `network-${id}`,
    category: 'Network',
    what,
    does: ({ listeners }) => shell(command(listeners, word)),
    goal: toSend(word),
    heldBy,
    expected,
  };
}

function hears(
  id: string,
  what: string,
  command: string,
  word: string,
  hold: Hold,
  expected: Attack['expected'] = UNTRIED_WITHOUT,
): Attack {
  return {
    id: `network-${id}`,
    category: 'Network',
    what,
    does: () => shell(command),
    goal: toHear(word),
    heldBy: [hold],
    expected,
  };
}

/** Depends on the machine. */
const UNTRIED_WITHOUT = { none: 'untried' } as const;

const perl = (program: string) => `perl -MSocket -e '${program}'`;

export const NETWORK: Stage = {
  name: 'network',
  together: 6,
  env: ({ listeners }) => ({
    http_proxy: `http://127.0.0.1:${listeners.port}`,
    HTTPS_PROXY: `http://127.0.0.1:${listeners.port}`,
  }),
  attacks: [
    attack(
      'shell',
      "A service on loopback, by the shell's own sockets",
      ({ port }, word) => `echo ${word} > /dev/tcp/127.0.0.1/${port}`,
    ),
    attack(
      'curl',
      'A service on loopback, by curl without a proxy',
      ({ port }, word) => `curl -s -m 3 --noproxy '*' http://127.0.0.1:${port}/${word}`,
    ),
    attack(
      'name',
      'A service on loopback, by the name localhost',
      ({ port }, word) => `curl -s -m 3 --noproxy '*' http://localhost:${port}/${word}`,
    ),
    attack(
      'number',
      'A service on loopback, by an address in one number',
      ({ port }, word) => `curl -s -m 3 --noproxy '*' http://2130706433:${port}/${word}`,
    ),
    attack(
      'any',
      'A service on loopback, by the address 0.0.0.0',
      ({ port }, word) => `echo ${word} > /dev/tcp/0.0.0.0/${port}`,
    ),
    attack(
      'mapped',
      'A service on loopback, by an IPv4 address in IPv6',
      ({ port }, word) => `curl -s -m 3 --noproxy '*' 'http://[::ffff:127.0.0.1]:${port}/${word}'`,
    ),
    attack(
      'userinfo',
      'A service on loopback, behind a user name that looks like another host',
      ({ port }, word) => `curl -s -m 3 --noproxy '*' http://registry.npmjs.org@127.0.0.1:${port}/${word}`,
    ),
    attack(
      'node',
      'A raw socket of Node.js',
      ({ port }, word) =>
        `node -e 'require("net").connect(${port}, "127.0.0.1").on("error", () => {}).end("${word}")'`,
    ),
    attack('perl', 'A raw socket of another language', ({ port }, word) =>
      perl(
        `socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in(${port}, inet_aton("127.0.0.1"))) && syswrite(S, "${word}")`,
      ),
    ),
    attack('datagram', 'A datagram', ({ port }, word) => `echo ${word} > /dev/udp/127.0.0.1/${port}`),
    attack(
      'socket',
      'A Unix socket of the machine',
      ({ socket }, word) => `curl -s -m 3 --unix-socket ${socket} http://x/${word}`,
      OPEN_WITHOUT_SANDBOX,
      ['mounts'],
    ),
    attack(
      'socket-link',
      'The same through a link in the work tree, by a relative path',
      ({ socket }, word) =>
        `ln -s ${socket} linked; curl -s -m 3 --unix-socket linked http://x/${word}; rm linked`,
      OPEN_WITHOUT_SANDBOX,
      ['mounts'],
    ),
    attack('fast-open', 'A connection that is made by sending (TCP Fast Open)', ({ port }, word) =>
      perl(
        `socket(S, PF_INET, SOCK_STREAM, 0) && send(S, "${word}", 0x20000000, sockaddr_in(${port}, inet_aton("127.0.0.1")))`,
      ),
    ),
    attack(
      'multipath',
      'Multipath TCP',
      ({ port }, word) =>
        perl(
          `socket(S, PF_INET, SOCK_STREAM, 262) && connect(S, sockaddr_in(${port}, inet_aton("127.0.0.1"))) && syswrite(S, "${word}")`,
        ),
      UNTRIED_WITHOUT,
    ),
    attack(
      'beside',
      'A service whose port the command listens on as well, at another address',
      ({ port }, word) =>
        perl(
          `socket(L, PF_INET, SOCK_STREAM, 0) && bind(L, sockaddr_in(${port}, inet_aton("127.0.0.2"))) && listen(L, 1); socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in(${port}, inet_aton("127.0.0.1"))) && syswrite(S, "${word}")`,
        ),
    ),
    attack('abstract', 'An abstract Unix socket, such as those of D-Bus and X', ({ abstract }, word) =>
      perl(
        // Older versions of Node.js fill the name of the listener up to its 108 bytes.
        `for my $form ("a108", "a*") { socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack("S $form", PF_UNIX, "\\0${abstract}")) && syswrite(S, "${word}") }`,
      ),
    ),
    attack(
      'git',
      'git, asked to fetch',
      ({ port }, word) => `git ls-remote http://127.0.0.1:${port}/${word}`,
    ),
    attack(
      'proxy',
      'The proxy of the runner',
      ({ port }, word) =>
        `curl -s -m 3 $http_proxy/${word}; curl -s -m 3 "$HTTPS_PROXY/${word}"; true ${port}`,
      {},
      ['network', 'environment'],
    ),
    {
      ...attack('background', 'A process that waits until its command has ended', () => '', {}, [
        'network',
        'processes',
      ]),
      does: ({ listeners: { port } }) => [
        ...shell(
          `(setsid sh -c 'sleep 3; echo arrived-by-background | curl -s -m 3 --noproxy "*" -d @- http://127.0.0.1:${port}/' > /dev/null 2>&1 &)`,
        ),
        ...shell('sleep 5'),
      ],
    },
    hears(
      'dns',
      'Names resolved by the machine',
      'node -e \'require("dns").lookup("registry.npmjs.org", (e) => console.log(e ? "refused" : "was looked up"))\'',
      'was looked up',
      'network',
    ),
    hears(
      'metadata',
      "The cloud's metadata service",
      "curl -s -m 2 --noproxy '*' http://169.254.169.254/ && echo was reached; (echo x > /dev/tcp/169.254.169.254/80) 2>/dev/null && echo was reached",
      'was reached',
      'network',
    ),
    hears(
      'interfaces',
      'Interfaces of the machine',
      'awk \'NR > 2 && $1 != "lo:" { print "interface seen" }\' /proc/net/dev',
      'interface seen',
      'network',
      { ...UNTRIED_WITHOUT, landlock: 'open' },
    ),
    hears(
      'configure',
      'A new route or interface',
      'ip link add x type dummy && echo was made; ip addr add 10.0.0.1/8 dev lo && echo was made; ip route add default dev lo && echo was made',
      'was made',
      'user',
    ),
    hears(
      'packets',
      'Raw packets',
      perl(
        'socket(S, PF_INET, SOCK_RAW, 1) and print "socket was opened\\n"; socket(P, 17, SOCK_RAW, 768) and print "socket was opened\\n"',
      ),
      'socket was opened',
      'user',
    ),
    hears(
      'vsock',
      'A socket to the hypervisor',
      perl('socket(S, 40, SOCK_STREAM, 0) and print "socket was opened\\n"'),
      'socket was opened',
      'filter',
      // No namespace holds it: where the kernel has such sockets, only the filter refuses them.
      { ...UNTRIED_WITHOUT, unfiltered: 'untried' },
    ),
  ],
};
