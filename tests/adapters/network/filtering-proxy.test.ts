import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { GateOptions } from '../../../src/adapters/network/gate.ts';
import { listening } from '../../support/http/listening.ts';
import { type Counting, served } from './served.ts';

/**
 * Real sockets throughout. Hosts of the tests are on loopback, which no host may be; so names are looked up in a table here
 * and loopback is allowed, and what the proxy makes of real names and addresses has its own tests below.
 */
function open(options: GateOptions) {
  return served({
    resolve: async () => ['127.0.0.1'],
    mayConnect: (address) => address === '127.0.0.1',
    ...options,
  });
}

/** The hosts that were refused, without the reasons. */
const counted = ({ refused }: Counting) => refused().map(({ host, times }) => ({ host, times }));

/** Everything that comes back for some bytes, to the end of the connection. */
async function say(socketPath: string, bytes: string | Buffer): Promise<string> {
  const socket = connect(socketPath);
  socket.on('error', () => socket.destroy());
  socket.write(bytes);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'close');
  return text;
}

/** An HTTP server that tells what it got. */
async function origin(): Promise<{ port: number; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer(async (incoming, response) => {
    seen.push(incoming);
    let body = '';
    for await (const chunk of incoming) body += chunk;
    response.writeHead(200, { 'content-type': 'text/plain', 'x-origin': 'yes', 'keep-alive': 'timeout=5' });
    response.end(`${incoming.method} ${incoming.url} ${body}`);
  });
  return { port: await listening(server), seen };
}

