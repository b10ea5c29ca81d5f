import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fetchByEnvironment } from '../../../src/adapters/network/machine-proxy.ts';
import { listening } from '../../support/http/listening.ts';
import { startConnectProxy } from '../../support/machine/connect-proxy.ts';

async function proxy(login: string | null) {
  const started = await startConnectProxy({ servers: {}, login });
  onTestFinished(() => started.close());
  return started;
}

const why = async (env: Record<string, string>, address = 'https://model.example.test/') => {
  const ask = await fetchByEnvironment(env);
  const error: unknown = await ask(address).then(String, (failure: Error) => failure.cause ?? failure);
  return error instanceof Error ? error.message : error;
};

test('without a proxy in the environment the platform asks, whatever else is there', async () => {
  expect(await fetchByEnvironment({ HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: '' })).toBe(fetch);
});

test('requests a tunnel to the name without looking it up, and logs in if the proxy requires it', async () => {
  const open = await proxy(null);
  expect(await why({ HTTPS_PROXY: open.host })).toContain('502');
  expect(await why({ https_proxy: `http://${open.host}/`, HTTPS_PROXY: 'http://127.0.0.1:9' })).toContain(
    '502',
  );
  expect(open.asked).toEqual(['model.example.test:443', 'model.example.test:443']);

  const closed = await proxy('user:p@ss %');
  expect(await why({ HTTPS_PROXY: `http://${closed.host}` })).toContain('407');
  expect(await why({ HTTPS_PROXY: `http://user:p%40ss%20%25@${closed.host}` })).toContain('502');
});

test('plain http uses HTTP_PROXY, as a request and without a tunnel', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
    response.end('answer');
  });
  const port = await listening(server);
  const env = {
    HTTP_PROXY: `http://u:p@127.0.0.1:${port}`,
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: 'near.test',
  };
  const ask = await fetchByEnvironment(env, { plainHttp: true });
  expect(await (await ask('http://gateway.test:8080/v1')).text()).toBe('answer');
  expect(asked).toEqual([`http://gateway.test:8080/v1 Basic ${Buffer.from('u:p').toString('base64')}`]);
  await expect(ask('http://near.test/')).rejects.toThrow();
  expect(asked).toHaveLength(1);
});

test('an answer that leads elsewhere is followed through the proxy, or past it, as each address has it', async () => {
  const asked: (string | undefined)[] = [];
  const lead = (location: string) =>
    listening(createServer((_, response) => response.writeHead(302, { location }).end()));
  const near = await listening(createServer((_, response) => response.end('near')));
  const gateway = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(302, { location: `http://127.0.0.1:${near}/` }).end();
  });
  const ask = await fetchByEnvironment(
    { HTTP_PROXY: `127.0.0.1:${await listening(gateway)}` },
    { plainHttp: true },
  );
  const first = await lead('http://far.test/log');
  expect(await (await ask(`http://127.0.0.1:${first}/`)).text()).toBe('near');
  expect(asked).toEqual(['http://far.test/log']);
});

test.each(['socks5://127.0.0.1:1080', 'http://', 'http://a b', 'ftp://proxy'])(
  'a value that is not an HTTP proxy is an error, and not bypassed: %s',
  async (named) => {
    expect(await why({ HTTPS_PROXY: named })).toMatch(/^HTTPS_PROXY must be http:\/\/HOST:PORT/);
  },
);

/** The tunnels that a proxy is asked for. Whoever goes past it finds nothing: no such name, or no way to the address. */
async function tunnels(address: string, exceptions: string): Promise<readonly string[]> {
  const { host, asked, close } = await startConnectProxy({ servers: {}, login: null });
  try {
    const ask = await fetchByEnvironment({ HTTPS_PROXY: host, NO_PROXY: exceptions });
    await expect(ask(address, { signal: AbortSignal.timeout(2_000) })).rejects.toThrow();
    return asked;
  } finally {
    await close();
  }
}

describe('a proxy is not for', () => {
  test.concurrent.each([
    ['http://127.0.0.1:8080/', ''],
    ['https://[::1]/', ''],
    ['https://api.example.test./', 'example.test.'],
    ['https://[2001:db8::12]:8443/', '[2001:db8::12]:8443'],
  ])('%s with the exceptions %j', async (address, exceptions) => {
    expect(await tunnels(address, exceptions)).toEqual([]);
  });
});

describe('a proxy is for', () => {
  test.concurrent.each([
    ['https://example.test/', ''],
    ['https://example.test:8443/', 'example.test:443'],
    ['https://[2001:db9::1]/', '2001:db8::/32'],
  ])('%s with the exceptions %j', async (address, exceptions) => {
    expect(await tunnels(address, exceptions)).toHaveLength(1);
  });
});
