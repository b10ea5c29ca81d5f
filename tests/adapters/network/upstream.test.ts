import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { upstreamByEnvironment } from '../../../src/adapters/network/machine-proxy.ts';
import { startConnectProxy } from '../../support/machine/connect-proxy.ts';
import { served } from './served.ts';

const LOGIN = `Basic ${Buffer.from('user:word').toString('base64')}`;
const NOWHERE = () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));

async function open(env: Record<string, string>, resolve: (host: string) => Promise<string[]> = NOWHERE) {
  const proxy = await served({
    allowed: ['*.example.test', 'git.example.test:22'],
    upstream: upstreamByEnvironment(env),
    resolve,
  });
  return proxy;
}

/** A web server, and a proxy with a login in front of it. */
async function machine(login: string | null = 'user:p@ss') {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    response.writeHead(request.url?.endsWith('/moved') ? 302 : 200, {
      location: 'http://169.254.169.254/latest',
    });
    response.end(`${request.headers.host} ${request.url} ${request.headers['proxy-authorization'] ?? '-'}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = await startConnectProxy({ servers: { 'registry.example.test': url }, login });
  return { url, proxy, asked };
}

async function ask(socketPath: string, text: string): Promise<{ socket: Socket; line: string }> {
  const socket = connect(socketPath);
  socket.write(text);
  const [bytes] = await once(socket, 'data');
  return { socket, line: String(bytes).split('\r\n')[0] ?? '' };
}

const tunnelTo = (socketPath: string, authority: string) =>
  ask(socketPath, `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n`);

describe('where the machine has a proxy', () => {
  test('its answer to a tunnel is reported, without its login', async () => {
    const { proxy } = await machine();
    const wrong = await open({ https_proxy: `http://user:wrong-word@${proxy.host}` });
    const { line } = await tunnelTo(wrong.socket, 'registry.example.test:443');
    expect(line).toBe(
      `HTTP/1.1 502 Refused by the sandbox: registry.example.test:443 cannot be reached (the proxy of this machine (${proxy.host}) answered 407 Proxy Authentication Required)`,
    );
    const none = await open({ HTTPS_PROXY: 'http://127.0.0.1:9' });
    expect((await tunnelTo(none.socket, 'registry.example.test:443')).line).toContain('(ECONNREFUSED)');
    const unfit = await open({ HTTPS_PROXY: 'socks5://user:word@127.0.0.1:9' });
    expect((await tunnelTo(unfit.socket, 'registry.example.test:443')).line).toMatch(
      /502 Refused by the sandbox: registry\.example\.test cannot be reached: HTTPS_PROXY must be http:\/\/HOST:PORT/,
    );
  });

  test('plain requests go to HTTP_PROXY, and redirects are not followed', async () => {
    const { url, asked } = await machine();
    const { socket, refused } = await open({ HTTP_PROXY: url.replace('//', '//user:word@') });
    const get = (path: string) =>
      ask(
        socket,
        `GET http://registry.example.test${path} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic b3du\r\n\r\n`,
      );
    const { socket: answer, line } = await get('/moved');
    expect(line).toBe('HTTP/1.1 302 Found');
    answer.destroy();
    const { socket: second } = await get('/b');
    second.destroy();
    expect(asked).toEqual(['/moved', '/b'].map((path) => `http://registry.example.test${path} ${LOGIN}`));
    expect((await ask(socket, 'GET http://169.254.169.254/latest HTTP/1.1\r\nHost: x\r\n\r\n')).line).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(refused()).toHaveLength(1);
  });

  test.each([
    ['registry.example.test', 'example.test .example.test *.Example.test * registry.example.test:443'],
    ['a.localhost', 'none.test'],
    ['127.1.2.3', 'none.test'],
    ['192.0.2.3', '192.0.2.3 192.0.2.0/24'],
    ['2001:db8::12', '2001:db8::/32 2001:db8:0::12'],
  ])('%s is reached directly with each of the exceptions %s', (host, exceptions) => {
    for (const one of exceptions.split(' ')) {
      const upstream = upstreamByEnvironment({ HTTPS_PROXY: '127.0.0.1:9', NO_PROXY: `a, ${one}` });
      expect([one, upstream.routeTo({ host, port: 443 }, false)]).toEqual([one, null]);
      expect(upstream.routeTo({ host, port: 80 }, true)).toBeNull();
    }
  });

  test.each([
    ['registry.example.test', 'registry.example.test:8443 ample.test 10.0.0.0/8 x.registry.example.test . '],
    ['example.test.evil.test', 'example.test'],
    ['192.0.2.3', '192.0.2.0/33 198.51.100.0/24'],
    ['2001:db9::1', '2001:db8::/32'],
  ])('%s is reached through the proxy with each of the exceptions %s', (host, exceptions) => {
    for (const one of exceptions.split(' ')) {
      const upstream = upstreamByEnvironment({ HTTPS_PROXY: '127.0.0.1:9', NO_PROXY: one });
      expect([one, String(upstream.routeTo({ host, port: 443 }, false))]).toEqual([
        one,
        'http://127.0.0.1:9/',
      ]);
    }
  });
});