/** A server that keeps what it is sent, and answers when it has a body of an empty line at the end. */
async function rawOrigin(): Promise<{ port: number; text: () => string }> {
  let text = '';
  const server = createTcpServer((socket) => {
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const end = /^Transfer-Encoding: chunked/m.test(text) ? '\r\n0\r\n\r\n' : '\r\n\r\n';
      if (text.includes('smuggled') && text.endsWith(end))
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  return { port: await listening(server), text: () => text };
}

const PSK = { psk: Buffer.from('0123456789abcdef'), identity: 'test' };

/** A TLS server that needs no certificate; the proxy reaches it for port 443 of any host. */
async function tlsOrigin(): Promise<{ connect: () => Socket; count: () => number }> {
  let connections = 0;
  const server = createTlsServer(
    { ciphers: 'PSK', maxVersion: 'TLSv1.2', pskCallback: () => PSK.psk },
    (socket) => socket.pipe(socket),
  );
  server.on('connection', () => {
    connections += 1;
  });
  server.on('tlsClientError', () => {});
  const port = await listening(server);
  return { connect: () => connect(port, '127.0.0.1'), count: () => connections };
}

async function tunnelled(socketPath: string, authority: string): Promise<Socket> {
  const asking = request({ socketPath, method: 'CONNECT', path: authority });
  asking.end();
  const [, socket] = await once(asking, 'connect');
  return socket;
}

function secured(socket: Socket, servername: string): TLSSocket {
  const client = connectTls({
    socket,
    servername,
    ciphers: 'PSK',
    maxVersion: 'TLSv1.2',
    pskCallback: () => PSK,
    checkServerIdentity: () => undefined,
  });
  client.on('error', () => client.destroy());
  return client;
}

const get = (url: string, more = '') =>
  `GET ${url} HTTP/1.1\r\nHost: other.example\r\n${more}Connection: close\r\n\r\n`;

describe('plain HTTP', () => {
  test('reaches a host on the list, under its own name and without what is meant for the proxy', async () => {
    const { port, seen } = await origin();
    const proxy = await open({ allowed: [`good.example:${port}`] });
    const extra = 'Proxy-Authorization: Basic eA==\r\nX-Kept: 1\r\nX-Named: 2\r\n';
    const text = await say(
      proxy.socket,
      get(`http://good.example:${port}/a?b=c`, extra).replace('close', 'close, x-named'),
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toContain('GET /a?b=c ');
    expect(seen.map(({ headers }) => headers)).toEqual([
      { host: `good.example:${port}`, 'x-kept': '1', connection: 'close' },
    ]);
    expect(proxy.refused()).toEqual([]);
  });

  test('carries bodies of a known and of an unknown length', async () => {
    const { port } = await origin();
    const proxy = await open({ allowed: [`good.example:${port}`] });
    const url = `http://good.example:${port}/`;
    const head = `POST ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    expect(await say(proxy.socket, `${head}Content-Length: 5\r\n\r\nhello`)).toContain('POST / hello');
    expect(
      await say(proxy.socket, `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`),
    ).toContain('POST / hello');
  });

  test.each([
    ['GET', 'Transfer-Encoding: chunked\r\nConnection: close\r\n'],
    ['DELETE', 'Transfer-Encoding: chunked\r\nConnection: close\r\n'],
    ['OPTIONS', 'Transfer-Encoding: chunked\r\nConnection: transfer-encoding, close\r\n'],
    ['GET', 'Content-Length: LENGTH\r\nConnection: content-length, close\r\n'],
    ['POST', 'Content-Length: LENGTH\r\nConnection: content-length, close\r\n'],
  ])('the body of a request stays one: %s with %j', async (method, headers) => {
    const received = await rawOrigin();
    const proxy = await open({ allowed: [`good.example:${received.port}`] });
    const body = 'GET / HTTP/1.1\r\nHost: smuggled.example\r\n\r\n';
    const sent = headers.includes('chunked') ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
    const head = `${method} http://good.example:${received.port}/ HTTP/1.1\r\nHost: x\r\n`;
    await say(proxy.socket, `${head}${headers.replace('LENGTH', String(body.length))}\r\n${sent}`);
    const [fields = '', ...rest] = received.text().split('\r\n\r\n');
    const isChunked = fields.includes('Transfer-Encoding: chunked');
    expect(rest.join('\r\n\r\n')).toBe(isChunked ? sent : body);
    if (!isChunked) expect(fields).toContain(`Content-Length: ${body.length}`);
  });

  test('ends when the host switches to another protocol, for which no one has asked', async () => {
    const server = createTcpServer((socket) => {
      socket.on('data', () =>
        socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      );
    });
    const port = await listening(server);
    const proxy = await open({ allowed: [`good.example:${port}`] });
    expect(await say(proxy.socket, get(`http://good.example:${port}/`))).toMatch(/^HTTP\/1\.1 502 /);
  });

  test.each([
    ['two lengths', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
    ['two different lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
    ['a hidden encoding', 'Transfer-Encoding : chunked\r\n'],
    [
      'a folded encoding',
      'X: y\r\n Transfer-Encoding: chunked\r\nTransfer-Encoding: xchunked\r\nContent-Length: 1\r\n',
    ],
    ['a NUL in a header', 'X: a\0b\r\n'],
    ['headers over 16 KiB', `X: ${'a'.repeat(17_000)}\r\n`],
    ['thousands of headers', 'X-Y: z\r\n'.repeat(4_000)],
  ])('never reaches a host with %s', async (_what, headers) => {
    const { port, seen } = await origin();
    const proxy = await open({ allowed: [`good.example:${port}`] });
    const url = `http://good.example:${port}/`;
    const smuggled = `0\r\n\r\nGET ${url}smuggled HTTP/1.1\r\nHost: x\r\n\r\n`;
    const text = await say(proxy.socket, `POST ${url} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${smuggled}`);
    expect(text).toMatch(/^HTTP\/1\.1 400 Refused by the sandbox/);
    expect(seen).toEqual([]);
  });

  test('is refused with the reason in the status line and in the body, and counted', async () => {
    const { port, seen } = await origin();
    const proxy = await open({ allowed: ['good.example'] });
    const why = `evil.example:${port} is not one of the allowed domains (good.example); to allow it: --allow-domain evil.example:${port}`;
    const reason = `Refused by the sandbox: ${why}`;
    const text = await say(proxy.socket, get(`http://evil.example:${port}/`));
    expect(text.startsWith(`HTTP/1.1 403 ${reason}\r\n`), text).toBe(true);
    expect(text.split('\r\n\r\n')[1]).toContain(reason);
    await say(proxy.socket, get(`http://evil.example:${port}/again`));
    const allow = `--allow-domain evil.example:${port}`;
    expect(proxy.refused()).toEqual([{ host: `evil.example:${port}`, times: 2, why, allow }]);
    expect(seen).toEqual([]);
  });

  test.each([
    '/',
    'https://good.example/',
    'ftp://good.example/',
    'http:/good.example/',
    'good.example',
    '*',
  ])('is not understood for %s', async (url) => {
    const proxy = await open({ allowed: ['good.example'] });
    expect(await say(proxy.socket, get(url))).toMatch(/^HTTP\/1\.1 400 Refused by the sandbox/);
  });

  test.each([
    'http://good.example:443/',
    'http://good.example@evil.example/',
    'http://good.example./',
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://0x7f000001/',
    'http://good.example%00.evil.example/',
  ])('is refused for %s', async (url) => {
    const proxy = await open({ allowed: ['good.example'] });
    expect(await say(proxy.socket, get(url))).toMatch(/^HTTP\/1\.1 403 Refused by the sandbox/);
    expect(proxy.refused()).toHaveLength(1);
  });
});

describe('a tunnel', () => {
  test('carries TLS only to the requested host', async () => {
    const { connect } = await tlsOrigin();
    const proxy = await open({ allowed: ['*.good.example'], connect });
    const client = secured(await tunnelled(proxy.socket, 'a.good.example:443'), 'a.good.example');
    client.end('through');
    const [echo] = await once(client, 'data');
    expect(String(echo)).toBe('through');
    expect(proxy.refused()).toEqual([]);
  });

  test('to one host does not carry TLS to another one, nor anything else', async () => {
    const { connect, count } = await tlsOrigin();
    const proxy = await open({ allowed: ['good.example', '*.good.example'], connect });
    for (const servername of ['evil.example', 'other.good.example']) {
      const client = secured(await tunnelled(proxy.socket, 'good.example:443'), servername);
      await expect(once(client, 'secureConnect')).rejects.toThrow('access denied');
    }
    const head = 'CONNECT good.example:443 HTTP/1.1\r\nHost: good.example\r\n\r\n';
    const text = await say(proxy.socket, `${head}GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
    expect(text).toBe('HTTP/1.1 200 Connection established\r\n\r\n\x15\x03\x03\x00\x02\x02\x31');
    expect(counted(proxy)).toEqual([
      { host: 'evil.example', times: 1 },
      { host: 'other.good.example', times: 1 },
      { host: 'good.example', times: 1 },
    ]);
    expect(count()).toBe(3);
  });

  test('to a port that is listed carries whatever it is given, and half a close', async () => {
    const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('end', () => socket.end(`got ${text}`));
    });
    const port = await listening(server);
    const proxy = await open({ allowed: [`good.example:${port}`] });
    const socket = connect({ path: proxy.socket, allowHalfOpen: true });
    socket.end(`CONNECT good.example:${port} HTTP/1.1\r\nHost: x\r\n\r\nSSH-2.0-test\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toBe('HTTP/1.1 200 Connection established\r\n\r\ngot SSH-2.0-test\r\n');
  });

  test.each([
    ['another host', 'evil.example:443', 403],
    ['another port', 'good.example:22', 403],
    ['plain HTTP, where nobody would see the host', 'good.example:80', 403],
    ['an address', '127.0.0.1:443', 403],
    ['an IPv6 address', '[::1]:443', 403],
    ['a mapped address', '[::ffff:7f00:1]:443', 403],
    ['a decimal address', '2130706433:443', 403],
    ['an octal address', '0177.0.0.1:443', 403],
    ['the metadata address', '169.254.169.254:80', 403],
    ['a user', 'good.example:443@evil.example:443', 403],
    ['a trailing dot', 'good.example.:443', 403],
    ['a trailing NUL', 'good.example%00:443', 403],
    ['a scheme', 'https://good.example:443', 403],
    ['no port', 'good.example', 403],
  ])('is refused to %s', async (_what, authority, code) => {
    const { connect, count } = await tlsOrigin();
    const proxy = await open({ allowed: ['good.example'], connect });
    const text = await say(proxy.socket, `CONNECT ${authority} HTTP/1.1\r\nHost: good.example\r\n\r\n`);
    expect(text.split(' ')[1]).toBe(String(code));
    expect(text).toContain('Refused by the sandbox: ');
    expect(count()).toBe(0);
    expect(proxy.refused()).toHaveLength(1);
  });

  test.each([
    'CONNECT good.example:443\0.evil.example:443 HTTP/1.1',
    'CONNECT good.example:443 evil.example:443 HTTP/1.1',
    'CONNECT  HTTP/1.1',
    '\x05\x01\x00',
    '\x16\x03\x01\x00\x05hello',
  ])('is not made for an invalid request: %j', async (line) => {
    const proxy = await open({ allowed: ['good.example'] });
    expect(await say(proxy.socket, `${line}\r\nHost: x\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 40[03] Refused by the sandbox/,
    );
  });

  test('with a body is refused', async () => {
    const proxy = await open({ allowed: ['good.example'] });
    const text = await say(
      proxy.socket,
      'CONNECT good.example:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello',
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 Refused by the sandbox: good.example:443: CONNECT takes no body/);
  });
});

describe('addresses', () => {
  test('a name is looked up once, and the connection goes where the check has looked', async () => {
    const { port, seen } = await origin();
    const asked: string[] = [];
    const proxy = await open({
      allowed: [`good.example:${port}`],
      // A name server that answers something else the second time.
      resolve: async (host) => {
        asked.push(host);
        return asked.length === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
      },
    });
    expect(await say(proxy.socket, get(`http://good.example:${port}/`))).toContain('200 OK');
    expect(asked).toEqual(['good.example']);
    expect(seen).toHaveLength(1);
  });

  test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00:ec2::254'])(
    'a host on the list that leads to %s is refused',
    async (address) => {
      const proxy = await served({
        allowed: ['good.example'],
        resolve: async () => [address],
      });
      const text = await say(proxy.socket, 'CONNECT good.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(text).toContain(
        `HTTP/1.1 403 Refused by the sandbox: good.example: it resolves to ${address}: `,
      );
      expect(counted(proxy)).toEqual([{ host: 'good.example', times: 1 }]);
    },
  );

  describe('of a host that is allowed in a private network', () => {
    /** Asks for a tunnel to `host`, which has these addresses, and tells which of them were tried. */
    async function ask(host: string, addresses: string[], more: Partial<GateOptions> = {}) {
      const tried: (readonly string[])[] = [];
      const dead = await listening(createTcpServer((socket) => socket.destroy()));
      const proxy = await served({
        allowed: ['*.corp.example'],
        privateHosts: ['registry:4873', 'nexus.corp.example'],
        resolve: async () => addresses,
        connect: (passed) => {
          tried.push(passed.addresses);
          return connect(dead, '127.0.0.1');
        },
        ...more,
      });
      const socket = connect(proxy.socket);
      socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const [bytes] = await once(socket, 'data');
      socket.destroy();
      return { line: String(bytes).split('\r\n')[0] ?? '', tried, refused: proxy.refused() };
    }

    test.each([
      ['registry:4873', ['10.1.2.3'], ['10.1.2.3']],
      ['nexus.corp.example:443', ['192.168.7.7', 'fd12:3456::1'], ['192.168.7.7', 'fd12:3456::1']],
      ['nexus.corp.example:443', ['10.0.0.9', '169.254.169.254', '127.0.0.1'], ['10.0.0.9']],
      ['nexus.corp.example:443', ['93.184.216.34'], ['93.184.216.34']],
    ])('%s at %j may be reached at %j', async (host, addresses, expected) => {
      expect((await ask(host, addresses)).tried).toEqual([expected]);
    });

    test.each([
      ['169.254.169.254', 'an address at which clouds serve credentials, which is never allowed'],
      ['fd00:ec2::254', 'an address at which clouds serve credentials, which is never allowed'],
      ['fd20:ce::254', 'an address at which clouds serve credentials, which is never allowed'],
      ['100.100.100.200', 'an address at which clouds serve credentials, which is never allowed'],
      ['168.63.129.16', 'an address at which clouds serve credentials, which is never allowed'],
      ['fe80::1', 'an address at which clouds serve credentials, which is never allowed'],
      ['127.0.0.1', 'this machine, which is never allowed'],
      ['::1', 'this machine, which is never allowed'],
      ['::ffff:10.0.0.1', 'not an address that a host can have'],
      ['224.0.0.1', 'not an address that a host can have'],
    ])('is not reached at %s', async (address, meaning) => {
      const { line, tried, refused } = await ask('registry:4873', [address]);
      expect(line).toBe(
        `HTTP/1.1 403 Refused by the sandbox: registry: it resolves to ${address}: ${meaning}`,
      );
      expect([tried, refused[0]?.allow]).toEqual([[], null]);
    });

    test('is not asked of a proxy of the machine, which would look its name up again', async () => {
      const upstream = { routeTo: () => new URL('http://127.0.0.1:9') };
      expect((await ask('nexus.corp.example:443', ['10.0.0.9'], { upstream })).tried).toEqual([['10.0.0.9']]);
      expect((await ask('nexus.corp.example:443', ['169.254.169.254'], { upstream })).tried).toEqual([]);
    });

    test('opens no other port, no other host, and no host that is allowed for the internet only', async () => {
      expect((await ask('registry:443', ['10.1.2.3'])).refused[0]?.allow).toBe('--allow-private registry');
      expect((await ask('other:4873', ['10.1.2.3'])).tried).toEqual([]);
      expect((await ask('a.nexus.corp.example:443', ['10.1.2.3'])).refused).toEqual([
        {
          host: 'a.nexus.corp.example',
          times: 1,
          why: 'a.nexus.corp.example: it resolves to 10.1.2.3: an address in a private network; to allow it: --allow-private a.nexus.corp.example',
          allow: '--allow-private a.nexus.corp.example',
        },
      ]);
    });
  });

  test('the name of a host that is not on the list is never looked up', async () => {
    const asked: string[] = [];
    const proxy = await open({
      allowed: ['good.example'],
      resolve: async (host) => {
        asked.push(host);
        return ['127.0.0.1'];
      },
    });
    await say(proxy.socket, 'CONNECT secret-data.evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    await say(proxy.socket, get('http://secret-data.evil.example/'));
    expect(asked).toEqual([]);
  });

  test('an unresolvable or silent host is reported as such, not as a refusal', async () => {
    const server = createTcpServer();
    const port = await listening(server);
    server.close();
    const proxy = await open({
      allowed: ['none.example', `dead.example:${port}`],
      resolve: async (host) => {
        if (host === 'none.example') throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
        return ['127.0.0.1'];
      },
    });
    const none = await say(proxy.socket, 'CONNECT none.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(none).toMatch(/^HTTP\/1\.1 502 Refused by the sandbox: none.example has no address \(ENOTFOUND\)/);
    const dead = `dead.example:${port}`;
    expect(await say(proxy.socket, `CONNECT ${dead} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 502 .*ECONNREFUSED/,
    );
    expect(await say(proxy.socket, get(`http://${dead}/`))).toMatch(/^HTTP\/1\.1 502 .*ECONNREFUSED/);
    expect(proxy.refused()).toEqual([]);
  });
});

test('counted hosts stay short and plain, however many are requested', async () => {
  const proxy = await open({ allowed: ['good.example'] });
  const ask = (host: string) => say(proxy.socket, `CONNECT ${host}:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await ask(`${'a'.repeat(5_000)}.example`);
  for (let at = 0; at < 120; at++) await ask(`host-${at}.example`);
  const refused = proxy.refused();
  expect(refused).toHaveLength(101);
  expect(refused.at(-1)).toMatchObject({ host: 'other hosts', times: 21 });
  expect(refused.reduce((sum, { times }) => sum + times, 0)).toBe(121);
  expect(Math.max(...refused.map(({ host }) => host.length))).toBeLessThanOrEqual(123);
});

test('names that were looked up do not use up the answers to tunnels', async () => {
  const { socket, lookedUp } = await open({ allowed: [] });
  const closing = 'HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n\r\n';
  for (let nth = 0; nth < 501; nth += 1) lookedUp(`n${nth}.example`);
  expect(await say(socket, `CONNECT evil.example:443 ${closing}`)).toContain(
    '403 Refused by the sandbox: evil.example is refused',
  );
});
