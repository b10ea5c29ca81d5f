import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { searchByEnvironment } from '../../../src/adapters/network/web/search.ts';

const KEY = 'BSA-key-0123456789abcdef';

/** As strict as Brave's API about what it is asked. */
async function brave(answer: (response: ServerResponse) => void, limitMs?: number) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    asked.push(url.searchParams.get('q') ?? '');
    const isRight =
      request.method === 'GET' && url.pathname === '/res/v1/web/search' && url.searchParams.has('count');
    if (request.headers['x-subscription-token'] !== KEY) response.writeHead(401).end('{}');
    else if (!isRight) response.writeHead(422).end('{}');
    else answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/res/v1/web/search`;
  const search = (query: string, key = KEY) =>
    searchByEnvironment(
      { BRAVE_API_KEY: key },
      {
        ask: async () => fetch,
        address,
        ...(limitMs === undefined ? {} : { limitMs }),
      },
    )?.search(query, {
      count: 2,
      signal: new AbortController().signal,
    });
  return { search, asked };
}

const json =
  (value: unknown, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

test('pages come with title, address and text, on a line each', async () => {
  const results = [1, 2, 3].map((n) => ({
    title: `T <strong>${n}</strong>`,
    url: `https://x.test/${n}`,
    description: 'a\n::b\u202e',
  }));
  const { search, asked } = await brave(json({ web: { results } }));
  expect(await search('how to')).toEqual({
    status: 'ok',
    found: [1, 2].map((n) => ({ title: `T ${n}`, url: `https://x.test/${n}`, text: 'a ::b' })),
  });
  expect(asked).toEqual(['how to']);
});

test('a redirect is not followed, since the key would go along', async () => {
  const { search } = await brave((response) => void response.writeHead(307, { location: '/else' }).end());
  expect(await search('x')).toMatchObject({ message: expect.stringContaining('answered 307') });
});

test('an answer without end is not read on', async () => {
  const { search } = await brave((response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(1024 * 1024)));
      response.once('drain', more);
    };
    more();
  });
  expect(await search('x')).toMatchObject({ message: expect.stringContaining('other than a list of pages') });
});

test('an index that is silent is given up', async () => {
  for (const answer of [() => {}, (response: ServerResponse) => void response.writeHead(200).write('{')])
    expect(await (await brave(answer, 100)).search('x')).toEqual({
      status: 'failed',
      reason: 'timeout',
      message: 'Brave did not answer in time.',
    });
});

test('without results there are none', async () => {
  expect(await (await brave(json({ type: 'search' }))).search('x')).toEqual({ status: 'ok', found: [] });
});

test.each([
  [json({}, 429), KEY, /429: too many searches/],
  [json({}, 500), KEY, /500: try again later/],
  [json({}), 'another-key', /401: the key in BRAVE_API_KEY is not accepted/],
  [json({ web: { results: 'x' } }), KEY, /other than a list of pages/],
])('what goes wrong is said in words', async (answer, key, message) => {
  const found = await (await brave(answer)).search('x', key);
  expect(found).toMatchObject({ status: 'failed', message: expect.stringMatching(message) });
  expect(JSON.stringify(found)).not.toContain(KEY);
});

test('a query that is too long is not sent, and without a key search is not available', async () => {
  const { search, asked } = await brave(json({}));
  expect(await search('x'.repeat(401))).toMatchObject({ reason: 'invalid_input' });
  expect(asked).toEqual([]);
  expect(searchByEnvironment({ BRAVE_API_KEY: ' ' }, { ask: async () => fetch })).toBeNull();
});
