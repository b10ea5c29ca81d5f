import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { openGitHub } from '../../../src/adapters/github/client.ts';
import { GitHubRefused } from '../../../src/adapters/github/request.ts';

interface Scripted {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Sent in place of the body. */
  readonly page?: string;
  /** The connection is cut before there is an answer. */
  readonly cut?: boolean;
  /** There is never an answer. */
  readonly silent?: boolean;
}

interface Heard {
  readonly line: string;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

/** A server that gives these answers, one after the other, and remembers what it was asked. A second of a wait lasts `secondMs`. */
async function api(answers: readonly Scripted[], secondMs = 10) {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = method === 'GET' ? null : await json(request);
    const answer = answers[heard.length] ?? { status: 500 };
    heard.push({ line: `${method} ${url}`, body, headers });
    if (answer.silent) return;
    if (answer.cut) return void request.socket.destroy();
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.page ?? JSON.stringify(answer.body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const stop = new AbortController();
  const github = openGitHub({
    apiUrl: `http://127.0.0.1:${port}/api/v3`,
    token: 'ghs_0123456789abcdef',
    version: '1.2.3',
    signal: stop.signal,
    secondMs,
  });
  return { github, heard, stop, origin: () => `http://127.0.0.1:${port}` };
}

const READ = {
  route: 'GET /repos/{owner}/{repo}/git/ref/{ref}',
  parameters: { owner: 'o', repo: 'r', ref: 'heads/a b', per_page: 1 },
  schema: z.object({ sha: z.string() }),
};
const WRITE = {
  route: 'POST /repos/{owner}/{repo}/pulls',
  parameters: { owner: 'o', repo: 'r', title: 'T' },
  schema: z.object({ number: z.int() }),
};
const LIST = {
  route: 'GET /repos/{owner}/{repo}/pulls',
  parameters: { owner: 'o', repo: 'r', state: 'open' },
  entry: z.object({ number: z.int() }),
};

describe('the client', () => {
  test('says who asks, what for, and in which version', async () => {
    const { github, heard } = await api([{ body: { sha: 'a', more: 1 } }, { body: { number: 3 } }]);
    expect(await github.ask(READ)).toEqual({ sha: 'a' });
    expect(await github.ask(WRITE)).toEqual({ number: 3 });
    expect(heard.map(({ line, body }) => [line, body])).toEqual([
      ['GET /api/v3/repos/o/r/git/ref/heads%2Fa%20b?per_page=1', null],
      ['POST /api/v3/repos/o/r/pulls', { title: 'T' }],
    ]);
    expect(heard[0]?.headers).toMatchObject({
      authorization: 'token ghs_0123456789abcdef',
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': expect.stringMatching(/^patchsmith\/1\.2\.3 /),
    });
  });

  test.each([
    ['Too many requests', '1'],
    ['Slow down', new Date(Date.now() + 1_000).toUTCString()],
  ])('waits for a 429 in the words %j as it says, also by GraphQL', async (message, retryAfter) => {
    const limited = { status: 429, headers: { 'retry-after': retryAfter }, body: { message } };
    const { github, heard } = await api([
      limited,
      { body: { number: 4 } },
      limited,
      { body: { data: { a: 1 } } },
    ]);
    expect(await github.ask(WRITE)).toEqual({ number: 4 });
    const query = { query: 'query { a }', variables: {}, schema: z.object({ a: z.int() }) };
    expect(await github.query(query)).toEqual({ a: 1 });
    expect(heard.length).toBe(4);
  });

  test.each(['secondary rate limit', 'Too many requests'])(
    'gives up on a 429 (%s) that stays, after two waits and no more',
    async (message) => {
      const limited = { status: 429, headers: { 'retry-after': '1' }, body: { message } };
      const { github, heard } = await api(Array(9).fill(limited));
      await expect(github.ask(READ)).rejects.toMatchObject({ refusal: { status: 429 } });
      expect(heard.length).toBe(3);
    },
  );

  test('refuses an answer that the API does not allow', async () => {
    const { github } = await api([{ body: { sha: 1 } }]);
    await expect(github.ask(READ)).rejects.toMatchObject({
      refusal: { status: null, message: expect.stringContaining('(sha: ') },
    });
  });

  test('follows a list to its last page, also past a page that is not full', async () => {
    const to = (page: number) => ({ link: `<${origin()}/api/v3/repos/o/r/pulls?page=${page}>; rel="next"` });
    const answers: Scripted[] = [{}, {}, { body: [{ number: 3, more: 1 }] }];
    const { github, heard, origin } = await api(answers);
    Object.assign(answers[0] ?? {}, { headers: to(2), body: [{ number: 1 }] });
    Object.assign(answers[1] ?? {}, { headers: to(3), body: [{ number: 2 }] });
    expect(await github.list(LIST)).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
    expect(heard.map(({ line }) => line)).toEqual([
      'GET /api/v3/repos/o/r/pulls?state=open&per_page=100',
      'GET /api/v3/repos/o/r/pulls?page=2',
      'GET /api/v3/repos/o/r/pulls?page=3',
    ]);
    for (const { headers } of heard) expect(headers.authorization).toBe('token ghs_0123456789abcdef');
  });

  test('refuses a list without end, of which it would know only a part', async () => {
    const answers: Scripted[] = Array.from({ length: 110 }, () => ({ body: [{ number: 1 }] }));
    const { github, heard, origin } = await api(answers);
    const headers = { link: `<${origin()}/api/v3/repos/o/r/pulls?page=2>; rel="next"` };
    for (const answer of answers) Object.assign(answer, { headers });
    await expect(github.list(LIST)).rejects.toMatchObject({
      refusal: { message: 'the list has more than 10,000 entries' },
    });
    expect(heard.length).toBe(100);
  });

  test('takes the token to no other server than the API, whatever an answer names as its next page', async () => {
    const elsewhere = await api([{ body: [{ number: 2 }] }]);
    const link = `<${elsewhere.origin()}/repos/o/r/pulls?page=2>; rel="next"`;
    const { github } = await api([{ headers: { link }, body: [{ number: 1 }] }]);
    const message = `the answer continues at ${elsewhere.origin()}, which is not the API`;
    await expect(github.list(LIST)).rejects.toMatchObject({
      refusal: { route: LIST.route, status: null, message, permission: null, requestId: null },
    });
    expect(elsewhere.heard).toEqual([]);
  });

  test('asks by GraphQL where enterprise servers have it, again after an outage, and tells what is refused there', async () => {
    const asked = {
      query: 'query { viewer { login } }',
      variables: {},
      schema: z.object({ viewer: z.object({ login: z.string() }) }),
    };
    const forbidden = { data: null, errors: [{ type: 'FORBIDDEN', message: 'Not accessible' }] };
    const { github, heard } = await api([
      { body: { data: { viewer: { login: 'ann' } } } },
      { body: forbidden },
      { cut: true },
      { body: { data: { viewer: { login: 'ann' } } } },
    ]);
    expect(await github.query(asked)).toEqual({ viewer: { login: 'ann' } });
    await expect(github.query(asked)).rejects.toMatchObject({
      refusal: { status: 403, message: 'Not accessible' },
    });
    expect(await github.query(asked)).toEqual({ viewer: { login: 'ann' } });
    expect(heard.map(({ line }) => line)).toEqual(Array(4).fill('POST /api/graphql'));
    expect(heard[0]?.body).toEqual({ query: asked.query, variables: {} });
  });

  const primary = (seconds: number) => ({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.floor(Date.now() / 1_000) + seconds),
  });
  const secondary = { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' };
  const broken = { message: 'Something went wrong while executing your query on 2026-11-27.' };

  test.each<[string, Scripted]>([
    ['a spent limit', { status: 403, headers: primary(1), body: { message: 'API rate limit exceeded' } }],
    [
      'a spent limit with status 200',
      {
        headers: primary(1),
        body: { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] },
      },
    ],
    ['a secondary limit of no said length', { status: 403, body: secondary }],
    ['a secondary limit with status 200', { body: { errors: [secondary] } }],
    ['a query that failed on the server', { body: { data: null, errors: [broken] } }],
  ])('asks by GraphQL again after %s, and gives up on one that stays', async (_, answer) => {
    const { github, heard } = await api([answer, { body: { data: { a: 1 } } }, ...Array(9).fill(answer)]);
    const query = { query: 'query { a }', variables: {}, schema: z.object({ a: z.int() }) };
    expect(await github.query(query)).toEqual({ a: 1 });
    expect(heard.length).toBe(2);
    await expect(github.query(query)).rejects.toThrow(GitHubRefused);
    expect(heard.length).toBeLessThanOrEqual(6);
  });

  test('names the page of a gateway, and does not quote its HTML', async () => {
    const page =
      '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center>nginx</center></body></html>';
    const { github } = await api([{ status: 502, headers: { 'content-type': 'text/html' }, page }]);
    await expect(github.ask(WRITE)).rejects.toMatchObject({
      refusal: { status: 502, message: 'an HTML page titled "502 Bad Gateway"' },
    });
  });

  test('stops waiting at once when it is interrupted', async () => {
    const { github, stop } = await api([{ silent: true }]);
    const answer = github.ask(READ);
    stop.abort({ cause: 'deadline' });
    await expect(answer).rejects.toMatchObject({ refusal: { status: null, message: 'it was interrupted' } });
    await expect(github.ask(READ)).rejects.toMatchObject({ refusal: { message: 'it was interrupted' } });
  });
});
