/** A proxy that breaks off, stalls or sends what is not HTTP: requests to the model end with a clear reason, in time. */

import { existsSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { sampled } from '../../support/setup/sample.ts';

const TUNNEL = 'HTTP/1.1 200 Connection established\r\n\r\n';
const HELLO = Buffer.from([22, 3, 3, 0, 122, 2, 0, 0, 118, 3, 3]);

/** Repeats a text until the other side has gone. */
function endlessly(socket: Socket, text: string): void {
  if (!socket.destroyed) socket.write(text, () => setImmediate(() => endlessly(socket, text)));
}

/** What it does when it is asked, and with a tunnel, when the client has said hello. */
const FAULTS: Readonly<Record<string, (socket: Socket) => void>> = {
  garbage: (socket) => socket.end(Buffer.from([0, 1, 255, 13, 10, 13, 10])),
  'half a status line': (socket) => socket.end('HTTP/1.1 20'),
  'half a status line, and silence': (socket) => socket.write('HTTP/1.1 20'),
  'endless headers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    endlessly(socket, `X-A: ${'x'.repeat(8_000)}\r\n`);
  },
  'endless early answers': (socket) => endlessly(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  'an impossible status': (socket) => socket.end('HTTP/1.1 000 No\r\n\r\n'),
  'a switch of protocols': (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n'),
  silence: () => {},
  'an endless refusal': (socket) => {
    socket.write('HTTP/1.1 502 Bad\r\n\r\n');
    endlessly(socket, 'x'.repeat(8_000));
  },
  'a refusal that stalls': (socket) => socket.write('HTTP/1.1 502 Bad\r\nContent-Length: 99\r\n\r\nGone'),
};
const IN_TUNNEL: typeof FAULTS = {
  'no TLS': (socket) => socket.end('hello\n'),
  'half of TLS': (socket) => socket.end(HELLO),
  'half of TLS, and silence': (socket) => socket.write(HELLO),
  'a reset': (socket) => socket.resetAndDestroy(),
};

const CASES = [
  ...Object.entries(FAULTS).flatMap(([name, fault]) => [
    { name, fault, variable: 'HTTP_PROXY', isInTunnel: false },
    { name, fault, variable: 'HTTPS_PROXY', isInTunnel: false },
  ]),
  ...Object.entries(IN_TUNNEL).map(([name, fault]) => ({
    name,
    variable: 'HTTPS_PROXY',
    isInTunnel: true,
    fault: (socket: Socket) => {
      socket.write(TUNNEL);
      socket.once('data', () => fault(socket));
    },
  })),
];

/** By day one of each: what ends, what is silent and what never ends, before a tunnel and in it. */
const kindOf = ({ name, isInTunnel }: { name: string; isInTunnel: boolean }) =>
  `${/endless|silence|stalls/.exec(name)?.[0].replace('stalls', 'silence') ?? 'end'} ${isInTunnel}`;

test.each(sampled(CASES, kindOf))('$name by way of $variable', async ({ fault, variable }) => {
  const proxy = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => fault(socket));
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void proxy.close());
  const address = proxy.address();
  const port = typeof address === 'object' ? address?.port : null;
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const runDir = join(temporaryFolder(), 'run');
  const url = variable === 'HTTP_PROXY' ? 'http://model.example.test' : 'https://model.example.test';
  const { exitCode, stdout, stderr } = await runCli(
    [
      ...['run', '-m', 'x', '--sandbox', 'off', '--output', 'json', '--run-dir', runDir],
      ...['--base-url', url, '--allow-insecure-base-url', '--idle-timeout', '1s', '--outage-wait', '1s'],
    ],
    {
      cwd: root,
      env: { [variable]: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef' },
    },
  );
  const document = JSON.parse(stdout);
  expect([exitCode, document.errorCode], stderr).toEqual([4, 'ERR_PROVIDER_OUTAGE']);
  // Neither a message of an aborted read, nor one that was made from the text of the bundle.
  expect(document.reason).toMatch(/^(?:No connection: (?!.* == |.*\.c:\d)|502: )(?!.*aborted)/);
  expect(existsSync(join(runDir, 'scratch'))).toBe(false);
});
