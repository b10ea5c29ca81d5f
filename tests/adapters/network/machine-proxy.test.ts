import { describe, expect, onTestFinished, test } from 'vitest';
import { fetchByEnvironment, isDirect } from '../../../src/adapters/network/machine-proxy.ts';
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

test('a proxy is asked for a tunnel to the name, which nobody looks up, and logged in to where it takes that', async () => {
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

test.each(['socks5://127.0.0.1:1080', 'http://', 'http://a b', 'ftp://proxy'])(
  'what is no proxy for HTTP is a mistake, and no reason to go another way: %s',
  async (named) => {
    expect(await why({ HTTPS_PROXY: named })).toMatch(/^HTTPS_PROXY has to be http:\/\/HOST:PORT/);
  },
);

describe('a proxy is not for', () => {
  test.each([
    ['http://127.0.0.1:8080/', ''],
    ['http://ghes.example.test/', ''],
    ['https://localhost/', ''],
    ['https://a.localhost:8443/', ''],
    ['https://127.1.2.3/', ''],
    ['https://[::1]/', ''],
    ['https://example.test/', '*'],
    ['https://example.test/', 'other.test, example.test'],
    ['https://api.example.test/', 'example.test'],
    ['https://api.example.test/', '.example.test'],
    ['https://api.example.test/', '*.Example.test'],
    ['https://api.example.test./', 'example.test.'],
    ['https://api.example.test:8443/', 'other.test example.test:8443'],
    ['https://api.example.test/', 'example.test:443'],
    ['https://10.1.2.3/', '10.1.2.3'],
    ['https://10.1.2.3/', '10.0.0.0/8'],
    ['https://[fd00::12]/', 'fd00::/8'],
    ['https://[fd00::12]:8443/', '[fd00::12]:8443'],
    ['https://[fd00::12]/', 'fd00:0::12'],
  ])('%s with the exceptions %j', (address, exceptions) => {
    expect(isDirect(new URL(address), exceptions)).toBe(true);
  });
});

describe('a proxy is for', () => {
  test.each([
    ['https://example.test/', ''],
    ['https://example.test/', ' , '],
    ['https://notexample.test/', 'example.test'],
    ['https://example.test.evil.test/', 'example.test'],
    ['https://example.test/', 'api.example.test'],
    ['https://example.test:8443/', 'example.test:443'],
    ['https://11.1.2.3/', '10.0.0.0/8'],
    ['https://10.1.2.3/', '10.0.0.0/33'],
    ['https://10.1.2.3/', '3'],
    ['https://example.test/', '10.0.0.0/8'],
    ['https://example.test/', '.'],
    ['https://[fe00::1]/', 'fd00::/8'],
  ])('%s with the exceptions %j', (address, exceptions) => {
    expect(isDirect(new URL(address), exceptions)).toBe(false);
  });
});
